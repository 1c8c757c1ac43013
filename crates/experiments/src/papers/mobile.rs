//! L. Schulte, A. Zimmermann, P. Nanjundaswamy, L. Eggert, J. Manner, "I'll be a bit late - packet reordering in
//! mobile networks", Journal of Communications and Networks 19(6), 2017, section VI: TCP-aNCR beside TCP-NCR and
//! Linux 3.19 over an emulated path on which a share of the packets comes later by a fixed time.
//!
//! The additional delay of a retransmission is its time since the first transmission less the round-trip time
//! the sender then had: without any patience a loss is seen one round trip after the segment was sent. Figure 16
//! gives it in round-trip times.

use std::collections::BTreeMap;

use inorder_scenario::Cell;
use inorder_sim::RunResult;

use super::mobile_flow::Watched;
use super::{Context, ExperimentError, LegacyItem, mobile_joining};
use crate::campaign::{self, File};
use crate::printed::Printed;
use crate::{Claim, Comparison, Estimate, Findings};

pub(super) const PAPER: (&str, &str, &[LegacyItem]) = (
    "mobile",
    "Schulte, Zimmermann, Nanjundaswamy, Eggert, Manner: I'll be a bit late - packet reordering in mobile networks (Journal of Communications and Networks 2017)",
    &[
        (
            "figure-13",
            "duplicate-ACK threshold of NCR and aNCR at a constant capacity",
            figure_13,
        ),
        (
            "figure-14",
            "Linux and aNCR while the capacity grows every 10 s",
            figure_14,
        ),
        (
            "figure-15",
            "Linux and aNCR when another flow joins after 5 s",
            mobile_joining::figure_15,
        ),
        (
            "figure-16",
            "delay of retransmissions over the capacity, two flows",
            mobile_joining::figure_16,
        ),
    ],
);

/// What the text prints of the figures.
const PRINTED: &str = include_str!("../../printed/mobile.csv");

const FIGURE_13: File = File {
    name: "mobile/figure-13.toml",
    text: include_str!("../../../../experiments/mobile/figure-13.toml"),
};

const FIGURE_14: File = File {
    name: "mobile/figure-14.toml",
    text: include_str!("../../../../experiments/mobile/figure-14.toml"),
};

/// The flows of each repetition, by the labels of the cell.
pub(super) type Runs = BTreeMap<Vec<String>, Vec<Vec<Watched>>>;

/// Runs the cells of `file` that `wanted` keeps, ten repetitions as in the paper's figure 16.
pub(super) fn runs(
    context: &Context<'_>,
    file: File,
    overrides: &[&str],
    wanted: impl Fn(&Cell) -> bool,
) -> Result<Runs, ExperimentError> {
    let mut cells = campaign::cells(context, file, overrides)?;
    cells.retain(wanted);
    let watch = |run: &RunResult| (0..run.flows.len()).map(|n| Watched::new(run, n)).collect();
    let runs = campaign::run(context, &cells, context.repetitions_or(10), watch)?;
    let labels = |cell: &Cell| cell.labels.iter().map(|(_, label)| label.clone()).collect();
    Ok(cells.iter().map(labels).zip(runs).collect())
}

/// Mean and interval of what `of` makes of a cell's repetitions; those with no value are left out.
pub(super) fn estimate(
    runs: &Runs,
    labels: &[&str],
    of: impl Fn(&[Watched]) -> Option<f64>,
) -> Estimate {
    let key: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
    let cell = runs.get(&key).into_iter().flatten();
    let values: Vec<f64> = cell.filter_map(|flows| of(flows)).collect();
    Estimate::of(&values)
}

/// The printed number called `name`.
pub(super) fn printed(name: &str) -> Result<Option<f64>, ExperimentError> {
    let table = Printed::parse(PRINTED)?;
    let row = table.rows().find(|row| row.text("name") == Some(name));
    Ok(row.and_then(|row| row.number("value")))
}

pub(super) fn judged(id: &str, text: &str, ours: Estimate, held: bool, otherwise: &str) -> Claim {
    let claim = Claim::new(id, text, ours, held);
    if held { claim } else { claim.note(otherwise) }
}

