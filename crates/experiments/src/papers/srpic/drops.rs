//! Drops, alone and with reordering: tables 5 to 7, and the bursts of section 4.1.2. SACK is on.

use super::pairs::{Outcome, Pair, RETRANSMISSIONS, Study, Table};
use super::{Context, ExperimentError, Findings, sender};
use crate::printed::srpic;

const SACK: &str = "flow.sender.sack=true";
/// No reordering on the forward path.
const STEADY: &str = "forward.jitter.jitter=0 us";

/// Runs the pairs of a table whose rows tell the share of packets dropped on the forward path, percent; `more` is
/// set besides.
fn study(
    context: &Context<'_>,
    item: &'static str,
    text: &'static str,
    more: impl Fn(f64) -> Vec<String>,
) -> Result<Study, ExperimentError> {
    let table = Table {
        item,
        text,
        varied: "drop_pct",
        unit: "% dropped",
    };
    Study::of_table(context, &table, |share| {
        let loss = format!("forward.loss.probability={share} %");
        let mut sets = vec![SACK.to_owned(), loss];
        sets.extend(more(share));
        sets
    })
}

pub(super) fn table_5(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let steady = |_| vec![STEADY.to_owned()];
    let mut study = study(context, "table-5", srpic::TABLE_5, steady)?;
    study.everywhere(
        "throughput",
        "with drops alone throughput gets no worse",
        Outcome::not_worse,
    );
    study.everywhere(
        "retransmissions",
        "with drops alone retransmissions get no more (intervals meet)",
        |o| !o.none[RETRANSMISSIONS].surely_below(&o.srpic[RETRANSMISSIONS]),
    );
    Ok(study.findings)
}

pub(super) fn table_6(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let mut study = study(context, "table-6", srpic::TABLE_6, |_| Vec::new())?;
    study.raises_throughput();
    study.mends();
    let mut findings = study.findings;
    findings.remarks.push(
        "the variation of the delay is lost in the paper's text: 0.2 % is assumed".to_owned(),
    );
    Ok(findings)
}

pub(super) fn table_7(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let back = |share: f64| {
        vec![
            format!("reverse.loss-back.probability={share} %"),
            "reverse.jitter-back.jitter=5 us".to_owned(),
        ]
    };
    let mut study = study(context, "table-7", srpic::TABLE_7, back)?;
    study.mends();
    study.in_all(
        "retransmissions",
        "the S-Sender retransmits significantly less, by 30 % and more",
        |label| label.starts_with('S'),
        |o| o.ratio(RETRANSMISSIONS) < 0.7,
    );
    Ok(study.findings)
}

/// Bursts of drops that begin with 0.01 % of the packets and end with half of them.
pub(super) fn bursty_drops(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let bursts = [
        SACK,
        STEADY,
        "forward.loss.model=gilbert-elliott",
        "forward.loss.to_bad=0.01 %",
        "forward.loss.to_good=50 %",
    ];
    let pairs = ["S", "A"].map(|name| {
        let mut sets = sender(name);
        sets.extend(bursts.map(str::to_owned));
        let label = format!("{name}-Sender, bursts");
        Pair { label, sets }
    });
    let mut study = Study::of_pairs(context, "bursty-drops", pairs.into())?;
    study.everywhere(
        "throughput",
        "with bursts of drops throughput gets no worse",
        Outcome::not_worse,
    );
    Ok(study.findings)
}
