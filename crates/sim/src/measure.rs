//! Measures: numbers by which cells are compared, one for each run.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use inorder_metrics::{METRICS, Reordering};
use inorder_report::{
    AnyColumn, Column, Digits, Field, Kind, Nested, Rank, Value, columns, number,
};

use crate::result::{FlowResult, ProbeResult, RunResult};

/// A number computed from the result of a run.
pub struct Measure {
    /// Name, heading, unit, meaning, rank.
    pub field: Field<'static>,
    of: Of,
}

/// The source of a measure.
enum Of {
    Run(Column<RunResult>),
    /// The order of the first stream of probes.
    Probes(&'static Column<Reordering>),
}

impl AnyColumn<RunResult> for Measure {
    fn field(&self) -> &Field<'_> {
        &self.field
    }

    fn value<'r>(&self, run: &'r RunResult) -> Value<'r> {
        match &self.of {
            Of::Run(column) => column.value(run),
            Of::Probes(column) => of_probe(run, |probe| {
                let order = &probe.metrics.as_ref()?.order;
                number::bare(column.field.kind, &column.value(order))
            }),
        }
    }

    fn people(&self, _: &RunResult, value: &Value<'_>) -> String {
        number::people(self.field.kind, value)
    }

    fn rows(&self) -> Option<&dyn Nested<RunResult>> {
        None
    }
}

/// A metric of the probes' order, with its name after `probes_`.
fn of_probes(column: &'static Column<Reordering>) -> Measure {
    /// Rank of the metrics that are shown in all tables.
    const SHOWN: u8 = 5;
    let metric = &column.field;
    let name = format!(
        "probes_{}",
        metric.name.strip_suffix("_ms").unwrap_or(metric.name)
    );
    // Created once and used until the program ends.
    let about = format!("Of the probes: {}", metric.about).leak();
    let mut field = Field::new(name.leak(), Kind::Number(Digits::Short), about);
    field.heading = number::bare_name(metric).leak();
    field.unit = number::bare_unit(metric);
    field.optional = true;
    if column.is_shown() {
        field.rank = Rank::Shown(SHOWN);
    }
    Measure {
        field,
        of: Of::Probes(column),
    }
}

/// Measures of these ranks are in the table of every TCP simulation, even if they are 0 in all cells; others are then
/// left out.
pub(crate) const RANKS_ALWAYS_SHOWN: RangeInclusive<u8> = 1..=3;

/// All measures, in the order of tables and files: first those of runs, then the metrics of probes, one for each
/// metric of `inorder-metrics`.
pub static MEASURES: LazyLock<Vec<Measure>> = LazyLock::new(|| {
    let of_runs = RUN.iter().map(|column| Measure {
        field: column.optional().field,
        of: Of::Run(*column),
    });
    of_runs.chain(METRICS.iter().map(of_probes)).collect()
});

