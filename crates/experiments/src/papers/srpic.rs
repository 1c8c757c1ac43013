//! W. Wu, P. Demar, M. Crawford, "Sorting Reordered Packets with Interrupt Coalescing", Computer Networks 53(15),
//! 2009: tables 4 to 7 and the reverse path.
//!
//! Absolute numbers depend on what the paper does not tell (see `experiments/srpic/reordering.toml`); what it
//! claims is about the difference that sorting makes, and that is what is judged here.

use inorder_scenario::{Cell, Scenario};
use inorder_sim::{Campaign, CellResult, registries, run_all};

use super::{Context, ExperimentError, Item, Paper};
use crate::printed::{Printed, Row, srpic};
use crate::{Claim, Comparison, Estimate, Findings};

pub(super) const PAPER: Paper = Paper {
    name: "srpic",
    title: "Wu, Demar, Crawford: Sorting Reordered Packets with Interrupt Coalescing (Computer Networks 2009)",
    items: &[
        Item {
            name: "table-4",
            about: "reordering on the forward path",
            run: table_4,
        },
        Item {
            name: "table-5",
            about: "drops on the forward path",
            run: table_5,
        },
        Item {
            name: "table-6",
            about: "reordering and drops on the forward path",
            run: table_6,
        },
        Item {
            name: "table-7",
            about: "reordering and drops on both paths",
            run: table_7,
        },
        Item {
            name: "reverse-path",
            about: "reordering on the reverse path alone (section 4.2)",
            run: reverse_path,
        },
        Item {
            name: "bursty-drops",
            about: "drops in bursts (section 4.1.2, not printed)",
            run: bursty_drops,
        },
    ],
};

const SCENARIO: &str = include_str!("../../../../experiments/srpic/reordering.toml");
/// What is measured: name in the simulator, column of the printed tables, heading, whether it is told per Mb/s.
const MEASURES: [(&str, &str, &str, bool); 4] = [
    ("throughput", "thr", "throughput, Mb/s", false),
    ("retransmissions", "retx", "PktsRetrans per Mb/s", true),
    ("duplicate_acks", "dupack", "DupAcksIn per Mb/s", true),
    ("sack_blocks", "sack", "SackBlocksRcvd per Mb/s", true),
];

/// A pair of cells that differ in the sorter alone.
struct PairOfRuns {
    label: String,
    sets: Vec<String>,
    printed: Option<usize>,
}

/// What came of a pair: without and with sorting, a value for each of [`MEASURES`].
struct Outcome {
    none: [Estimate; 4],
    srpic: [Estimate; 4],
}

fn sender_sets(sender: &str) -> Vec<String> {
    match sender {
        "S" => vec![
            "flow.sender.loss_detection=static".to_owned(),
            "flow.sender.dupthresh=3 packets".to_owned(),
        ],
        _ => vec!["flow.sender.loss_detection=linux-2.6.24".to_owned()],
    }
}

/// Runs all pairs, each with its own settings.
fn run_pairs(context: &Context<'_>, pairs: &[PairOfRuns]) -> Result<Vec<Outcome>, ExperimentError> {
    let mut cells: Vec<Cell> = Vec::new();
    for pair in pairs {
        let mut scenario =
            Scenario::load(SCENARIO, "experiments/srpic/reordering.toml", &registries())?;
        for set in &pair.sets {
            scenario.set(set)?;
        }
        scenario.set(&format!("run.seed={}", context.seed))?;
        if context.quick {
            scenario.set("run.duration=5 s")?;
        }
        cells.extend(scenario.cells()?);
    }
    let progress = Bar(context.progress);
    let campaign = Campaign {
        repetitions: u64::from(context.repetitions_or(5)),
        threads: 0,
        progress: &progress,
        stop: context.stop,
    };
    let results = run_all(&cells, &campaign)?;
    if context.stopped() {
        return Err(ExperimentError::Stopped);
    }
    Ok(results
        .chunks_exact(2)
        .map(|two| Outcome {
            none: values(context, &two[0]),
            srpic: values(context, &two[1]),
        })
        .collect())
}

struct Bar<'a>(&'a (dyn Fn(usize, usize) + Sync));

impl inorder_sim::Progress for Bar<'_> {
    fn at(&self, done: usize, all: usize) {
        (self.0)(done, all);
    }
}

