//! What is compared between cells: one number a run.

use crate::result::{FlowResult, ProbeResult, RunResult};

/// A number made of a run's results.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Name in files.
    pub name: &'static str,
    /// Heading in tables.
    pub heading: &'static str,
    /// Unit; empty for numbers of things.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its value; `None` where there is none.
    pub of: Source,
}

/// What a measure is made of.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Some flows, of a run or of a `[[flow]]`.
    Flows(fn(&[&FlowResult]) -> Option<f64>),
    /// A stream of probes.
    Probe(fn(&ProbeResult) -> Option<f64>),
    /// The run as a whole.
    Run(fn(&RunResult) -> Option<f64>),
}

use Source::{Flows, Probe, Run};

const fn measure(
    name: &'static str,
    heading: &'static str,
    unit: &'static str,
    of: Source,
    about: &'static str,
) -> Measure {
    Measure {
        name,
        heading,
        unit,
        about,
        of,
    }
}

/// All measures.
pub static MEASURES: &[Measure] = &[
    measure(
        "throughput",
        "throughput",
        "Mbit/s",
        Flows(throughput),
        "Payload delivered in order, of all flows together.",
    ),
    measure(
        "fairness",
        "fairness",
        "",
        Flows(fairness),
        "Jain's index over the flows' throughputs; 1 is equal.",
    ),
    measure(
        "segments",
        "segments",
        "",
        Flows(|f| sum(f, |r| r.counts.segments)),
        "Segments sent by the senders.",
    ),
    measure(
        "retransmissions",
        "retrans",
        "",
        Flows(|f| sum(f, |r| r.counts.retransmissions)),
        "Segments sent again (PktsRetrans).",
    ),
    measure(
        "spurious",
        "spurious",
        "",
        Flows(|f| sum(f, |r| r.counts.spurious)),
        "Of those, needless: earlier transmissions of all their bytes arrived.",
    ),
    measure(
        "duplicate_acks",
        "dupACKs",
        "",
        Flows(|f| sum(f, |r| r.counts.duplicate_acks)),
        "Duplicate acknowledgements (DupAcksIn).",
    ),
    measure(
        "sack_blocks",
        "SACK blocks",
        "",
        Flows(|f| sum(f, |r| r.counts.sack_blocks)),
        "SACK blocks that came in (SackBlocksRcvd).",
    ),
    measure(
        "recoveries",
        "recoveries",
        "",
        Flows(|f| sum(f, |r| r.counts.recoveries)),
        "Fast recoveries.",
    ),
    measure(
        "undone",
        "undone",
        "",
        Flows(|f| sum(f, |r| r.counts.undone)),
        "Fast recoveries the sender took back.",
    ),
    measure(
        "timeouts",
        "timeouts",
        "",
        Flows(|f| sum(f, |r| r.counts.timeouts)),
        "Expiries of retransmission timers.",
    ),
    measure(
        "reordered_at_card",
        "reordered",
        "%",
        Flows(|f| percent(f, |r| (r.counts.reordered_at_card, r.counts.at_card))),
        "Share of the originals that are late before the receiver's card (RFC 4737).",
    ),
    measure(
        "reordered_at_stack",
        "after card",
        "%",
        Flows(|f| percent(f, |r| (r.counts.reordered_at_stack, r.counts.at_stack))),
        "The same as TCP sees them.",
    ),
    measure(
        "delay",
        "delay",
        "ms",
        Flows(|f| mean_ms(f, |r| (r.counts.delay_ns, r.counts.at_stack))),
        "Mean one-way delay of originals, to TCP.",
    ),
    measure(
        "rtt",
        "RTT",
        "ms",
        Flows(|f| mean_ms(f, |r| (r.counts.rtt_ns, r.counts.rtts))),
        "Mean of the round-trip times measured by the senders.",
    ),
    measure(
        "response",
        "response",
        "ms",
        Flows(|f| mean_ms(f, |r| (r.counts.response_ns, r.counts.responses))),
        "Mean time from request to response of interactive flows.",
    ),
    measure(
        "completion",
        "completion",
        "ms",
        Flows(completion),
        "Mean time from opening to the arrival of all data, of flows that completed.",
    ),
    measure(
        "broken",
        "broken",
        "",
        Flows(|f| sum(f, |r| u64::from(r.error.is_some()))),
        "Connections that ended with an error.",
    ),
    measure(
        "dropped",
        "dropped",
        "",
        Run(|run| Some(drops(run))),
        "Packets dropped by the paths and cards, probes included.",
    ),
    measure(
        "probes_received",
        "probes",
        "",
        Probe(|p| Some(p.received as f64)),
        "Probes that arrived.",
    ),
    measure(
        "probes_reordered",
        "probes reordered",
        "%",
        Probe(|p| summary(p).map(|s| s.counts.reordered_ratio() * 100.0)),
        "Share of the probes that are late (RFC 4737).",
    ),
    measure(
        "mean_displacement",
        "mean displacement",
        "packets",
        Probe(|p| summary(p).map(|s| s.displacements.mean_displacement())),
        "Mean displacement of the probes' reorder density (RFC 5236).",
    ),
    measure(
        "entropy",
        "entropy",
        "",
        Probe(|p| summary(p).map(|s| s.displacements.entropy())),
        "Reorder entropy of the probes.",
    ),
    measure(
        "probe_delay",
        "probe delay",
        "ms",
        Probe(|p| ratio(p.delay_ns.cast_unsigned(), p.received).map(|ns| ns / 1e6)),
        "Mean one-way delay of the probes.",
    ),
];

