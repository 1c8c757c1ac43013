//! The stretch of a flow with the most trouble: what the time-sequence diagram shows first.

use inorder_detect::{Event, FlowReport};
use inorder_report::number::{plural, time};

/// A stretch is at least this share of the flow: shorter ones show too little around the trouble.
const SHARE: i64 = 200;
/// It is at least this many round trips, so that both cause and consequence are in it.
const ROUND_TRIPS: i64 = 2;

/// The worst stretch of a flow, and what happened in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Burst {
    /// Begin, nanoseconds since the epoch.
    pub from_ns: i64,
    /// End.
    pub until_ns: i64,
    counts: Counts,
    whole: Counts,
    begin_ns: i64,
    span_ns: i64,
}

/// What happened in a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Counts {
    late: u64,
    lost: u64,
    refused: u64,
    unclear: u64,
    again: u64,
}

impl Burst {
    /// The stretch with the most late, lost and refused packets and retransmissions; `None` if there are none, or if
    /// the flow is no longer than such a stretch.
    pub(crate) fn of(flow: &FlowReport) -> Option<Burst> {
        let span_ns = flow.last_ns.saturating_sub(flow.first_ns);
        let vantage = &flow.vantage;
        let [there, here] =
            [vantage.to_receiver_ns, vantage.to_sender_ns].map(|ns| ns.unwrap_or(0));
        let trip = there.saturating_add(here).max(flow.min_rtt_ns.unwrap_or(0));
        let length = (span_ns / SHARE).max(trip.saturating_mul(ROUND_TRIPS));
        if length <= 0 || length >= span_ns / 2 {
            return None;
        }
        let mut times: Vec<i64> = flow.records.events.iter().map(|e| e.at_ns).collect();
        times.extend(flow.records.retransmissions.iter().map(|r| r.at_ns));
        let (from, until) = within(flow, length);
        times.retain(|at| (from..=until).contains(at));
        times.sort_unstable();
        let first = busiest(&times, length)?;
        // What led to it, and what followed.
        let from_ns = first.saturating_sub(length / 4).max(flow.first_ns);
        let until_ns = from_ns.saturating_add(length / 2 * 3).min(flow.last_ns);
        Some(Burst {
            from_ns,
            until_ns,
            counts: Counts::of(flow, from_ns, until_ns),
            whole: Counts::of(flow, i64::MIN, i64::MAX),
            begin_ns: flow.first_ns,
            span_ns,
        })
    }

    /// Describes the stretch and the whole flow in two sentences.
    pub(crate) fn caption(&self) -> String {
        format!(
            "Shown first: the {} with the most trouble, from {} on: {}. In the whole {}: {}.",
            time(self.until_ns - self.from_ns),
            time(self.from_ns - self.begin_ns),
            self.counts.words(),
            time(self.span_ns),
            self.whole.words()
        )
    }
}

/// Where to look: between the points that are all kept, if that is longer than the stretch to find.
fn within(flow: &FlowReport, length: i64) -> (i64, i64) {
    let long = |(from, until): &(i64, i64)| until.saturating_sub(*from) > length;
    flow.records
        .stretch_ns
        .filter(long)
        .unwrap_or((i64::MIN, i64::MAX))
}

/// The first time of the stretch of `length` with the most times in it.
fn busiest(sorted: &[i64], length: i64) -> Option<i64> {
    let mut best: Option<(usize, i64)> = None;
    let mut start = 0;
    for (end, &at) in sorted.iter().enumerate() {
        while sorted[start] < at.saturating_sub(length) {
            start += 1;
        }
        let inside = end - start + 1;
        if best.is_none_or(|(most, _)| inside > most) {
            best = Some((inside, sorted[start]));
        }
    }
    best.map(|(_, first)| first)
}

impl Counts {
    fn of(flow: &FlowReport, from_ns: i64, until_ns: i64) -> Counts {
        let inside = |at_ns: i64| (from_ns..=until_ns).contains(&at_ns);
        let mut counts = Counts::default();
        for event in flow.records.events.iter().filter(|e| inside(e.at_ns)) {
            *counts.of_event(event) += 1;
        }
        let again = flow.records.retransmissions.iter();
        counts.again = again.filter(|r| inside(r.at_ns)).count() as u64;
        counts
    }

    fn of_event(&mut self, event: &Event) -> &mut u64 {
        match super::events::what(event) {
            "unclear" => &mut self.unclear,
            "late" => &mut self.late,
            "lost" => &mut self.lost,
            _ => &mut self.refused,
        }
    }

    fn words(&self) -> String {
        let all = [
            (self.late, "late packet"),
            (self.lost, "lost packet"),
            (self.refused, "refused packet"),
            (self.unclear, "unclear event"),
            (self.again, "retransmission"),
        ];
        let said: Vec<String> = all
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| plural(*n, what))
            .collect();
        match said.is_empty() {
            true => "nothing".to_owned(),
            false => said.join(", "),
        }
    }
}
