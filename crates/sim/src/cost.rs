//! Estimates the cost of runs before they begin: an approximate upper bound from rates, durations and sizes.
//!
//! The estimate assumes that every path is full as soon as a flow opens. A flow with many losses sends less, so a
//! campaign may take less time than estimated. The cost per packet is correct within a factor of two.

use inorder_scenario::Cell;
use inorder_scenario::config::{
    Application, Config, Direction, Flow, Line, PathUse, Probe, Stage, StageKind,
};

use crate::build;
use crate::own::Own;

/// Processor time for a TCP segment, its path, and its share of an acknowledgement, nanoseconds. Measured with the
/// scenarios in `experiments/examples` on a server processor (AMD EPYC): 490 on a plain link, 880 with jitter and a
/// card that sorts, 1,550 with an additional interactive flow.
const SEGMENT_NS: f64 = 800.0;
/// The same for a probe: 310 was measured.
const PROBE_NS: f64 = 300.0;
/// Bytes of IP and TCP headers with timestamps.
const HEADERS: f64 = 52.0;
/// Minimum assumed round-trip time, nanoseconds: if nothing else limits a flow, it sends its window once per round
/// trip.
const MIN_RTT_NS: f64 = 10_000.0;

/// Upper bound of the cost of a campaign.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Number of runs.
    pub runs: u64,
    /// Segments and probes of all runs together.
    pub packets: f64,
    /// Seconds of processor time.
    pub processor_s: f64,
}

/// The cost of all cells, each run `repetitions` times; 0 for the number in the scenario.
pub fn cost(cells: &[Cell], repetitions: u64) -> Cost {
    let mut all = Cost {
        runs: 0,
        packets: 0.0,
        processor_s: 0.0,
    };
    for cell in cells {
        let runs = match repetitions {
            0 => cell.config.run.repetitions,
            given => given,
        };
        let (segments, probes) = packets(&cell.config);
        all.runs = all.runs.saturating_add(runs);
        all.packets += (segments + probes) * runs as f64;
        all.processor_s += (segments * SEGMENT_NS + probes * PROBE_NS) * 1e-9 * runs as f64;
    }
    all
}

/// Segments and probes of one run.
fn packets(config: &Config) -> (f64, f64) {
    let (forward, reverse) = (Way::of(&config.forward), Way::of(&config.reverse));
    let rtt_ns = (forward.delay_ns + reverse.delay_ns).max(MIN_RTT_NS);
    let run_s = seconds(config.run.duration_ns);
    let mut segments = 0.0;
    for (direction, way) in [(Direction::Forward, forward), (Direction::Reverse, reverse)] {
        let here = || {
            config
                .flows
                .iter()
                .filter(|flow| flow.direction == direction)
        };
        let capacity = way.bits_per_s.unwrap_or(f64::INFINITY);
        let all = |path, most: f64| -> f64 {
            let flows = here().filter(|flow| flow.path == path && flow.route.is_none());
            flows.map(|flow| demand(flow, rtt_ns, most, run_s)).sum()
        };
        let shared = all(PathUse::Shared, capacity).min(capacity * run_s);
        let routed =
            here().filter_map(|flow| routed_bits(config, flow, reverse_of(direction), run_s));
        let bits = shared + all(PathUse::Own, f64::INFINITY) + routed.sum::<f64>();
        segments += bits / packet_bits(config.flows.first());
    }
    let probes = config.probes.iter().map(|probe| probes(probe, run_s));
    (segments, probes.sum())
}

/// Bits that the connections of `flow` would send over a route of their own without other traffic. `back` is the path
/// of their acknowledgements if these have no route. `None` for a flow without a route.
fn routed_bits(config: &Config, flow: &Flow, back: &str, run_s: f64) -> Option<f64> {
    let way = Way::over(config, flow.route.as_deref()?);
    let back = [back.to_owned()];
    let back = Way::over(config, flow.return_route.as_deref().unwrap_or(&back));
    let rtt_ns = (way.delay_ns + back.delay_ns).max(MIN_RTT_NS);
    let most = way.bits_per_s.unwrap_or(f64::INFINITY);
    Some(demand(flow, rtt_ns, most, run_s).min(most * run_s))
}

/// The path of packets in the other direction.
fn reverse_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "reverse",
        Direction::Reverse => "forward",
    }
}

