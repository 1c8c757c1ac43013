//! How coarse a sender's timestamp clock is: RFC 7323 section 5.4 allows ticks from 1 ms to 1 s.

use inorder_wire::Segment;

/// What the timestamps of one host's data show of its clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StampClock {
    last: Option<u32>,
    /// That of the latest data out of order, if it is later.
    latest: Option<u32>,
    /// When data first came with that timestamp, nanoseconds.
    since_ns: i64,
    /// The longest time over which the timestamp of data in order did not change, nanoseconds.
    longest_ns: i64,
    /// The first timestamp, and when it came, nanoseconds; without meaning while there is no last one.
    first: u32,
    first_ns: i64,
    /// The smallest difference of two timestamps of data in order; 0 if none has been seen.
    step: u32,
}

/// The tick that most clocks have, nanoseconds.
const USUAL_TICK_NS: i64 = 1_000_000;
/// The shortest of RFC 7323 section 5.4, nanoseconds.
const MIN_TICK_NS: i64 = 1_000_000;
/// Ticks after which it is known how long one takes.
const MIN_TICKS: u32 = 16;
/// Steps of the clock after which whatever is sent bears another timestamp: one, and one more because packets take different times to the capture point.
const STEPS: i64 = 2;

impl StampClock {
    /// Data in order.
    #[inline]
    pub(crate) fn note(&mut self, seg: &Segment) {
        if self.last == Some(seg.tsval) {
            self.longest_ns = self.longest_ns.max(seg.ts_ns - self.since_ns);
        } else {
            self.note_step(seg);
            (self.last, self.since_ns) = (Some(seg.tsval), seg.ts_ns);
        }
    }

    fn note_step(&mut self, seg: &Segment) {
        let Some(last) = self.last else {
            (self.first, self.first_ns) = (seg.tsval, seg.ts_ns);
            return;
        };
        let step = seg.tsval.wrapping_sub(last);
        if (step as i32) > 0 && (self.step == 0 || step < self.step) {
            self.step = step;
        }
    }

    /// Data that was sent again `apart_ns` later bears another timestamp: it is known how long the steps of the clock are.
    pub(crate) fn moves_within(&self, apart_ns: i64) -> bool {
        let Some(last) = self.last else {
            return false;
        };
        let ticks = last.wrapping_sub(self.first);
        let tick_ns = self.since_ns.saturating_sub(self.first_ns) / i64::from(ticks.max(1));
        let step_ns = tick_ns.saturating_mul(i64::from(self.step));
        let known = (MIN_TICKS..=i32::MAX as u32).contains(&ticks) && step_ns > 0;
        known && apart_ns > step_ns.saturating_mul(STEPS)
    }

    /// Data out of order. Returns how long it was sent behind all data before, at least, as its timestamp tells, nanoseconds; 0 if that
    /// tells nothing.
    pub(crate) fn note_stray(&mut self, seg: &Segment) -> i64 {
        let behind = |stamp| seg.tsval.wrapping_sub(stamp) as i32;
        let before = self.last.into_iter().chain(self.latest).map(behind);
        let ticks = before.min().unwrap_or(0);
        if ticks >= 0 {
            self.latest = Some(seg.tsval);
        }
        // Where the line is slow, packets of one tick come long after each other: that shows no tick.
        i64::from(ticks.max(0)) * MIN_TICK_NS
    }

    /// The last timestamp of data in order.
    pub(crate) fn last(&self) -> Option<u32> {
        self.last
    }

    /// Minimum length of a tick, as far as it is known, nanoseconds.
    pub(crate) fn tick_ns(&self) -> i64 {
        self.longest_ns.max(USUAL_TICK_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_that_stays_shows_how_long_a_tick_is() {
        let mut clock = StampClock::default();
        let data = |ms: i64, tsval| segment!(ts_ns: ms * 1_000_000, tsval);
        for (ms, tsval) in [(0, 7), (1, 8), (2, 9)] {
            clock.note(&data(ms, tsval));
        }
        assert_eq!(clock.tick_ns(), 1_000_000);
        for (ms, tsval) in [(100, 10), (150, 10), (199, 10), (200, 11)] {
            clock.note(&data(ms, tsval));
        }
        assert_eq!(clock.tick_ns(), 99_000_000);
        assert!(!clock.moves_within(20_000_000), "4 ticks in 200 ms");
        let mut behind = |tsval| clock.note_stray(&data(9, tsval));
        assert_eq!(behind(18), 7_000_000);
        assert_eq!(behind(10), 0, "sent before");
        assert_eq!(behind(20), 2_000_000);
        // Steps of ten milliseconds in a clock that counts milliseconds.
        let mut coarse = StampClock::default();
        for n in 0..20 {
            coarse.note(&data(10 * n, 10 * n as u32));
        }
        assert!(!coarse.moves_within(20_000_000) && coarse.moves_within(21_000_000));
        let mut from_zero = StampClock::default();
        from_zero.note(&data(1_000, 0));
        assert_eq!(from_zero.tick_ns(), 1_000_000, "a clock may begin with 0");
    }
}