/// Of the first flow.
pub(super) fn first(of: impl Fn(&Watched) -> Option<f64>) -> impl Fn(&[Watched]) -> Option<f64> {
    move |flows| of(flows.first()?)
}

fn figure_13(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figure-13";
    let shorter: &[&str] = if context.quick {
        &["run.duration=10 s"]
    } else {
        &[]
    };
    let runs = runs(context, FIGURE_13, shorter, |_| true)?;
    let mut findings = Findings::default();
    let mut add = |tcp: &str, measure: &str, of: &dyn Fn(&Watched) -> Option<f64>| {
        let ours = estimate(&runs, &[tcp], first(of));
        let row = Comparison::new(item, tcp, measure, None, ours);
        findings.comparisons.push(row);
        ours
    };
    let [linux, ncr, ancr] = ["linux", "ncr", "ancr"].map(|tcp| {
        [
            add(tcp, "greatest threshold, segments", &|w| {
                w.greatest_threshold(0.0, 60.0)
            }),
            add(tcp, "mean threshold in disorder, segments", &|w| {
                w.threshold_in_disorder(0.0, 60.0)
            }),
            add(tcp, "mean window, segments", &|w| w.mean_window(0.0, 60.0)),
            add(tcp, "additional delay of retransmissions, ms", &|w| {
                w.extra_delay_ms(0.0, 60.0)
            }),
            add(tcp, "needless retransmissions", &|w| {
                Some(w.spurious as f64)
            }),
            add(tcp, "throughput, Mb/s", &|w| Some(w.throughput)),
        ]
    });
    findings.claims = vec![
        judged(
            "figure-13/spikes",
            &format!(
                "NCR's threshold spikes above aNCR's (greatest over aNCR's greatest, {:.1}; both in segments)",
                ancr[0].mean
            ),
            ncr[0],
            ancr[0].surely_below(&ncr[0]) || ancr[0].mean * 1.2 < ncr[0].mean,
            "both are bounded by the same round trip",
        ),
        judged(
            "figure-13/one-rtt",
            "NCR's spikes reach a round trip's worth of segments (greatest threshold over mean window, 0.6 to 1.5)",
            Estimate::exact(ncr[0].mean / ncr[2].mean),
            (0.6..=1.5).contains(&(ncr[0].mean / ncr[2].mean)),
            "a disorder that begins while a recovery's SACKs are outstanding takes all that is outstanding, SACKed or \
             not, for the flight it began with (FlightSize of RFC 4653): window and threshold then pass what the path \
             holds until the next loss",
        ),
        judged(
            "figure-13/delays",
            &format!(
                "retransmissions wait less with aNCR than with NCR (aNCR's additional delay, ms; NCR's {:.1})",
                ncr[3].mean
            ),
            ancr[3],
            ancr[3].mean < ncr[3].mean,
            "the relative extent learnt grew to NCR's bound",
        ),
        judged(
            "figure-13/needless",
            &format!(
                "and needless recoveries are still avoided (needless retransmissions of aNCR, at most one in a \
                 thousand late packets; NCR {:.1}, Linux {:.1})",
                ncr[4].mean, linux[4].mean
            ),
            ancr[4],
            ancr[4].mean <= 2.0,
            NEEDLESS,
        ),
    ];
    Ok(findings)
}

/// Why aNCR retransmits needlessly at all.
pub(super) const NEEDLESS: &str = "aNCR begins without patience (ReorExtR 0) and learns from late packets: an extent, relative to \
                                   the window, greater than any before costs a needless retransmission once";