columns! {
    /// Measures of runs. To add one, add it here.
    RUN: RunResult, |run|
    "throughput": Number(Digits::Short), "Sum of the flows' throughputs: payload delivered in order, each over the time from the flow's start or the end of the warm-up to its completion or the end of the run. Of flows that are not there at the same time it may exceed the rate of the line."
        => of_flows(run, throughput), unit("Mbit/s"), shown("throughput", 0);
    "fairness": Number(Digits::Short), "Jain's index over the flows' throughputs; 1 is equal."
        => of_flows(run, fairness), shown("fairness", 18);
    "segments": Number(Digits::Short), "Segments sent by the senders."
        => of_flows(run, |f| sum(f, |r| r.counts.segments)), headed("segments");
    "retransmissions": Number(Digits::Short), "Segments sent again (PktsRetrans)."
        => of_flows(run, |f| sum(f, |r| r.counts.retransmissions)), shown("retrans", 1);
    "spurious": Number(Digits::Short), "Spurious retransmissions: an earlier transmission of each of their bytes arrived and was not refused."
        => of_flows(run, |f| sum(f, |r| r.counts.spurious)), shown("spurious", 4);
    "refused": Number(Digits::Short), "Segments with data that arrived and that the receiver's TCP discarded although the bytes were missing: too old by their timestamps (PAWS, RFC 7323), or outside the window."
        => of_flows(run, |f| sum(f, |r| r.counts.refused)), shown("refused", 20);
    "duplicate_acks": Number(Digits::Short), "Duplicate acknowledgements (DupAcksIn)."
        => of_flows(run, |f| sum(f, |r| r.counts.duplicate_acks)), shown("dupACKs", 2);
    "sack_blocks": Number(Digits::Short), "SACK blocks received (SackBlocksRcvd)."
        => of_flows(run, |f| sum(f, |r| r.counts.sack_blocks)), headed("SACK blocks");
    "recoveries": Number(Digits::Short), "Fast recoveries."
        => of_flows(run, |f| sum(f, |r| r.counts.recoveries)), shown("recoveries", 3);
    "undone": Number(Digits::Short), "Fast recoveries undone by the sender."
        => of_flows(run, |f| sum(f, |r| r.counts.undone)), shown("undone", 13);
    "timeouts": Number(Digits::Short), "Expiries of retransmission timers."
        => of_flows(run, |f| sum(f, |r| r.counts.timeouts)), shown("timeouts", 12);
    "loss_probes": Number(Digits::Short), "Tail loss probes sent (RFC 8985 section 7)."
        => of_flows(run, |f| sum(f, |r| r.counts.loss_probes)), headed("loss probes");
    "reordered_at_card": Number(Digits::Short), "Share of the originals that are late when they reach the receiver's card (RFC 4737)."
        => of_flows(run, |f| percent(f, |r| (r.counts.reordered_at_card, r.counts.at_card))), unit("%"), shown("reordered", 19);
    "reordered_at_stack": Number(Digits::Short), "Share of the originals that are late when they reach TCP, behind the card (RFC 4737)."
        => of_flows(run, |f| percent(f, |r| (r.counts.reordered_at_stack, r.counts.at_stack))), unit("%"), shown("after card", 10);
    "delay": Number(Digits::Short), "Mean one-way delay of originals, to TCP."
        => of_flows(run, |f| mean_ms(f, |r| (r.counts.delay_ns, r.counts.at_stack))), unit("ms"), headed("delay");
    "rtt": Number(Digits::Short), "Mean of the round-trip times measured by the senders."
        => of_flows(run, |f| mean_ms(f, |r| (r.counts.rtt_ns, r.counts.rtts))), unit("ms"), shown("RTT", 11);
    "response": Number(Digits::Short), "Mean time from request to response of interactive flows."
        => of_flows(run, |f| mean_ms(f, |r| (r.counts.response_ns, r.counts.responses))), unit("ms"), shown("response", 8);
    "completion": Number(Digits::Short), "Mean time from opening to the arrival of all data, of flows that completed."
        => of_flows(run, completion), unit("ms"), shown("completion", 9);
    "completion_small": Number(Digits::Short), "Mean completion of connections of up to 100 kB."
        => of_flows(run, |f| completion_of(f, SMALL, mean_of)), unit("ms"), shown("small", 22);
    "completion_small_p99": Number(Digits::Short), "99th percentile of the completion of connections of up to 100 kB."
        => of_flows(run, |f| completion_of(f, SMALL, p99_of)), unit("ms"), shown("small p99", 23);
    "completion_medium": Number(Digits::Short), "Mean completion of connections of more than 100 kB and up to 10 MB."
        => of_flows(run, |f| completion_of(f, MEDIUM, mean_of)), unit("ms"), shown("medium", 24);
    "completion_large": Number(Digits::Short), "Mean completion of connections of more than 10 MB."
        => of_flows(run, |f| completion_of(f, LARGE, mean_of)), unit("ms"), shown("large", 25);
    "broken": Number(Digits::Short), "Connections that ended with an error."
        => of_flows(run, |f| sum(f, |r| u64::from(r.error.is_some()))), shown("broken", 14);
    "dropped": Number(Digits::Short), "Packets dropped by the paths and cards, probes included."
        => drops(run), shown("dropped", 15);
    "marked": Number(Digits::Short), "Packets on which the queues of the paths marked congestion (CE of RFC 3168) instead of dropping them."
        => marks(run), shown("marked", 21);
    "probes_received": Number(Digits::Short), "Probes that arrived."
        => of_probe(run, |p| Some(p.received as f64)), shown("probes", 16);
    "probe_delay": Number(Digits::Short), "Mean one-way delay of the probes."
        => of_probe(run, |p| ratio(p.delay_ns.cast_unsigned(), p.received).map(|ns| ns / 1e6)), unit("ms"), shown("probe delay", 17);
}

/// The measure called `name`.
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.field.name == name)
}

/// The value of each of [`MEASURES`]; `None` if the run has none.
pub fn values(run: &RunResult) -> Vec<Option<f64>> {
    let value = |measure: &Measure| measure.value(run).number();
    MEASURES.iter().map(value).collect()
}

