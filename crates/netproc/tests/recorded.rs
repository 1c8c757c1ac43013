//! The numbers of the same models as they were written in Rust, before nets replaced them: means and standard deviations of 20
//! runs of 2000 packets, seeds 1 to 20 (`recorded.csv`). Runs of the processors from other seeds have the same means; those of the
//! forwarder need the same seeds, since rare stalls make its means those of few runs.

use inorder_netproc::calibration::Calibration;
use inorder_netproc::forwarder::{ForwarderConfig, Order, Spray, run_forwarder};
use inorder_netproc::{Arbitration, Config, Dequeue, Length, Row, Traffic, run};
use inorder_sort::SorterConfig;

const PACKETS: u64 = 2_000;
/// Runs behind a recorded mean, and runs here.
const RECORDED: f64 = 20.0;
const PROCESSORS: std::ops::Range<u64> = 101..104;
const FORWARDERS: std::ops::Range<u64> = 1..4;
/// Standard errors: among some hundred numbers none is further away by chance.
const APART: f64 = 5.0;

/// A line of the table.
struct Line<'t> {
    case: &'t str,
    group: &'t str,
    hop: u32,
    name: &'t str,
    mean: f64,
    deviation: f64,
}

fn table() -> Vec<Line<'static>> {
    let lines = include_str!("recorded.csv").lines().skip(1);
    let line = |text: &'static str| match *text.split(';').collect::<Vec<_>>() {
        [case, group, hop, name, mean, deviation] => Line {
            case,
            group,
            hop: hop.parse().expect("a hop"),
            name,
            mean: mean.parse().expect("a mean"),
            deviation: deviation.parse().expect("a deviation"),
        },
        _ => panic!("{text}"),
    };
    lines.map(line).collect()
}

fn processor(case: &str) -> Option<Config> {
    let (scheme, what) = case.split_once(' ')?;
    let mut config = Config {
        scheme: scheme.to_owned(),
        packets: PACKETS,
        ..Config::default()
    };
    let length = |bytes, share| Length { bytes, share };
    match what {
        "64" => {}
        "mix" => {
            config.traffic.lengths = vec![length(64, 7.0), length(512, 4.0), length(1500, 1.0)];
        }
        "fifo 3x5" => {
            config.arbitration = Arbitration::Fifo;
            (config.engines, config.threads) = (3, 5);
        }
        "random" => config.arbitration = Arbitration::Random,
        "completion" => config.dequeue = Some(Dequeue::Completion),
        "strict" => config.dequeue = Some(Dequeue::Strict),
        "endless" => {
            config.traffic = Traffic {
                flows: 5,
                flow_packets: None,
                train: 4.0,
                ..Traffic::default()
            };
        }
        "slow" => {
            let text =
                "[sram]\nvalue = 200.5\n[lookups]\nvalue = 4\n[dram_transfer]\nvalue = 60.25\n";
            config.calibration = Calibration::parse(text).expect("constants");
        }
        _ => config.hops = what.strip_prefix("hops ")?.parse().ok()?,
    }
    Some(config)
}

fn forwarder(case: &str) -> Option<ForwarderConfig> {
    let base = ForwarderConfig {
        packets: PACKETS,
        ..ForwarderConfig::default()
    };
    Some(match case.strip_prefix("fw ")? {
        "none" => base,
        "random 7" => ForwarderConfig {
            spray: Spray::Random,
            offered_mpps: 7.0,
            flows: 3,
            ..base
        },
        "buffer small" => ForwarderConfig {
            order: Order::ReorderBuffer {
                window: 20,
                timeout_ns: 3000,
                work_ns: 60,
            },
            stall: 0.01,
            ..base
        },
        "overload" => ForwarderConfig {
            offered_mpps: 20.0,
            line_gbps: 400.0,
            ..base
        },
        sorter => {
            let sorter: SorterConfig = sorter.parse().ok()?;
            ForwarderConfig {
                order: Order::Receiver(sorter),
                flows: 2,
                offered_mpps: 8.0,
                ..base
            }
        }
    })
}

fn rows(case: &str, seed: u64) -> Vec<Row> {
    if let Some(config) = forwarder(case) {
        let config = ForwarderConfig { seed, ..config };
        return run_forwarder(&config, |_| true).expect("runs").rows();
    }
    let config = processor(case).unwrap_or_else(|| panic!("{case}"));
    run(&Config { seed, ..config }).expect("runs").rows()
}

#[test]
fn the_nets_have_the_numbers_of_the_models_in_rust() {
    for lines in table().chunk_by(|a, b| a.case == b.case) {
        let case = lines[0].case;
        let seeds = match forwarder(case) {
            Some(_) => FORWARDERS,
            None => PROCESSORS,
        };
        let runs: Vec<Vec<Row>> = seeds.map(|seed| rows(case, seed)).collect();
        for line in lines {
            let value = |rows: &Vec<Row>| {
                let row = rows.iter().find(|row| {
                    (row.group, row.hop, row.name.as_str()) == (line.group, line.hop, line.name)
                });
                row.unwrap_or_else(|| panic!("{case}: {}", line.name)).value
            };
            let mean = runs.iter().map(value).sum::<f64>() / runs.len() as f64;
            let error = line.deviation * (1.0 / RECORDED + 1.0 / runs.len() as f64).sqrt();
            let most = APART * error + 1e-5 * line.mean.abs();
            assert!(
                (mean - line.mean).abs() <= most,
                "{case}: {}, {}: {mean} instead of {}, at most {most} apart",
                line.group,
                line.name,
                line.mean
            );
        }
    }
}