/// Counters are told per Mb/s of throughput, run by run; a quick run's stand for the ten times longer one.
fn values(context: &Context<'_>, result: &CellResult) -> [Estimate; 4] {
    let column = |name: &str| -> Vec<f64> {
        let at = inorder_sim::MEASURES.iter().position(|m| m.name == name);
        let values = at
            .and_then(|at| result.values.get(at))
            .cloned()
            .unwrap_or_default();
        values.into_iter().map(|v| v.unwrap_or(0.0)).collect()
    };
    let throughput = column("throughput");
    let longer = if context.quick { 10.0 } else { 1.0 };
    MEASURES.map(|(name, _, _, relative)| {
        let mut values = column(name);
        if relative {
            for (value, rate) in values.iter_mut().zip(&throughput) {
                *value *= longer / rate.max(f64::MIN_POSITIVE);
            }
        }
        Estimate::of(&values)
    })
}

fn compare(
    item: &str,
    pairs: &[PairOfRuns],
    outcomes: &[Outcome],
    printed: &[Row<'_>],
) -> Vec<Comparison> {
    let mut rows = Vec::new();
    for (pair, outcome) in pairs.iter().zip(outcomes) {
        let row = pair.printed.and_then(|at| printed.get(at));
        for (at, (_, column, heading, _)) in MEASURES.iter().enumerate() {
            for (sorter, values) in [("none", &outcome.none), ("srpic", &outcome.srpic)] {
                let value = row.and_then(|row| row.value(&format!("{column}_{sorter}")));
                if row.is_some() && value.is_none() {
                    continue;
                }
                let cell = format!("{}, {sorter}", pair.label);
                rows.push(Comparison::new(item, &cell, heading, value, values[at]));
            }
        }
    }
    rows
}

const THROUGHPUT: usize = 0;
const RETRANSMISSIONS: usize = 1;
const DUPLICATE_ACKS: usize = 2;
/// Throughputs from here on fill the line (the paper's own saturate at 942 to 947).
const LINE_RATE: f64 = 930.0;

/// Sorting is not surely worse: its interval reaches the other's, or both fill the line, or they are within 1 %.
fn not_worse(outcome: &Outcome) -> bool {
    let (none, with) = (outcome.none[THROUGHPUT], outcome.srpic[THROUGHPUT]);
    with.mean >= 0.99 * none.mean || with.mean >= LINE_RATE || !with.surely_below(&none)
}

/// How many of the outcomes satisfy `test`, as a claim about all of them.
fn everywhere(
    id: &str,
    text: &str,
    pairs: &[PairOfRuns],
    outcomes: &[Outcome],
    test: impl Fn(&Outcome) -> bool,
) -> Claim {
    let failed: Vec<_> = pairs
        .iter()
        .zip(outcomes)
        .filter(|(_, o)| !test(o))
        .map(|(p, _)| p.label.as_str())
        .collect();
    let share = Estimate::exact((outcomes.len() - failed.len()) as f64);
    let claim = Claim::new(
        id,
        &format!("{text} (cells of {})", outcomes.len()),
        share,
        failed.is_empty(),
    );
    if failed.is_empty() {
        claim
    } else {
        claim.note(format!("not in: {}", failed.join("; ")))
    }
}

fn raises_throughput(table: &str, pairs: &[PairOfRuns], outcomes: &[Outcome]) -> Claim {
    let text = "SRPIC raises throughput or leaves it";
    everywhere(
        &format!("{table}/throughput"),
        text,
        pairs,
        outcomes,
        not_worse,
    )
}

fn mends(table: &str, pairs: &[PairOfRuns], outcomes: &[Outcome]) -> Claim {
    let fewer = |outcome: &Outcome| ratio(outcome, DUPLICATE_ACKS) < 1.0;
    everywhere(
        &format!("{table}/dupacks"),
        "duplicate ACKs fall",
        pairs,
        outcomes,
        fewer,
    )
}

fn ratio(outcome: &Outcome, at: usize) -> f64 {
    outcome.srpic[at].mean / outcome.none[at].mean
}

fn table_4(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let table = Printed::parse(srpic::TABLE_4)?;
    let rows: Vec<_> = table.rows().collect();
    let pair = |(at, row): (usize, &Row<'_>)| {
        let (sender, streams) = (row.text("sender")?, row.text("streams")?);
        let variation = row.number("variation_pct")?;
        let mut sets = sender_sets(sender);
        sets.push(format!("flow.count={streams}"));
        sets.push(format!("forward.jitter.jitter={} us", variation * 25.0));
        let label = format!("{sender}-Sender, {streams} streams, {variation} %");
        Some(PairOfRuns {
            label,
            sets,
            printed: Some(at),
        })
    };
    let pairs: Vec<_> = rows.iter().enumerate().filter_map(pair).collect();
    let outcomes = run_pairs(context, &pairs)?;
    let mut findings = Findings {
        comparisons: compare("table-4", &pairs, &outcomes, &rows),
        ..Findings::default()
    };
    findings
        .claims
        .push(raises_throughput("table-4", &pairs, &outcomes));
    findings.claims.push(mends("table-4", &pairs, &outcomes));
    let least: Vec<_> = pairs
        .iter()
        .zip(&outcomes)
        .filter(|(p, _)| p.label.ends_with(" 0.2 %"))
        .collect();
    let halved = least
        .iter()
        .filter(|(_, o)| ratio(o, DUPLICATE_ACKS) < 0.5)
        .count();
    findings.claims.push(Claim::new(
        "table-4/dupacks-halved",
        &format!(
            "duplicate ACKs more than halved at 0.2 % (cells of {})",
            least.len()
        ),
        Estimate::exact(halved as f64),
        halved == least.len(),
    ));
    let gains: Vec<f64> = ["10", "2", "1", "0.2"]
        .iter()
        .filter_map(|v| at_label(&rows, &outcomes, v))
        .map(|o| ratio(o, THROUGHPUT))
        .collect();
    if let [ten, two, one, small] = gains[..] {
        findings.claims.push(
            Claim::new(
                "table-4/gain",
                "S-Sender, one stream, 0.2 %: SRPIC doubles throughput (ratio, 1.6 to 2.6)",
                Estimate::exact(small),
                (1.6..=2.6).contains(&small),
            )
            .printed(472.0 / 225.0),
        );
        let shrinks = small >= one && one >= two && two >= ten;
        findings.claims.push(
            Claim::new("table-4/gain-shrinks", &format!("the gain shrinks as the variation grows: {small:.2}, {one:.2}, {two:.2}, {ten:.2} at 0.2, 1, 2, 10 % (at 10 %)"), Estimate::exact(ten), shrinks).printed(62.5 / 59.7),
        );
    }
    findings.remarks.push("the emulator's card is assumed to take packets by interrupt 4000 times a second (e1000's default under load); the paper does not tell".to_owned());
    Ok(findings)
}

/// The outcome of one stream of the S-Sender at a variation.
fn at_label<'a>(rows: &[Row<'_>], outcomes: &'a [Outcome], variation: &str) -> Option<&'a Outcome> {
    let wanted = |row: &Row<'_>| {
        row.text("sender") == Some("S")
            && row.text("streams") == Some("1")
            && row.text("variation_pct") == Some(variation)
    };
    outcomes.get(rows.iter().position(wanted)?)
}

