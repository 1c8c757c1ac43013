//! Several captures side by side: a line for each, and which of them matter most.

use std::cmp::Ordering;

use inorder_detect::{Cause, FlowReport, Gravity, StreamReport, Totals, Trouble};
use inorder_report::number::{self, count, plural, time_u64};
use inorder_report::{Column, Digits, columns};

use crate::gravity::{Subject, troubled};
use crate::headline::{Claim, bounds, headline, share, subject};
use crate::limits::{labels_of, troubled_share};
use crate::model::Analysis;

/// One capture of several, in a line.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The capture.
    pub file: String,
    frames: u64,
    flows: u64,
    /// Payload of the flow that the first sentence is about over the time it took.
    goodput_bps: Option<u64>,
    trouble: String,
    limit: String,
    lead: String,
    gravity: f64,
    held: f64,
    totals: Totals,
}

impl Line {
    /// The line of a capture.
    pub fn of(analysis: &Analysis) -> Line {
        let totals = analysis.totals();
        let attempts = Gravity::of_attempts(&analysis.attempts);
        let subject = subject(analysis);
        let worst = troubled(analysis).into_iter().next();
        let gravity = worst.map_or(0.0, |of| of.gravity().key());
        let failed = analysis.attempts.failed();
        let trouble = match worst {
            _ if failed > 0 && attempts > gravity => {
                format!("{} to connect failed", plural(failed, "attempt"))
            }
            Some(Subject::Flow(flow)) => of_flow(flow),
            Some(Subject::Stream(stream)) => of_stream(stream),
            None => String::new(),
        };
        let flow = match subject {
            Some(Subject::Flow(flow)) => Some(flow),
            Some(Subject::Stream(_)) | None => None,
        };
        let said = headline(analysis);
        Line {
            file: analysis.file.clone(),
            frames: analysis.frames,
            flows: totals.flows + totals.streams.streams,
            goodput_bps: flow.and_then(FlowReport::goodput_bps),
            trouble,
            limit: flow.map_or_else(String::new, |flow| limit(flow, &said.claims)),
            lead: said.lead,
            gravity: gravity.max(attempts),
            held: flow.map_or(0.0, |flow| troubled_share(&flow.limits)),
            totals,
        }
    }

    /// The columns: of files all, of people some.
    pub const COLUMNS: &'static [Column<Line>] = LINE;

    /// True if something happened that whoever looks for trouble should look at.
    pub(crate) fn is_troubled(&self) -> bool {
        !self.trouble.is_empty() || self.held > 0.0
    }

    /// The worst trouble in a few words; empty without any.
    pub(crate) fn trouble(&self) -> &str {
        &self.trouble
    }

    /// The first sentence about it.
    pub(crate) fn lead(&self) -> &str {
        &self.lead
    }

    /// The most severe first; among equals the one that something to be removed held for longer.
    fn cmp_severity(&self, other: &Line) -> Ordering {
        other
            .gravity
            .total_cmp(&self.gravity)
            .then(other.held.total_cmp(&self.held))
    }
}

/// The lines in the order of their severity, the most severe first.
pub(crate) fn by_severity(lines: &[Line]) -> Vec<&Line> {
    let mut all: Vec<&Line> = lines.iter().collect();
    all.sort_by(|a, b| a.cmp_severity(b));
    all
}

/// What held `flow` longest by the claims on it, with its share of the time: `receiver's window 52 %`.
fn limit(flow: &FlowReport, claims: &[Claim]) -> String {
    let main = claims.iter().find_map(|claim| match claim {
        Claim::Held(held) => {
            let doubt = if held.sure { "" } else { "perhaps " };
            let labels = labels_of(flow, held.limits());
            Some(format!("{doubt}{labels} {}", bounds(&held.part)))
        }
        Claim::Short { opening, start, .. } => Some(format!(
            "handshake and slow start {}",
            share(opening + start)
        )),
        _ => None,
    });
    main.unwrap_or_default()
}

/// `2.3 % of arrivals late`: what was lost cannot be.
fn late_of_arrived(late: u64, arrived: u64) -> String {
    format!("{} of arrivals late", number::share(late, arrived))
}

