//! Measures: numbers by which cells are compared, one for each run.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use inorder_metrics::{METRICS, Reordering};
use inorder_report::{AnyColumn, Column, Digits, Field, Kind, Nested, Rank, Value, number};

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

/// Shows the measure in tables. A smaller `rank` means that it is dropped later on a narrow terminal and appears
/// earlier on the page. Measures without a rank are only in files.
const fn measure(
    name: &'static str,
    heading: &'static str,
    unit: &'static str,
    rank: Option<u8>,
    value: for<'r> fn(&'r RunResult) -> Value<'r>,
    about: &'static str,
) -> Column<RunResult> {
    let column = Column::new(name, Kind::Number(Digits::Short), about, value);
    let mut column = column.unit(unit).optional();
    column.field.heading = heading;
    match rank {
        Some(rank) => column.shown(heading, rank),
        None => column,
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
        field: column.field,
        of: Of::Run(*column),
    });
    of_runs.chain(METRICS.iter().map(of_probes)).collect()
});

/// Measures of runs. To add one, add it here.
static RUN: &[Column<RunResult>] = &[
    measure(
        "throughput",
        "throughput",
        "Mbit/s",
        Some(0),
        |run| of_flows(run, throughput),
        "Sum of the flows' throughputs: payload delivered in order, each over the time from the flow's start or the end of the warm-up to its completion or the end of the run. Of flows that are not there at the same time it may exceed the rate of the line.",
    ),
    measure(
        "fairness",
        "fairness",
        "",
        Some(18),
        |run| of_flows(run, fairness),
        "Jain's index over the flows' throughputs; 1 is equal.",
    ),
    measure(
        "segments",
        "segments",
        "",
        None,
        |run| of_flows(run, |f| sum(f, |r| r.counts.segments)),
        "Segments sent by the senders.",
    ),
    measure(
        "retransmissions",
        "retrans",
        "",
        Some(1),
        |run| of_flows(run, |f| sum(f, |r| r.counts.retransmissions)),
        "Segments sent again (PktsRetrans).",
    ),
    measure(
        "spurious",
        "spurious",
        "",
        Some(4),
        |run| of_flows(run, |f| sum(f, |r| r.counts.spurious)),
        "Spurious retransmissions: an earlier transmission of each of their bytes arrived and was not refused.",
    ),
    measure(
        "refused",
        "refused",
        "",
        Some(20),
        |run| of_flows(run, |f| sum(f, |r| r.counts.refused)),
        "Segments with data that arrived and that the receiver's TCP discarded although the bytes were missing: too old \
         by their timestamps (PAWS, RFC 7323), or outside the window.",
    ),
    measure(
        "duplicate_acks",
        "dupACKs",
        "",
        Some(2),
        |run| of_flows(run, |f| sum(f, |r| r.counts.duplicate_acks)),
        "Duplicate acknowledgements (DupAcksIn).",
    ),
    measure(
        "sack_blocks",
        "SACK blocks",
        "",
        None,
        |run| of_flows(run, |f| sum(f, |r| r.counts.sack_blocks)),
        "SACK blocks received (SackBlocksRcvd).",
    ),
    measure(
        "recoveries",
        "recoveries",
        "",
        Some(3),
        |run| of_flows(run, |f| sum(f, |r| r.counts.recoveries)),
        "Fast recoveries.",
    ),
    measure(
        "undone",
        "undone",
        "",
        Some(13),
        |run| of_flows(run, |f| sum(f, |r| r.counts.undone)),
        "Fast recoveries undone by the sender.",
    ),
    measure(
        "timeouts",
        "timeouts",
        "",
        Some(12),
        |run| of_flows(run, |f| sum(f, |r| r.counts.timeouts)),
        "Expiries of retransmission timers.",
    ),
    measure(
        "loss_probes",
        "loss probes",
        "",
        None,
        |run| of_flows(run, |f| sum(f, |r| r.counts.loss_probes)),
        "Tail loss probes sent (RFC 8985 section 7).",
    ),
    measure(
        "reordered_at_card",
        "reordered",
        "%",
        Some(19),
        |run| {
            of_flows(run, |f| {
                percent(f, |r| (r.counts.reordered_at_card, r.counts.at_card))
            })
        },
        "Share of the originals that are late when they reach the receiver's card (RFC 4737).",
    ),
    measure(
        "reordered_at_stack",
        "after card",
        "%",
        Some(10),
        |run| {
            of_flows(run, |f| {
                percent(f, |r| (r.counts.reordered_at_stack, r.counts.at_stack))
            })
        },
        "Share of the originals that are late when they reach TCP, behind the card (RFC 4737).",
    ),
    measure(
        "delay",
        "delay",
        "ms",
        None,
        |run| {
            of_flows(run, |f| {
                mean_ms(f, |r| (r.counts.delay_ns, r.counts.at_stack))
            })
        },
        "Mean one-way delay of originals, to TCP.",
    ),
    measure(
        "rtt",
        "RTT",
        "ms",
        Some(11),
        |run| of_flows(run, |f| mean_ms(f, |r| (r.counts.rtt_ns, r.counts.rtts))),
        "Mean of the round-trip times measured by the senders.",
    ),
    measure(
        "response",
        "response",
        "ms",
        Some(8),
        |run| {
            of_flows(run, |f| {
                mean_ms(f, |r| (r.counts.response_ns, r.counts.responses))
            })
        },
        "Mean time from request to response of interactive flows.",
    ),
    measure(
        "completion",
        "completion",
        "ms",
        Some(9),
        |run| of_flows(run, completion),
        "Mean time from opening to the arrival of all data, of flows that completed.",
    ),
    measure(
        "completion_small",
        "small",
        "ms",
        Some(22),
        |run| of_flows(run, |f| completion_of(f, SMALL, mean_of)),
        "Mean completion of connections of up to 100 kB.",
    ),
    measure(
        "completion_small_p99",
        "small p99",
        "ms",
        Some(23),
        |run| of_flows(run, |f| completion_of(f, SMALL, p99_of)),
        "99th percentile of the completion of connections of up to 100 kB.",
    ),
    measure(
        "completion_medium",
        "medium",
        "ms",
        Some(24),
        |run| of_flows(run, |f| completion_of(f, MEDIUM, mean_of)),
        "Mean completion of connections of more than 100 kB and up to 10 MB.",
    ),
    measure(
        "completion_large",
        "large",
        "ms",
        Some(25),
        |run| of_flows(run, |f| completion_of(f, LARGE, mean_of)),
        "Mean completion of connections of more than 10 MB.",
    ),
    measure(
        "broken",
        "broken",
        "",
        Some(14),
        |run| of_flows(run, |f| sum(f, |r| u64::from(r.error.is_some()))),
        "Connections that ended with an error.",
    ),
    measure(
        "dropped",
        "dropped",
        "",
        Some(15),
        |run| drops(run).into(),
        "Packets dropped by the paths and cards, probes included.",
    ),
    measure(
        "marked",
        "marked",
        "",
        Some(21),
        |run| marks(run).into(),
        "Packets on which the queues of the paths marked congestion (CE of RFC 3168) instead of dropping them.",
    ),
    measure(
        "probes_received",
        "probes",
        "",
        Some(16),
        |run| of_probe(run, |p| Some(p.received as f64)),
        "Probes that arrived.",
    ),
    measure(
        "probe_delay",
        "probe delay",
        "ms",
        Some(17),
        |run| {
            of_probe(run, |p| {
                ratio(p.delay_ns.cast_unsigned(), p.received).map(|ns| ns / 1e6)
            })
        },
        "Mean one-way delay of the probes.",
    ),
];

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