/// Tables 5 to 7: SACK on, drops, maybe jitter.
fn with_drops(
    context: &Context<'_>,
    item: &str,
    text: &'static str,
    settings: impl Fn(f64) -> Vec<String>,
) -> Result<(Vec<PairOfRuns>, Vec<Outcome>, Findings), ExperimentError> {
    let table = Printed::parse(text)?;
    let rows: Vec<_> = table.rows().collect();
    let pair = |(at, row): (usize, &Row<'_>)| {
        let sender = row.text("sender")?;
        let streams = row.text("streams").unwrap_or("1");
        let drops = row.number("drop_pct")?;
        let mut sets = sender_sets(sender);
        sets.push("flow.sender.sack=true".to_owned());
        sets.push(format!("flow.count={streams}"));
        sets.extend(settings(drops));
        let label = format!("{sender}-Sender, {streams} streams, {drops} % dropped");
        Some(PairOfRuns {
            label,
            sets,
            printed: Some(at),
        })
    };
    let pairs: Vec<_> = rows.iter().enumerate().filter_map(pair).collect();
    let outcomes = run_pairs(context, &pairs)?;
    let findings = Findings {
        comparisons: compare(item, &pairs, &outcomes, &rows),
        ..Findings::default()
    };
    Ok((pairs, outcomes, findings))
}

fn table_5(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let drops = |share: f64| {
        vec![
            format!("forward.loss.probability={share} %"),
            "forward.jitter.jitter=0 us".to_owned(),
        ]
    };
    let (pairs, outcomes, mut findings) = with_drops(context, "table-5", srpic::TABLE_5, drops)?;
    findings.claims.push(everywhere(
        "table-5/throughput",
        "with drops alone throughput gets no worse",
        &pairs,
        &outcomes,
        not_worse,
    ));
    findings.claims.push(everywhere(
        "table-5/retransmissions",
        "with drops alone retransmissions get no more (intervals meet)",
        &pairs,
        &outcomes,
        |o| !o.none[RETRANSMISSIONS].surely_below(&o.srpic[RETRANSMISSIONS]),
    ));
    Ok(findings)
}

