//! What shows only next to other round trips: a line that may be full without a queue, what grows, and what has stopped growing.

use super::reduced::Reduced;
use super::rounds::UNKNOWN_TIMER_NS;
use super::state::{Course, PERHAPS_BUSY, State};

/// Without a queue that shows, a line may be busy at this share of its rate.
const NEARLY_BUSY: f64 = 0.8;
/// A row is as fast as another that reaches this share of its rate.
const AS_FAST: f64 = 0.9;

impl Course<'_> {
    /// A window that is reduced may fill a line without a queue that shows: at the rate `most` that the line carries, or, away from the
    /// sender where no rate is known, as fast as ever. Packets of a busy line come without gaps.
    pub(super) fn note_hidden_queues(&self, states: &mut [State], most: Option<f64>) {
        let fastest = states.iter().map(|state| state.rate).fold(0.0, f64::max);
        let least = match (most, self.spaced) {
            (Some(most), _) => NEARLY_BUSY * most,
            (None, _) if self.at_sender => return,
            (None, Some(spaced)) => PERHAPS_BUSY * spaced,
            (None, None) => PERHAPS_BUSY * fastest,
        };
        for state in states.iter_mut().filter(|state| !state.line) {
            let reduced = state.reduced != Reduced::Not;
            state.perhaps_line |= reduced && state.even && state.rate >= least;
        }
    }

    /// What grew from each row to the next. A congestion window stays as large as it was until it is reduced (RFC 5681 section 3.1) or
    /// the sender pauses for longer than its timer (section 4.1).
    pub(super) fn note_growth(&self, states: &mut [State]) {
        let pause_ns = UNKNOWN_TIMER_NS.max(self.min_rtt_ns);
        let (mut allowed, mut before) = (0, 0.0);
        for (row, state) in self.rows.iter().zip(states) {
            let paused = row.gap_ns >= pause_ns;
            let spare = !paused && row.peak.saturating_add(self.mss) < allowed;
            state.spare = spare && state.reduced == Reduced::Not;
            state.rising = before < AS_FAST * state.rate;
            // What a row with a pause has in flight may be from before it.
            allowed = if paused { 0 } else { row.peak.max(allowed) };
            before = state.rate;
        }
    }

    /// What has as much in flight as a plateau behind it has stopped growing; and what has as much in flight after a reduction as
    /// on a plateau before the first one is held by the same.
    pub(super) fn past_growth(&self, states: &mut [State]) {
        if let Some(level) = self.level_of_buffer(states) {
            for (row, state) in self.rows.iter().zip(states.iter_mut()) {
                let same = row.peak.saturating_sub(level).saturating_abs() <= self.mss;
                state.flight.plateau |= state.reduced != Reduced::Not && same;
            }
        }
        let mut least: Option<i64> = None;
        for (row, state) in self.rows.iter().zip(states).rev() {
            if state.reduced != Reduced::Not {
                continue;
            }
            if state.flight.plateau {
                least = Some(least.map_or(row.peak, |peak| peak.min(row.peak)));
            }
            state.flight.plateau |=
                least.is_some_and(|least| row.peak >= least.saturating_sub(self.mss));
        }
    }

    /// Bytes in flight that the socket's buffer seems to allow: on a plateau before any reduction, over no queue, and never more.
    fn level_of_buffer(&self, states: &[State]) -> Option<i64> {
        let of_buffer = |state: &State| {
            let plain = state.reduced == Reduced::Not && state.flight.plateau;
            plain && !state.line && !state.queue && !state.paced && !state.unused
        };
        let rows = self.rows.iter().zip(states);
        let held = rows.filter(|(_, state)| of_buffer(state));
        let level = held.map(|(row, _)| row.peak).max()?;
        (self.highest <= level.saturating_add(self.mss)).then_some(level)
    }
}