/// Bits of a full packet of the first flow.
fn packet_bits(flow: Option<&Flow>) -> f64 {
    let mss = flow.and_then(|flow| flow.sender.mss).unwrap_or(1460);
    (f64::from(mss) + HEADERS) * 8.0
}

/// Bits that the connections of `flow` would send, each alone on a path that carries at most `most` bit/s.
fn demand(flow: &Flow, rtt_ns: f64, most: f64, run_s: f64) -> f64 {
    let until_s = flow.stop_ns.map_or(run_s, seconds).min(run_s);
    let active_s = (until_s - seconds(flow.start_ns)).max(0.0);
    let rtt_s = (rtt_ns + 2.0 * flow.access_delay_ns as f64) * 1e-9;
    let rate = match &flow.application {
        Application::Bulk => window_bits(flow) / rtt_s,
        Application::Paced(paced) => paced.bits_per_s as f64,
        Application::Interactive(talk) => {
            let bytes = talk.request_bytes + talk.response_bytes;
            bytes as f64 * 8.0 / (rtt_s + seconds(talk.think_ns))
        }
    };
    let each = rate.min(most) * active_s;
    let mean = flow
        .size_file
        .as_ref()
        .map(inorder_scenario::Cumulative::mean);
    let size = mean
        .or(flow.size_bytes.map(|size| size as f64))
        .map_or(f64::INFINITY, |bytes| bytes * 8.0);
    each.min(size) * f64::from(flow.count)
}

/// The largest window that both ends allow, bits.
fn window_bits(flow: &Flow) -> f64 {
    let config = |given| {
        build::endpoint(given, &Own::default())
            .ok()
            .map(|recipe| recipe.config().clone())
    };
    let (Some(sender), Some(receiver)) = (config(&flow.sender), config(&flow.receiver)) else {
        return f64::INFINITY;
    };
    let clamp = f64::from(sender.cwnd.clamp) * f64::from(sender.mss);
    let buffers = sender.send.buffer.min(receiver.receive.buffer) as f64;
    buffers.min(clamp) * 8.0
}

fn probes(probe: &Probe, run_s: f64) -> f64 {
    let active_s = (run_s - seconds(probe.start_ns)).max(0.0);
    let sent = active_s * probe.bits_per_s as f64 / (f64::from(probe.packet_bytes) * 8.0);
    probe.count.map_or(sent, |count| sent.min(count as f64))
}

/// The limits of a path.
struct Way {
    /// Rate of its slowest stage; `None` if there is no limit.
    bits_per_s: Option<f64>,
    /// Delay of all stages, without queues.
    delay_ns: f64,
}

impl Way {
    /// The limits of a route over the lines with these names.
    fn over(config: &Config, names: &[String]) -> Self {
        let stages = |name: &String| match name.as_str() {
            "forward" => &config.forward[..],
            "reverse" => &config.reverse[..],
            name => {
                let line = config.lines.iter().find(|line| line.name == name);
                line.map_or(&[][..], |line| &line.stages[..])
            }
        };
        Self::of_all(names.iter().flat_map(stages))
    }

    fn of(stages: &[Stage]) -> Self {
        Self::of_all(stages.iter())
    }

    fn of_all<'a>(stages: impl Iterator<Item = &'a Stage>) -> Self {
        let unlimited = Way {
            bits_per_s: None,
            delay_ns: 0.0,
        };
        stages.fold(unlimited, |way, stage| {
            let (rate, delay_ns) = limits(&stage.kind);
            let rates = way.bits_per_s.into_iter().chain(rate);
            Way {
                bits_per_s: rates.reduce(f64::min),
                delay_ns: way.delay_ns + delay_ns as f64,
            }
        })
    }
}

/// Rate and delay of a stage. Stages that do not limit or delay all packets are ignored: this is an estimate.
fn limits(kind: &StageKind) -> (Option<f64>, i64) {
    match kind {
        StageKind::Link(link) => (Some(rate(&link.line)), link.line.delay_ns),
        StageKind::Device(device) => (Some(rate(&device.line)), device.line.delay_ns),
        StageKind::Periodic(periodic) => (Some(rate(&periodic.link)), periodic.link.delay_ns),
        StageKind::SharedLink(shared) => (Some(rate(&shared.link)), shared.link.delay_ns),
        StageKind::Spray(spray) => {
            let rates = spray.lanes.iter().map(|lane| rate(&lane.link));
            let delays = spray.lanes.iter().map(|lane| lane.link.delay_ns);
            (Some(rates.sum()), delays.min().unwrap_or(0))
        }
        StageKind::TokenBucket(bucket) => (Some(bucket.bits_per_s as f64), 0),
        StageKind::Netem(netem) => (
            netem
                .bits_per_s
                .filter(|rate| *rate > 0)
                .map(|rate| rate as f64),
            netem.delay_ns,
        ),
        StageKind::Delay(delay) => (None, delay.delay_ns),
        _ => (None, 0),
    }
}

