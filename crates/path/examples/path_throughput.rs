//! Measures how many packets per second pass a path: `cargo run --release --example path_throughput [PACKETS]`.
//!
//! Prints packets per second on this machine. For a number that does not depend on the load of the machine, count
//! instructions: run under `valgrind --tool=callgrind` with the name of one scenario, twice with different numbers of
//! packets, and divide the difference:
//! `path_throughput 1000000 link+netem`.

use std::hint::black_box;
use std::process::ExitCode;

use inorder_base::random::Random;
use inorder_path::*;

type Build = fn() -> Vec<AnyStage<Probe>>;

/// Scenarios whose name begins with "path:" have no event queue: they measure the cost that the path adds to a
/// simulator.
const SCENARIOS: [(&str, Build); 8] = [
    ("path:link", || vec![link()]),
    ("path:link+netem", || vec![link(), netem()]),
    ("path:loss+link+netem", || vec![loss(), link(), netem()]),
    ("link+netem", || vec![link(), netem()]),
    ("link+netem+loss", || vec![link(), netem(), loss()]),
    ("netem+link", || vec![netem(), link()]),
    ("link+netem+nic", || vec![link(), netem(), nic(None)]),
    ("link+netem+nic+srpic", || {
        vec![link(), netem(), nic(Some(32))]
    }),
];

fn link() -> AnyStage<Probe> {
    Link::new(&LinkConfig {
        queue: Limit::Packets(1000),
        ..LinkConfig::new(1_000_000_000)
    })
    .into()
}

fn netem() -> AnyStage<Probe> {
    let delay = DelayConfig {
        limit_packets: Some(20_000),
        ..DelayConfig::normal(2_500_000, 50_000)
    };
    Netem::new(&NetemConfig::delay(delay), &Random::new(1, "netem")).into()
}

fn loss() -> AnyStage<Probe> {
    let loss = LossConfig::Uniform {
        probability: Probability::percent(0.1),
        correlation: Probability::NEVER,
    };
    Loss::new(&loss, Random::new(1, "loss")).into()
}

fn nic(block_size: Option<usize>) -> AnyStage<Probe> {
    let config = match block_size {
        None => NicConfig::default(),
        Some(block_size) => NicConfig::default().with_srpic(block_size),
    };
    let nic = Nic::new(&config).expect("a card of the default sizes");
    nic.into()
}

/// Packets of 1500 bytes at the rate of the link, delivered as soon as their time of delivery is known.
fn run_path(stages: Vec<AnyStage<Probe>>, packets: u64) -> u64 {
    let mut path = Path::new(stages);
    let mut arrived = 0;
    for number in 0..packets {
        let driver = &mut |time_ns: i64, place: Place, packet: Probe| {
            black_box((time_ns, packet));
            arrived += u64::from(place.is_end());
        };
        path.push(number as i64 * 12_304, Probe::new(number, 1500), driver);
    }
    arrived
}

/// The same with an event queue; returns how many arrived.
fn run(stages: Vec<AnyStage<Probe>>, packets: u64) -> u64 {
    let mut line = Timeline::new(Path::new(stages));
    let mut arrived = 0;
    for number in 0..packets {
        let now = number as i64 * 12_304;
        while let Some(packet) = line.pop(now) {
            black_box(packet);
            arrived += 1;
        }
        line.push(now, Probe::new(number, 1500));
    }
    arrived + std::iter::from_fn(|| line.pop(i64::MAX)).count() as u64
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let packets = arguments.next().map_or(Ok(2_000_000), |n| n.parse());
    let Ok(packets) = packets else {
        eprintln!("usage: path_throughput [PACKETS [SCENARIO]]");
        return ExitCode::FAILURE;
    };
    let wanted = arguments.next();
    for (name, build) in SCENARIOS {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
        let start = std::time::Instant::now();
        let arrived = match name.starts_with("path:") {
            true => run_path(build(), packets),
            false => run(build(), packets),
        };
        let seconds = start.elapsed().as_secs_f64();
        let (ns, rate) = (
            seconds * 1e9 / packets as f64,
            packets as f64 / seconds / 1e6,
        );
        println!("{name:22} {rate:6.1} M packets/s  {ns:6.1} ns each  {arrived} arrived");
    }
    ExitCode::SUCCESS
}