/// A sum over all flows of the run; `None` without flows.
fn of_flows(run: &RunResult, of: fn(&[FlowResult]) -> Option<f64>) -> Value<'_> {
    match run.flows.as_slice() {
        [] => Value::Absent,
        flows => of(flows).into(),
    }
}

/// A value of the first stream of probes.
fn of_probe(run: &RunResult, of: impl Fn(&ProbeResult) -> Option<f64>) -> Value<'_> {
    run.probes.first().and_then(of).into()
}

impl FlowResult {
    /// Payload delivered in order, bit/s.
    pub fn throughput_bits_per_s(&self) -> f64 {
        // Bytes to bits, and nanoseconds to seconds.
        self.counts.delivered_bytes as f64 * 8e9 / self.measured_ns.max(1) as f64
    }
}

fn throughput(flows: &[FlowResult]) -> Option<f64> {
    let rates = flows.iter().map(FlowResult::throughput_bits_per_s);
    Some(rates.sum::<f64>() / 1e6)
}

/// R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness ...", DEC-TR-301, 1984.
fn fairness(flows: &[FlowResult]) -> Option<f64> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for flow in flows {
        let rate = flow.throughput_bits_per_s();
        sum += rate;
        squares += rate * rate;
    }
    (flows.len() > 1 && squares > 0.0).then(|| sum * sum / (flows.len() as f64 * squares))
}

fn sum(flows: &[FlowResult], of: fn(&FlowResult) -> u64) -> Option<f64> {
    Some(flows.iter().map(of).sum::<u64>() as f64)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Numerator and denominator of a ratio, each summed over the flows.
fn ratio_of_sums(flows: &[FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    let add = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
    let (part, whole) = flows.iter().map(of).fold((0, 0), add);
    ratio(part, whole)
}

fn percent(flows: &[FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    ratio_of_sums(flows, of).map(|share| share * 100.0)
}

fn mean_ms(flows: &[FlowResult], of: fn(&FlowResult) -> (u64, u64)) -> Option<f64> {
    ratio_of_sums(flows, of).map(|ns| ns / 1e6)
}

fn completion(flows: &[FlowResult]) -> Option<f64> {
    let times: Vec<i64> = flows.iter().filter_map(|flow| flow.completion_ns).collect();
    ratio(
        times.iter().sum::<i64>().cast_unsigned(),
        times.len() as u64,
    )
    .map(|ns| ns / 1e6)
}

/// Classes of sizes, bytes, as papers on data centres have them (M. Alizadeh and others, "pFabric", SIGCOMM 2013).
const SMALL: RangeInclusive<u64> = 0..=100_000;
const MEDIUM: RangeInclusive<u64> = 100_001..=10_000_000;
const LARGE: RangeInclusive<u64> = 10_000_001..=u64::MAX;

/// A statistic of the completion times, ms, of connections with sizes in this class. Runs in which all connections have
/// the same size have none: `completion` says it already.
fn completion_of(
    flows: &[FlowResult],
    class: RangeInclusive<u64>,
    statistic: fn(&[f64]) -> Option<f64>,
) -> Option<f64> {
    let first = flows.first()?.size_bytes;
    if flows.iter().all(|flow| flow.size_bytes == first) {
        return None;
    }
    let inside = |flow: &&FlowResult| flow.size_bytes.is_some_and(|size| class.contains(&size));
    let complete = flows
        .iter()
        .filter(inside)
        .filter_map(|flow| flow.completion_ns);
    let mut times: Vec<f64> = complete.map(|ns| ns as f64 / 1e6).collect();
    times.sort_unstable_by(f64::total_cmp);
    statistic(&times)
}

fn mean_of(times: &[f64]) -> Option<f64> {
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// The smallest value that at least 99 % do not exceed.
fn p99_of(times: &[f64]) -> Option<f64> {
    let rank = (times.len() * 99).div_ceil(100);
    times.get(rank.checked_sub(1)?).copied()
}

fn drops(run: &RunResult) -> f64 {
    let stages = run.lines.iter().flat_map(|line| &line.stages);
    stages.map(inorder_path::Counters::dropped).sum::<u64>() as f64
}

fn marks(run: &RunResult) -> f64 {
    let stages = run.lines.iter().flat_map(|line| &line.stages);
    stages.map(|stage| stage.marked).sum::<u64>() as f64
}