/// The largest rate of a link at any time.
fn rate(link: &Line) -> f64 {
    let changed = link.changes.iter().map(|change| change.bits_per_s);
    let recorded = link
        .trace
        .as_ref()
        .map(inorder_scenario::Trace::mean_bits_per_s);
    changed.fold(recorded.unwrap_or(link.bits_per_s), u64::max) as f64
}

fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_scenario::Scenario;

    fn of(text: &str) -> Cost {
        let scenario = Scenario::load(text, "cost.toml", &crate::registries()).unwrap();
        cost(&scenario.cells().unwrap(), 0)
    }

    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{found}, expected {expected}"
        );
    }

    const LINE: &str = "[[forward]]\nkind = \"link\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n";

    #[test]
    fn a_full_link_costs_its_rate_times_the_time() {
        let packets = 1e9 * 10.0 / (1512.0 * 8.0);
        let found = of(&format!("[[flow]]\n{LINE}"));
        near(found.packets, packets);
        near(found.processor_s, packets * SEGMENT_NS * 1e-9);
        let grid = "[run]\nrepetitions = 3\n[grid]\n\"flow.count\" = [1, 5]\n";
        let found = of(&format!("{grid}[[flow]]\n{LINE}"));
        // Five flows share the same link.
        near(found.packets, 6.0 * packets);
        assert_eq!(found.runs, 6);
    }

    #[test]
    fn sizes_windows_applications_and_stops_limit_a_flow() {
        for (flow, bits) in [
            ("size = \"151200 B\"", 151_200.0 * 8.0),
            ("stop = \"5 s\"\nstart = \"4 s\"", 1e9),
            (
                "sender.receive_buffer = \"64 kB\"",
                64_000.0 * 8.0 / 0.01 * 10.0,
            ),
            (
                "application = { kind = \"paced\", rate = \"2 Mbit/s\" }",
                2e7,
            ),
            (
                "application = { kind = \"interactive\", think = \"90 ms\", request = \"500 B\", response = \"1 kB\" }",
                1500.0 * 8.0 * 10.0 * 10.0,
            ),
        ] {
            near(
                of(&format!("[[flow]]\n{flow}\n{LINE}")).packets,
                bits / (1512.0 * 8.0),
            );
        }
    }

    #[test]
    fn the_slowest_stage_limits_a_path_and_lanes_add_up() {
        let slow = "[[forward]]\nkind = \"token-bucket\"\nrate = \"8 Mbit/s\"\nburst = \"10 kB\"\n";
        near(
            of(&format!("[[flow]]\n{LINE}{slow}")).packets,
            8e7 / (1512.0 * 8.0),
        );
        let spray = "[[forward]]\nkind = \"spray\"\nlane = [{ rate = \"2 Mbit/s\" }, { rate = \"3 Mbit/s\" }]\n";
        near(
            of(&format!("[[flow]]\n{LINE}{spray}")).packets,
            5e7 / (1512.0 * 8.0),
        );
    }

    #[test]
    fn probes_have_their_own_cost() {
        let found =
            of("[[probe]]\nrate = \"12 Mbit/s\"\nsize = \"1500 B\"\n[run]\nduration = \"100 s\"\n");
        near(found.packets, 1e5);
        near(found.processor_s, 1e5 * PROBE_NS * 1e-9);
        near(
            of("[[probe]]\nrate = \"1 Gbit/s\"\ncount = 7\n").packets,
            7.0,
        );
    }

    /// A run of extremely long duration must be reported as long.
    #[test]
    fn a_run_of_a_hundred_million_seconds_is_long() {
        let found = of(&format!(
            "[run]\nduration = \"100000000 s\"\n[[flow]]\n{LINE}"
        ));
        assert!(found.processor_s > 1e6, "{found:?}");
    }
}