fn figure_14(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figure-14";
    let until = if context.quick { 20.0 } else { 60.0 };
    let shorter: &[&str] = if context.quick {
        &["run.duration=20 s"]
    } else {
        &[]
    };
    let tcps = ["linux", "ancr"];
    let runs = runs(context, FIGURE_14, shorter, |cell| {
        cell.label("tcp").is_some_and(|tcp| tcps.contains(&tcp))
    })?;
    let mut findings = Findings::default();
    for queue in ["first", "late"] {
        for tcp in tcps {
            // Between the steps at 5, 15, ... s.
            for from in [0.0, 5.0, 15.0, 25.0, 35.0, 45.0, 55.0] {
                let to = if from == 0.0 { 5.0 } else { from + 10.0 };
                if to > until {
                    break;
                }
                let cell = format!("{tcp}, queue of the {queue} capacity, {from} to {to} s");
                let of = |w: &Watched| w.greatest_threshold(from, to);
                let row = |measure, ours| Comparison::new(item, &cell, measure, None, ours);
                let greatest = estimate(&runs, &[tcp, queue], first(of));
                let window = estimate(&runs, &[tcp, queue], first(|w| w.mean_window(from, to)));
                let again = estimate(
                    &runs,
                    &[tcp, queue],
                    first(|w| Some(w.retransmissions(from, to))),
                );
                findings.comparisons.extend([
                    row("greatest threshold, segments", greatest),
                    row("mean window, segments", window),
                    row("retransmissions", again),
                ]);
            }
        }
        growing(&runs, queue, until, &mut findings)?;
    }
    findings.remarks.push(
        "of which capacity the bottleneck's queue is the product is not told: both readings are shown".to_owned(),
    );
    Ok(findings)
}

/// Claims of figure 14, with one reading of the queue.
fn growing(
    runs: &Runs,
    queue: &str,
    until: f64,
    findings: &mut Findings,
) -> Result<(), ExperimentError> {
    let of =
        |tcp: &str, of: &dyn Fn(&Watched) -> Option<f64>| estimate(runs, &[tcp, queue], first(of));
    let id = |name: &str| format!("figure-14/{name}-{queue}");
    let text = |text: &str| format!("{text} (queue of the {queue} capacity)");
    let cap = of("linux", &|w| w.greatest_threshold(0.0, until));
    let bound = printed("linux-cap")?.unwrap_or(f64::NAN);
    findings.claims.push(
        judged(
            &id("cap"),
            &text("Linux's threshold comes to its bound of 300"),
            cap,
            cap.mean >= bound - 0.5,
            "20 ms at 110 Mbit/s are 183 packets; beyond that only slow start after a loss and late packets sent in \
             bursts make extents, so that some repetitions come to 300 and others do not",
        )
        .printed(bound),
    );
    let linux = of("linux", &|w| Some(w.spurious as f64));
    let ancr = of("ancr", &|w| Some(w.spurious as f64));
    findings.claims.push(judged(
        &id("linux-needless"),
        &text("Linux retransmits needlessly when the capacity grows (needless retransmissions from 5 s on)"),
        linux,
        linux.mean >= 1.0,
        "its threshold suffices from the first seconds on",
    ));
    findings.claims.push(
        judged(
            &id("ancr-needless"),
            &text("aNCR never does"),
            ancr,
            ancr.mean == 0.0,
            NEEDLESS,
        )
        .printed(0.0),
    );
    let jumps = of("linux", &|w| Some(w.threshold_steps() as f64));
    findings.claims.push(judged(
        &id("jumps"),
        &text("Linux's threshold rises by jumps and stays (number of changes, none of them downwards)"),
        jumps,
        (1.0..100.0).contains(&jumps.mean) && of("linux", &|w| Some(w.threshold_falls() as f64)).mean == 0.0,
        "a timeout takes it back to three",
    ));
    let late = until - 5.0;
    let window = |tcp: &str| of(tcp, &|w| w.mean_window(late, until));
    findings.claims.push(judged(
        &id("window"),
        &text(&format!(
            "at the end aNCR's window is above Linux's (mean of the last 5 s, segments; Linux {:.0})",
            window("linux").mean
        )),
        window("ancr"),
        window("ancr").mean > window("linux").mean,
        "with one packet in ten late, aNCR is in its phase of limited transmit nearly all the time, where the draft \
         (section 5) does not let the window grow; the paper's grows sharply, so its kernel must do otherwise",
    ));
    Ok(())
}
