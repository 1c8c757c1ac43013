//! The second sentence: whether reordering is the problem, and what else happened.

use inorder_detect::{Cause, FlowReport, StreamTotals, Totals, Trouble};
use inorder_report::number::{count, plural};

use super::claim::{About, Claim, Counted};
use super::{attempts, flow, stream, was};
use crate::gravity::Subject;
use crate::model::Analysis;
use crate::shares;

/// The claims, if there is anything to say. `told` says that the first sentence names the worst trouble of its flow, and
/// not only what held it back.
pub(super) fn of(
    analysis: &Analysis,
    all: &Totals,
    troubled: &[Subject<'_>],
    told: bool,
) -> Vec<Claim> {
    let Some(worst) = troubled.first() else {
        return Vec::new();
    };
    let elsewhere = late_elsewhere(all, worst);
    let mut claims = Vec::new();
    let reordering = match &elsewhere {
        Some(claim) => Some(claim.clone()),
        None => about_reordering(all, worst),
    };
    if let (Subject::Flow(flow), false) = (worst, told) {
        // Late packets that took no time are said to have taken none, and no more.
        let acquitted = matches!(reordering, Some(Claim::NotReordering { .. }));
        let of_others =
            |claim: &Claim| matches!(claim, Claim::Outside { .. } | Claim::Reneged { .. });
        let told = |claim: &Claim| !(is_late(flow) && acquitted) || of_others(claim);
        claims.extend(flow::wrong(flow).into_iter().filter(told));
    }
    let part = matches!(reordering, Some(Claim::PartReordering { .. }));
    claims.extend(reordering);
    claims.extend(same_flow(worst, part));
    if let Subject::Flow(flow) = worst
        && flow::leading(flow) != Some(Trouble::Reset)
    {
        claims.extend(flow::reset(flow));
    }
    let other = |about, text| Claim::Other { about, text };
    claims.extend(
        others(analysis, all, worst, &troubled[1..], elsewhere.is_some())
            .map(|text| other(About::Others, text)),
    );
    claims.extend(attempts::besides(&analysis.attempts).map(|text| other(About::Attempts, text)));
    claims
}

/// The worst trouble of the flow is its late packets.
fn is_late(flow: &FlowReport) -> bool {
    matches!(
        flow::leading(flow),
        Some(Trouble::Reordering | Trouble::Refused)
    )
}

/// Whether reordering is the problem; nothing if its claims say what it did.
fn about_reordering(t: &Totals, worst: &Subject<'_>) -> Option<Claim> {
    match worst {
        Subject::Flow(flow) => of_flow(flow, t),
        Subject::Stream(_) if worst.gravity().worst() == Some(Trouble::Reordering) => None,
        // The sentences on the streams say what was late in them.
        Subject::Stream(_) if t.flows == 0 && t.streams.reordered > 0 => None,
        Subject::Stream(_) => Some(beside_streams(t)),
    }
}

/// Whether late packets are what made one flow slow.
fn of_flow(flow: &FlowReport, t: &Totals) -> Option<Claim> {
    if let Some(Claim::Clean) = flow::wrong(flow).first() {
        return None;
    }
    let late = flow.late();
    let perhaps = flow.reordering.ambiguous;
    let many = perhaps as f64 > shares::UNNOTICED * flow.came() as f64;
    let undecided = if late == 0 && many { perhaps } else { 0 };
    let not = |at_most| Claim::NotReordering {
        late,
        of: flow.came(),
        of_all: false,
        undecided,
        upstream: upstream(flow),
        at_most,
    };
    if let Some((low, high)) = shares::taken_by_late(flow) {
        if high < shares::UNNOTICED {
            return Some(not((late + undecided > 0).then_some(high)));
        }
        return match is_late(flow) {
            true => None,
            false => {
                let part = low >= shares::UNNOTICED || is_spurious(flow);
                Some(part_or_open(flow, part, Some(low)))
            }
        };
    }
    if is_late(flow) {
        return None;
    }
    let caused = flow.recoveries.of(Cause::Reordering).recoveries > 0;
    match !caused && harmless(flow) {
        // Of other flows as well, where those have any.
        true if late == t.order.late => Some(not(None)),
        true => Some(Claim::NotReordering {
            late: t.order.late,
            of: t.order.came,
            of_all: true,
            undecided: 0,
            upstream: upstream(flow),
            at_most: None,
        }),
        false => Some(part_or_open(flow, caused || is_spurious(flow), None)),
    }
}

fn part_or_open(flow: &FlowReport, part: bool, at_least: Option<f64>) -> Claim {
    let (again, recoveries) = (flow.retransmissions, &flow.recoveries);
    let caused = flow.recoveries.of(Cause::Reordering).recoveries;
    match part && caused + shares::repeated_in_vain(flow) > 0 {
        true => Claim::PartReordering {
            late: flow.late(),
            retransmissions: (again.spurious, again.total),
            discarded: shares::repeated_in_vain(flow).saturating_sub(again.spurious),
            recoveries: (caused, recoveries.total),
            at_least,
        },
        false => Claim::OpenReordering {
            late: flow.late(),
            undecided: flow.reordering.ambiguous.max(again.ambiguous),
            upstream: upstream(flow),
        },
    }
}

/// Packets that were late where the capture was made. The capture need not show whether they were for the receiver.
fn upstream(flow: &FlowReport) -> u64 {
    flow.upstream.as_ref().map_or(0, |order| order.reordered)
}

/// Late packets beside spurious retransmissions that cannot be left out of account.
fn is_spurious(flow: &FlowReport) -> bool {
    let again = flow.retransmissions;
    flow.late() > 0
        && shares::repeated_in_vain(flow) as f64 > shares::UNNOTICED * again.total as f64
}

/// By its counts, late packets did the flow no harm, and nothing undecided or unseen could change that.
fn harmless(flow: &FlowReport) -> bool {
    let again = flow.retransmissions;
    let undecided = flow.reordering.ambiguous + again.ambiguous;
    let decided = flow.originals.lost + flow.late() + again.total;
    let few = |n: u64, all: u64| n as f64 <= shares::UNNOTICED * all as f64;
    let explained = 2 * flow.recoveries.of(Cause::Unknown).recoveries <= flow.recoveries.total;
    !flow.blind.any() && explained && few(undecided, decided) && !is_spurious(flow)
}

/// What TCP's late packets did, where a numbered stream is worse off.
fn beside_streams(t: &Totals) -> Claim {
    let caused = t.recoveries.by_cause[Cause::Reordering as usize];
    if caused > 0 {
        return Claim::PartReordering {
            late: t.order.late,
            retransmissions: (t.retransmissions.spurious, t.retransmissions.total),
            discarded: 0,
            recoveries: (caused, t.recoveries.total),
            at_least: None,
        };
    }
    if t.order.late == 0 && t.streams.reordered > 0 {
        let text = format!(
            "no packet of TCP was seen to be late, {} of the numbered streams {}",
            plural(t.streams.reordered, "packet"),
            was(t.streams.reordered)
        );
        return Claim::Other {
            about: About::Streams,
            text,
        };
    }
    Claim::NotReordering {
        late: t.order.late,
        of: t.order.came,
        of_all: true,
        undecided: 0,
        upstream: 0,
        at_most: None,
    }
}

/// Late packets that harmed nothing and of which the flow of the first sentence has none.
fn late_elsewhere(t: &Totals, worst: &Subject<'_>) -> Option<Claim> {
    let Subject::Flow(flow) = worst else {
        return None;
    };
    let spurious =
        t.retransmissions.spurious as f64 > shares::UNNOTICED * t.retransmissions.total as f64;
    let no_harm =
        t.recoveries.by_cause[Cause::Reordering as usize] == 0 && !spurious && harmless(flow);
    let elsewhere = t.order.late > 0 && flow.late() == 0;
    (no_harm && elsewhere).then_some(Claim::LateElsewhere {
        late: t.order.late,
        flows: t.reordered_flows,
        of_two: t.flows == 2,
    })
}

/// What else happened to the flow of the first sentence, beside spurious retransmissions that other claims name.
fn same_flow(worst: &Subject<'_>, spurious_told: bool) -> Option<Claim> {
    let Subject::Flow(flow) = worst else {
        return None;
    };
    let lead = flow::leading(flow);
    let mut counts = Vec::new();
    let mut push = |n, of, noun, state| counts.push(Counted { n, of, noun, state });
    if flow.originals.lost > 0 && !matches!(lead, Some(Trouble::Loss | Trouble::Unanswered)) {
        push(flow.originals.lost, None, "packet", "lost");
    }
    if flow.originals.outside_window > 0 && !is_late(flow) {
        let state = "outside the receiver's window";
        push(flow.originals.outside_window, None, "packet", state);
    }
    if flow.originals.reneged > 0 && !is_late(flow) {
        let state = "discarded by the receiver after it had reported them";
        push(flow.originals.reneged, None, "packet", state);
    }
    if flow.endpoints.handshake.syns_again > 0 && lead != Some(Trouble::Handshake) {
        push(
            flow.endpoints.handshake.syns_again,
            None,
            "SYN",
            "sent again",
        );
    }
    let closing = &flow.endpoints.closing;
    if closing.fins_again > 0 && lead != Some(Trouble::Closing) {
        push(closing.fins_again, None, "FIN", "sent again");
    }
    if let Some(silence) = closing.silence.filter(|_| lead != Some(Trouble::Silence)) {
        push(silence.keep_alives, None, "keep-alive", "unanswered");
    }
    let again = flow.retransmissions;
    let told = match lead {
        Some(Trouble::TailProbe | Trouble::InAdvance) => true,
        Some(Trouble::Unexplained) => flow::all_in_vain(flow),
        _ => is_late(flow),
    };
    if again.spurious > 0 && !told && !spurious_told {
        push(
            again.spurious,
            Some(again.total),
            "retransmission",
            "spurious",
        );
    }
    (!counts.is_empty()).then_some(Claim::Also { counts })
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
        flows.order.late = 0;
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
        (t.originals.lost, "lost packet"),
        (t.order.late, "late packet"),
        (t.retransmissions.spurious, "spurious retransmission"),
        (t.recoveries.expiries, "time-out"),
    ];
    let what: Vec<String> = what
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| plural(*n, what))
        .chain(
            (t.openings.syns_again > 0)
                .then(|| format!("{} sent again", plural(t.openings.syns_again, "SYN"))),
        )
        .chain(
            (t.openings.fins_again > 0)
                .then(|| format!("{} sent again", plural(t.openings.fins_again, "FIN"))),
        )
        .chain((t.openings.cut_off > 0).then(|| {
            format!(
                "{} with data under way",
                plural(t.openings.cut_off, "reset")
            )
        }))
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