/// The worst trouble of a flow in a few words.
fn of_flow(flow: &FlowReport) -> String {
    let order = &flow.reordering;
    let recoveries = |cause: Cause| flow.recoveries.of(cause).recoveries;
    let of_cause = |cause, what: &str| format!("{}{what}", unnecessary(recoveries(cause)));
    match Gravity::of_flow(flow).worst() {
        Some(Trouble::Loss) => format!(
            "{} lost",
            number::share(flow.originals.lost, flow.originals.packets)
        ),
        Some(Trouble::Refused) => format!("{} refused", plural(flow.originals.refused, "packet")),
        Some(Trouble::Reordering) => {
            let late = late_of_arrived(order.reordered, order.received);
            match recoveries(Cause::Reordering) {
                0 => late,
                n => format!("{late}, {}", unnecessary(n)),
            }
        }
        Some(Trouble::AckReordering) => of_cause(Cause::AckReordering, " by late ACKs"),
        Some(Trouble::DelayJump) => of_cause(Cause::DelayJump, " by delay jumps"),
        Some(Trouble::TailProbe) => "tail loss probes without need".to_owned(),
        Some(Trouble::InAdvance) => "data sent again in advance".to_owned(),
        Some(Trouble::Unanswered) => "data that nothing acknowledged".to_owned(),
        Some(Trouble::Handshake) => plural(flow.endpoints.handshake.syns_again, "repeated SYN"),
        Some(Trouble::Reset) => "reset with data under way".to_owned(),
        Some(Trouble::Silence) => "keep-alives that nothing answered".to_owned(),
        Some(Trouble::Closing) => plural(flow.endpoints.closing.fins_again, "repeated FIN"),
        Some(Trouble::Unexplained) => "retransmissions of unknown cause".to_owned(),
        Some(Trouble::Unclear) => plural(order.ambiguous, "undecided event"),
        Some(Trouble::HeldBack) => "held back".to_owned(),
        None if flow.retransmissions.total == 0 => String::new(),
        _ => plural(flow.retransmissions.total, "retransmission"),
    }
}

fn unnecessary(n: u64) -> String {
    match n {
        1 => "1 unnecessary recovery".to_owned(),
        n => format!("{} unnecessary recoveries", count(n)),
    }
}

/// The worst trouble of a stream in a few words.
fn of_stream(stream: &StreamReport) -> String {
    let order = &stream.order;
    match Gravity::of_stream(stream).worst() {
        Some(Trouble::Loss) => {
            let all = order.received + stream.skipped.missing;
            format!("{} missing", number::share(stream.skipped.missing, all))
        }
        Some(Trouble::Reordering) => late_of_arrived(order.reordered, order.received),
        Some(Trouble::Pauses) => format!("silent for {}", time_u64(stream.skipped.pauses.total_ns)),
        Some(Trouble::Absent) => format!("{} absent", plural(stream.skipped.absent, "number")),
        Some(Trouble::Copies) => plural(stream.twice.duplicates, "duplicate"),
        Some(Trouble::Unanswered) => {
            format!(
                "no reply seen to {}",
                plural(stream.unanswered, "echo request")
            )
        }
        _ => plural(order.ambiguous, "undecided packet"),
    }
}

columns! {
    /// The columns for people.
    pub(crate) LINE: Line, |l|
    "file": Text, "The capture." => l.file.as_str(), shown("capture", 0);
    "trouble": Text, "The worst trouble of a flow or stream of it." => seen(&l.trouble), shown("worst trouble", 0);
    "limit": Text, "What limited the flow of the first sentence longest, as that says, with its share of the time."
        => seen(&l.limit), shown("main limit", 1);
    "goodput_bps": Rate, "Goodput of the flow of the first sentence."
        => l.goodput_bps, optional(), shown("goodput", 0);
    "flows": Count, "TCP flows with data, and other numbered streams." => l.flows, shown("flows", 2);
    "frames": Count, "Frames analysed." => l.frames, shown("frames", 3);
    "sentence": Text, "The first sentence of `inorder analyze` about it." => l.lead.as_str();
    "severity": Number(Digits::Short), "The order of severity: greater for worse troubles, 0 without any."
        => l.gravity;
    "held_share": Share, "Share of the time of the flow of the first sentence that limits held which somebody may want to remove."
        => l.held;
    "packets": Count, "Data packets of TCP, and packets of other numbered streams."
        => l.totals.originals.packets + l.totals.streams.received;
    "late": Count, "Of these, late." => l.totals.order.reordered + l.totals.streams.reordered;
    "lost": Count, "Of these, lost." => l.totals.originals.lost + l.totals.streams.missing;
    "retransmissions": Count, "Retransmissions." => l.totals.retransmissions.total;
    "spurious": Count, "Of these, spurious." => l.totals.retransmissions.spurious;
}

fn seen(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(LINE), none);
    }

    #[test]
    fn a_capture_without_trouble_comes_last() {
        let line = |file: &str, gravity, held| Line {
            gravity,
            held,
            ..Line::of(&Analysis {
                file: file.to_owned(),
                ..Analysis::default()
            })
        };
        let lines = [
            line("fine", 0.0, 0.0),
            line("closed window", 0.0, 0.5),
            line("lossy", 3.0, 0.0),
        ];
        let order: Vec<&str> = by_severity(&lines)
            .iter()
            .map(|l| l.file.as_str())
            .collect();
        assert_eq!(order, ["lossy", "closed window", "fine"]);
    }
}