fn table_6(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let drops = |share: f64| vec![format!("forward.loss.probability={share} %")];
    let (pairs, outcomes, mut findings) = with_drops(context, "table-6", srpic::TABLE_6, drops)?;
    findings
        .claims
        .push(raises_throughput("table-6", &pairs, &outcomes));
    findings.claims.push(mends("table-6", &pairs, &outcomes));
    findings.remarks.push(
        "the variation of the delay is lost in the paper's text: 0.2 % is assumed".to_owned(),
    );
    Ok(findings)
}

fn table_7(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let both = |share: f64| {
        vec![
            format!("forward.loss.probability={share} %"),
            format!("reverse.loss-back.probability={share} %"),
            "reverse.jitter-back.jitter=5 us".to_owned(),
        ]
    };
    let (pairs, outcomes, mut findings) = with_drops(context, "table-7", srpic::TABLE_7, both)?;
    findings.claims.push(mends("table-7", &pairs, &outcomes));
    let s_sender: Vec<_> = pairs
        .iter()
        .zip(&outcomes)
        .filter(|(p, _)| p.label.starts_with('S'))
        .collect();
    let fewer = s_sender
        .iter()
        .filter(|(_, o)| ratio(o, RETRANSMISSIONS) < 0.7)
        .count();
    findings.claims.push(Claim::new(
        "table-7/retransmissions",
        &format!(
            "the S-Sender retransmits significantly less, by 30 % and more (cells of {})",
            s_sender.len()
        ),
        Estimate::exact(fewer as f64),
        fewer == s_sender.len(),
    ));
    Ok(findings)
}

/// Section 4.2: sorting at the receiver leaves the reverse path's reordering alone, and the line is filled.
fn reverse_path(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let pairs: Vec<_> = ["250 us", "5 us"]
        .iter()
        .flat_map(|jitter| ["S", "A"].map(|sender| (sender, *jitter)))
        .map(|(sender, jitter)| {
            let mut sets = sender_sets(sender);
            sets.push("forward.jitter.jitter=0 us".to_owned());
            sets.push(format!("reverse.jitter-back.jitter={jitter}"));
            PairOfRuns {
                label: format!("{sender}-Sender, {jitter} on the way back"),
                sets,
                printed: None,
            }
        })
        .collect();
    let outcomes = run_pairs(context, &pairs)?;
    let mut findings = Findings {
        comparisons: compare("reverse-path", &pairs, &outcomes, &[]),
        ..Findings::default()
    };
    findings.claims.push(everywhere(
        "reverse-path/same",
        "throughput with and without SRPIC is the same within 2 %",
        &pairs,
        &outcomes,
        |o| (ratio(o, THROUGHPUT) - 1.0).abs() < 0.02,
    ));
    findings.claims.push(everywhere(
        "reverse-path/line-rate",
        "the line is filled (about 940 Mb/s)",
        &pairs,
        &outcomes,
        |o| o.none[THROUGHPUT].mean > LINE_RATE && o.srpic[THROUGHPUT].mean > LINE_RATE,
    ));
    Ok(findings)
}

/// Bursts of drops that begin with 0.01 % of the packets and end with half of them.
fn bursty_drops(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let pairs: Vec<_> = ["S", "A"]
        .iter()
        .map(|sender| {
            let mut sets = sender_sets(sender);
            for set in [
                "flow.sender.sack=true",
                "forward.jitter.jitter=0 us",
                "forward.loss.model=gilbert-elliott",
                "forward.loss.to_bad=0.01 %",
                "forward.loss.to_good=50 %",
            ] {
                sets.push(set.to_owned());
            }
            PairOfRuns {
                label: format!("{sender}-Sender, bursts"),
                sets,
                printed: None,
            }
        })
        .collect();
    let outcomes = run_pairs(context, &pairs)?;
    let mut findings = Findings {
        comparisons: compare("bursty-drops", &pairs, &outcomes, &[]),
        ..Findings::default()
    };
    findings.claims.push(everywhere(
        "bursty-drops/throughput",
        "with bursts of drops throughput gets no worse",
        &pairs,
        &outcomes,
        not_worse,
    ));
    Ok(findings)
}
