//! The events that the time-sequence diagram marks.

use std::collections::BTreeMap;

use inorder_detect::names::Name;
use inorder_detect::{Confidence, Event, FlowReport, Kind};
use inorder_report::number::millis;

use super::{rounded, seconds};

/// Seconds, bytes, what, confidence, evidence, extent, late time in ms, frame number; names are positions in the lists
/// [`WHAT`], [`Confidence::NAMES`] and [`Evidence::NAMES`](inorder_detect::Evidence).
pub(crate) type EventRow = (f64, u64, usize, usize, usize, Option<u32>, Option<f64>, u64);

/// What an event is called on the page.
pub(crate) const WHAT: &[&str] = &["late", "unclear", "lost", "refused"];

/// The name of an event.
pub(crate) fn what(event: &Event) -> &'static str {
    match (event.confidence, event.kind) {
        (Confidence::Ambiguous, _) => "unclear",
        (_, Kind::Reordered) => "late",
        (_, Kind::Lost) => "lost",
        (_, _) => "refused",
    }
}

/// All events if there is room for them. Otherwise half of the room is for the worst burst and half for the rest; of
/// each, the latest packet of every kind in equal intervals is drawn.
pub(crate) fn of(flow: &FlowReport, burst: Option<(i64, i64)>, room: usize) -> Vec<EventRow> {
    let all = &flow.events;
    if all.len() <= room {
        return all.iter().map(|event| row(flow, event)).collect();
    }
    let (from, until) = burst.unwrap_or((0, 0));
    let inside = |event: &&Event| (from..=until).contains(&event.at_ns);
    let near: Vec<&Event> = all.iter().filter(inside).collect();
    let far: Vec<&Event> = all.iter().filter(|e| !inside(e)).collect();
    let spared = (room / 2).saturating_sub(near.len());
    let mut drawn = latest(&near, room / 2);
    drawn.extend(latest(&far, room / 2 + spared));
    drawn.sort_by_key(|event| event.at_ns);
    drawn.into_iter().map(|event| row(flow, event)).collect()
}

/// At most about `room` events: in equal intervals of time the latest of each kind.
fn latest<'e>(events: &[&'e Event], room: usize) -> Vec<&'e Event> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Vec::new();
    };
    if events.len() <= room {
        return events.to_vec();
    }
    let intervals = (room / WHAT.len()).max(1) as i64;
    let width = (last.at_ns - first.at_ns) / intervals + 1;
    let mut kept: BTreeMap<(i64, &str), &Event> = BTreeMap::new();
    for event in events {
        let key = ((event.at_ns - first.at_ns) / width, what(event));
        let place = kept.entry(key).or_insert(event);
        if event.late_ns > place.late_ns {
            *place = event;
        }
    }
    kept.into_values().collect()
}

fn row(flow: &FlowReport, event: &Event) -> EventRow {
    let position = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or(0);
    (
        // Microseconds: a chart of the worst burst shows no less.
        (seconds(flow, event.at_ns) * 1e6).round() / 1e6,
        event.seq_offset,
        position(WHAT, what(event)),
        position(Confidence::NAMES, event.confidence.name()),
        position(inorder_detect::Evidence::NAMES, event.evidence.name()),
        event.extent,
        event.late_ns.map(|ns| rounded(millis(ns))),
        event.frame,
    )
}