/// The measure called `name`.
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

impl Measure {
    /// Its value of all flows, of the first stream of probes, or of the run.
    pub fn of_run(&self, run: &RunResult) -> Option<f64> {
        self.of_group(run, None)
    }

    /// Of the flows of one `[[flow]]` alone.
    pub fn of_group(&self, run: &RunResult, group: Option<usize>) -> Option<f64> {
        match self.of {
            Run(of) => of(run),
            Probe(of) => of(run.probes.first()?),
            Flows(of) => {
                let wanted = |flow: &&FlowResult| group.is_none_or(|group| flow.group == group);
                let flows: Vec<&FlowResult> = run.flows.iter().filter(wanted).collect();
                if flows.is_empty() { None } else { of(&flows) }
            }
        }
    }
}

impl FlowResult {
    /// Payload delivered in order, bit/s.
    pub fn throughput_bits_per_s(&self) -> f64 {
        // Bytes to bits, and seconds to nanoseconds.
        self.counts.delivered_bytes as f64 * 8e9 / self.measured_ns.max(1) as f64
    }
}

fn throughput(flows: &[&FlowResult]) -> Option<f64> {
    let rates = flows.iter().map(|flow| flow.throughput_bits_per_s());
    Some(rates.sum::<f64>() / 1e6)
}

/// R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness ...", DEC-TR-301, 1984.
fn fairness(flows: &[&FlowResult]) -> Option<f64> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for flow in flows {
        let rate = flow.throughput_bits_per_s();
        sum += rate;
        squares += rate * rate;
    }
    (flows.len() > 1 && squares > 0.0).then(|| sum * sum / (flows.len() as f64 * squares))
}

fn sum(flows: &[&FlowResult], of: fn(&FlowResult) -> u64) -> Option<f64> {
    Some(flows.iter().map(|flow| of(flow)).sum::<u64>() as f64)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Both parts of a ratio, each summed over the flows.
fn ratio_of_sums(flows: &[&FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    let add = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
    let (part, whole) = flows.iter().map(|flow| of(flow)).fold((0, 0), add);
    ratio(part, whole)
}

fn percent(flows: &[&FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    ratio_of_sums(flows, of).map(|share| share * 100.0)
}

fn mean_ms(flows: &[&FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    ratio_of_sums(flows, of).map(|ns| ns / 1e6)
}

fn completion(flows: &[&FlowResult]) -> Option<f64> {
    let times: Vec<i64> = flows.iter().filter_map(|flow| flow.completion_ns).collect();
    ratio(
        times.iter().sum::<i64>().cast_unsigned(),
        times.len() as u64,
    )
    .map(|ns| ns / 1e6)
}

fn drops(run: &RunResult) -> f64 {
    let stages = run.lines.iter().flat_map(|line| &line.stages);
    stages.map(inorder_path::Counters::dropped).sum::<u64>() as f64
}

fn summary(probe: &ProbeResult) -> Option<&inorder_metrics::Summary> {
    probe.metrics.as_deref()
}
