//! The second sentence: whether reordering is the problem, and what else happened.

use inorder_detect::{Cause, FlowReport};
use inorder_report::number::{count, percent, plural, time};

use super::{attempts, sentence, stream, was};
use crate::gravity::Subject;
use crate::model::Analysis;
use inorder_detect::{Gravity, Trouble};
use inorder_detect::{StreamTotals, Totals};

/// The sentence, if there is anything to say.
pub fn of(analysis: &Analysis, all: &Totals, troubled: &[Subject<'_>]) -> Option<String> {
    let worst = troubled.first()?;
    let told = late_elsewhere(all, worst);
    let parts: Vec<String> = [
        told.clone().or_else(|| about_reordering(all, worst)),
        same_flow(worst),
        others(analysis, all, worst, &troubled[1..], told.is_some()),
        attempts::besides(&analysis.attempts),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| sentence(&capital(&parts.join("; "))))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Whether reordering is the problem; nothing if the first sentence is about it.
fn about_reordering(t: &Totals, worst: &Subject<'_>) -> Option<String> {
    if worst.gravity().worst() == Some(Trouble::Reordering) {
        return None;
    }
    let caused = t.by_cause[Cause::Reordering as usize];
    if caused > 0 {
        return Some(format!(
            "reordering had a part in it: late packets were taken for lost in {} of {}",
            count(caused),
            plural(t.recoveries, "recovery phase"),
        ));
    }
    if !can_be_told(worst, t) {
        return Some("whether packets arrived out of order cannot be told".to_owned());
    }
    Some(match (t.reordered, t.streams.reordered) {
        (0, 0) => "reordering is not the problem: no late packet was seen".to_owned(),
        (0, late) => format!(
            "TCP had no late packet that was seen, the numbered streams {}",
            count(late)
        ),
        (late, _) => format!(
            "reordering is not the problem: {}{} late ({} %) and started no recovery",
            match late {
                1 => "1 packet was".to_owned(),
                n => format!("{} packets were", count(n)),
            },
            match worst {
                Subject::Flow(flow) if flow.reordering.reordered == late => "",
                _ => ", in all flows,",
            },
            percent(late as f64 / t.arrived.max(1) as f64),
        ),
    })
}

/// Late packets that harmed nothing and of which the flow of the first sentence has none.
fn late_elsewhere(t: &Totals, worst: &Subject<'_>) -> Option<String> {
    let Subject::Flow(flow) = worst else {
        return None;
    };
    let harmless = t.by_cause[Cause::Reordering as usize] == 0 && can_be_told(worst, t);
    let elsewhere = t.reordered > 0 && flow.reordering.reordered == 0;
    (harmless && elsewhere).then(|| {
        let other = match t.flows {
            2 => "the other flow had".to_owned(),
            _ => match t.reordered_flows {
                1 => "1 other flow had".to_owned(),
                n => format!("{} other flows had", count(n)),
            },
        };
        format!(
            "reordering is not the problem: {other} {}, which started no recovery",
            plural(t.reordered, "late packet")
        )
    })
}

/// False if reordering could be the reason although none was found.
fn can_be_told(worst: &Subject<'_>, t: &Totals) -> bool {
    let Subject::Flow(flow) = worst else {
        return true;
    };
    let unexplained = t.by_cause[Cause::Unknown as usize];
    !flow.blind.any() && 2 * unexplained <= t.recoveries && !has_only_unclear_events(flow)
}

fn has_only_unclear_events(flow: &FlowReport) -> bool {
    Gravity::of_flow(flow).worst() == Some(Trouble::Unclear)
}

/// What else happened to the flow of the first sentence.
fn same_flow(worst: &Subject<'_>) -> Option<String> {
    let Subject::Flow(flow) = worst else {
        return None;
    };
    let lead = worst.gravity().worst();
    let mut said = Vec::new();
    let lost_told = matches!(lead, Some(Trouble::Loss | Trouble::Unanswered));
    if flow.losses > 0 && !lost_told {
        said.push(format!("{} lost", packets(flow.losses)));
    }
    if flow.refused > 0 && lead != Some(Trouble::Refused) {
        said.push(format!("{} refused by the receiver", packets(flow.refused)));
    }
    if flow.handshake.syns_again > 0 && lead != Some(Trouble::Handshake) {
        let (again, ns) = (flow.handshake.syns_again, flow.handshake.waited_ns);
        let syns = plural(again, "SYN");
        said.push(format!("{syns} {} sent again ({})", was(again), time(ns)));
    }
    let spurious = flow.retransmissions.spurious;
    let told = matches!(
        lead,
        Some(Trouble::Reordering | Trouble::TailProbe | Trouble::InAdvance)
    );
    if spurious > 0 && !told {
        said.push(format!(
            "{} of {} {} spurious",
            count(spurious),
            plural(flow.retransmissions.total, "retransmission"),
            was(spurious)
        ));
    }
    (!said.is_empty()).then(|| said.join(", "))
}

fn packets(n: u64) -> String {
    format!("{} {}", plural(n, "packet"), was(n))
}

/// The other flows and streams with problems, in sums.
fn others(
    analysis: &Analysis,
    all: &Totals,
    worst: &Subject<'_>,
    rest: &[Subject<'_>],
    late_told: bool,
) -> Option<String> {
    let (mut flows, mut streams) = (analysis.summed, StreamTotals::default());
    flows.flows = flows.troubled_flows;
    for subject in rest {
        match subject {
            Subject::Flow(flow) => flows.add(flow),
            Subject::Stream(one) => streams.add(one),
        }
    }
    if late_told {
        flows.reordered = 0;
    }
    let parts = [of_flows(all, &flows), of_streams(all, &streams)];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    if rest.is_empty() && analysis.summed.troubled_flows == 0 {
        return unharmed(all, worst);
    }
    (!said.is_empty()).then(|| format!("besides, {}", said.join(", and ")))
}

/// Says that the first sentence is about the only flow or stream with trouble.
fn unharmed(totals: &Totals, worst: &Subject<'_>) -> Option<String> {
    let (all, what) = match worst {
        Subject::Flow(_) => (totals.flows, "other TCP flow"),
        Subject::Stream(_) => (totals.streams.streams, "other numbered stream"),
    };
    match all {
        0 | 1 => None,
        2 => Some(format!("the {what} had no trouble")),
        all => Some(format!("the {} had no trouble", plural(all - 1, what))),
    }
}

fn of_flows(all: &Totals, t: &Totals) -> Option<String> {
    let what = [
        (t.losses, "lost packet"),
        (t.reordered, "late packet"),
        (t.refused, "refused packet"),
        (t.spurious, "spurious retransmission"),
        (t.timeouts, "time-out"),
        (t.syns_again, "SYN sent again"),
    ];
    let what: Vec<String> = what
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| plural(*n, what))
        .collect();
    if what.is_empty() {
        return None;
    }
    let who = of_all(t.flows, all.flows, "TCP flow");
    Some(format!("{who} had {}", what.join(", ")))
}

fn of_streams(all: &Totals, t: &StreamTotals) -> Option<String> {
    if t.reordered + t.missing + t.pauses == 0 {
        return None;
    }
    let who = of_all(t.streams, all.streams.streams, "numbered stream");
    let what = stream::sum(t.received, t.reordered, t.missing, t.pauses);
    Some(format!("in {who} {what}"))
}

/// `3 of 17 TCP flows`.
fn of_all(some: u64, all: u64, what: &str) -> String {
    format!("{} of {}", count(some), plural(all, what))
}
