//! The events and retransmissions that the time-sequence diagram marks.

use std::collections::BTreeMap;

use inorder_detect::{
    Cause, Confidence, Event, Evidence, FlowReport, Kind, Retransmission, Verdict,
};
use inorder_report::number::millis;

use super::{rounded, seconds};

/// Seconds, bytes, what, confidence, evidence, extent, late time in ms, frame number; names are positions in the lists
/// [`WHAT`], [`Confidence::NAMES`] and [`evidence`].
pub(crate) type EventRow = (f64, u64, usize, usize, usize, Option<u32>, Option<f64>, u64);

/// What an event or a retransmission is called on the page.
pub(crate) const WHAT: &[&str] = &[
    "late",
    "unclear",
    "lost",
    "refused",
    "sent again",
    "spurious",
];

/// What an event was concluded from, or why data was sent again.
pub(crate) fn evidence() -> Vec<&'static str> {
    [Evidence::NAMES, Cause::NAMES].concat()
}

/// The name of an event.
pub(crate) fn what(event: &Event) -> &'static str {
    match (event.confidence, event.kind) {
        (Confidence::Ambiguous, _) => "unclear",
        (_, Kind::Reordered) => "late",
        (_, Kind::Lost) => "lost",
        (_, _) => "refused",
    }
}

/// True if what it repeats had arrived.
pub(crate) fn is_spurious(retransmission: &Retransmission) -> bool {
    retransmission.verdict == Verdict::Spurious
}

/// Everything that would be marked if there were room.
pub(crate) fn number(flow: &FlowReport) -> usize {
    flow.records.events.len() + flow.records.retransmissions.len()
}

/// All marks if there is room for them. Otherwise half of the room is for the worst burst and half for the rest; of
/// each, the latest packet of every kind in equal intervals is drawn.
pub(crate) fn of(flow: &FlowReport, burst: Option<(i64, i64)>, room: usize) -> Vec<EventRow> {
    let events = flow
        .records
        .events
        .iter()
        .map(|e| (e.at_ns, event(flow, e)));
    let again = flow.records.retransmissions.iter();
    let again = again.map(|r| (r.at_ns, retransmission(flow, r)));
    let mut all: Vec<(i64, EventRow)> = events.chain(again).collect();
    if all.len() > room {
        let (from, until) = burst.unwrap_or((0, 0));
        let (near, far): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(at, _)| (from..=until).contains(at));
        let spared = (room / 2).saturating_sub(near.len());
        all = latest(near, room / 2);
        all.extend(latest(far, room / 2 + spared));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, row)| row).collect()
}

/// At most about `room` marks: in equal intervals of time the latest of each kind.
fn latest(marks: Vec<(i64, EventRow)>, room: usize) -> Vec<(i64, EventRow)> {
    let times = || marks.iter().map(|mark| mark.0);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return Vec::new();
    };
    if marks.len() <= room {
        return marks;
    }
    let intervals = (room / WHAT.len()).max(1) as i64;
    let width = (last - first) / intervals + 1;
    let mut kept: BTreeMap<(i64, usize), (i64, EventRow)> = BTreeMap::new();
    for mark in marks {
        let key = ((mark.0 - first) / width, mark.1.2);
        let place = kept.entry(key).or_insert(mark);
        if mark.1.6 > place.1.6 {
            *place = mark;
        }
    }
    kept.into_values().collect()
}

fn position(names: &[&str], name: &str) -> usize {
    names.iter().position(|n| *n == name).unwrap_or(0)
}

/// Microseconds: a chart of the worst burst shows no less.
fn micros(flow: &FlowReport, at_ns: i64) -> f64 {
    (seconds(flow, at_ns) * 1e6).round() / 1e6
}

fn event(flow: &FlowReport, event: &Event) -> EventRow {
    (
        micros(flow, event.at_ns),
        event.seq_offset,
        position(WHAT, what(event)),
        position(Confidence::NAMES, event.confidence.name()),
        position(Evidence::NAMES, event.evidence.name()),
        event.extent,
        event.late_ns.map(|ns| rounded(millis(ns))),
        event.frame,
    )
}

fn retransmission(flow: &FlowReport, r: &Retransmission) -> EventRow {
    let what = ["sent again", "spurious"][usize::from(is_spurious(r))];
    (
        micros(flow, r.at_ns),
        r.seq_offset,
        position(WHAT, what),
        position(Confidence::NAMES, r.confidence.name()),
        Evidence::NAMES.len() + position(Cause::NAMES, r.cause.name()),
        None,
        None,
        r.frame,
    )
}
