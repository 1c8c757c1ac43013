//! The receiver's timestamp clock beside the capture's: when an ACK left, at the latest.
//!
//! A timestamp is a clock's reading when the ACK left (RFC 7323 section 4.1). Where the way back was held up, that tells more
//! than the time at which the ACK was captured: a report that left before a retransmission can have arrived is about the
//! original.

use inorder_wire::{Has, Segment};

/// Ticks of the clocks of common stacks, nanoseconds.
const TICKS_NS: [i64; 5] = [1_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000];
/// The length of a tick is not judged before so many ticks have been counted.
const MIN_TICKS: i64 = 40;
/// Nor before so many nanoseconds have passed: a delay that changes meanwhile must not make one length look like another.
const MIN_SPAN_NS: i64 = 400_000_000;
/// The clock's ticks may differ by one part in so many from those of [`TICKS_NS`].
const TOLERANCE: i64 = 16;
/// Two clocks drift apart by less than one part in so many.
const DRIFT: i64 = 2_000;
/// If an ACK comes by more than this before its reading allows, the readings are not those of a clock, nanoseconds.
const MAX_EARLY_NS: i64 = 20_000_000;
/// If so many ACKs in a row have readings older than one before them, they were not overtaken: the readings went back.
const MAX_OLDER: u8 = 64;

/// What is known of the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverClock {
    /// The first reading, and when it was captured, nanoseconds.
    first: Option<(u32, i64)>,
    last: u32,
    /// When the last reading was captured, nanoseconds.
    last_ns: i64,
    /// 0: not known.
    tick_ns: i64,
    /// When a reading of 0, counted from the first, would have been captured had its ACK come by the fastest way; the greatest
    /// number before that is known.
    zero_ns: i64,
    /// ACKs in a row whose readings are older than the latest.
    older: u8,
    /// Its readings are not those of a clock: nothing is concluded from them.
    useless: bool,
}

impl ReceiverClock {
    /// The next ACK in the order in which they left.
    #[inline]
    pub(super) fn note(&mut self, seg: &Segment) {
        // The first ACK of a tick tells most, and the others nothing.
        if seg.tsval != self.last && seg.has(Has::TIMESTAMPS) && !self.useless {
            self.note_reading(seg);
        }
    }

    fn note_reading(&mut self, seg: &Segment) {
        let Some((first, first_ns)) = self.first else {
            self.first = Some((seg.tsval, seg.ts_ns));
            (self.last, self.last_ns) = (seg.tsval, seg.ts_ns);
            self.zero_ns = i64::MAX;
            return;
        };
        if (seg.tsval.wrapping_sub(self.last) as i32) < 0 {
            self.older = self.older.saturating_add(1);
            self.useless |= self.older > MAX_OLDER;
            return; // It left before the ACK that was looked at last.
        }
        self.older = 0;
        let passed_ns = seg.ts_ns.saturating_sub(self.last_ns).max(0);
        (self.last, self.last_ns) = (seg.tsval, seg.ts_ns);
        let ticks = i64::from(seg.tsval.wrapping_sub(first));
        if ticks > i64::from(u32::MAX / 2) {
            self.useless = true; // Too long ago to count from.
        } else if self.tick_ns == 0 {
            self.learn_tick(ticks, seg.ts_ns.saturating_sub(first_ns));
        }
        if self.tick_ns > 0 {
            let zero_ns = seg.ts_ns.saturating_sub(ticks * self.tick_ns);
            let drifted_ns = self.zero_ns.saturating_add(passed_ns / DRIFT);
            let is_first = self.zero_ns == i64::MAX;
            self.useless |= !is_first && zero_ns < self.zero_ns.saturating_sub(MAX_EARLY_NS);
            self.zero_ns = zero_ns.min(drifted_ns);
        }
    }

    /// So many ticks have taken so long, delays included.
    fn learn_tick(&mut self, ticks: i64, span_ns: i64) {
        if ticks < MIN_TICKS || span_ns < MIN_SPAN_NS {
            return;
        }
        let near = |tick: &&i64| (span_ns - **tick * ticks).abs() < span_ns / TOLERANCE;
        self.tick_ns = TICKS_NS.iter().find(near).copied().unwrap_or(0);
    }

    /// When `seg` would have been captured, had it come by the fastest way, at the latest; nanoseconds.
    pub(super) fn latest_ns(&self, seg: &Segment) -> Option<i64> {
        let (first, _) = self.first?;
        if self.tick_ns == 0 || self.useless || !seg.has(Has::TIMESTAMPS) {
            return None;
        }
        let ticks = i64::from(seg.tsval.wrapping_sub(first) as i32);
        let end_of_tick = ticks.saturating_add(1).saturating_mul(self.tick_ns);
        Some(self.zero_ns.saturating_add(end_of_tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn ack(at_ns: i64, tsval: u32) -> Segment {
        Segment {
            ts_ns: at_ns,
            tsval,
            has: Has::TIMESTAMPS,
            ..Segment::default()
        }
    }

    /// A clock that ticks each `tick_ns`, its ACKs captured 5 to 8 ms after they left, one each 3.3 ms for two seconds.
    fn watched(tick_ns: i64, offset: u32) -> ReceiverClock {
        let mut clock = ReceiverClock::default();
        for i in 0..600i64 {
            let left_ns = i * 33 * MS / 10;
            let reading = offset.wrapping_add((left_ns / tick_ns) as u32);
            clock.note(&ack(left_ns + 5 * MS + i % 4 * MS, reading));
        }
        clock
    }

    #[test]
    fn an_ack_that_was_held_up_tells_when_it_left() {
        for tick_ns in TICKS_NS {
            let clock = watched(tick_ns, u32::MAX - 100);
            let left_ns = 2_010 * MS;
            let reading = (u32::MAX - 100).wrapping_add((left_ns / tick_ns) as u32);
            let latest_ns = clock.latest_ns(&ack(left_ns + 500 * MS, reading)).unwrap();
            let fastest_ns = left_ns + 5 * MS;
            // Not before it would have come at best, and a tick and the drift of two seconds later at most.
            assert!(latest_ns >= fastest_ns, "{tick_ns}");
            assert!(latest_ns <= fastest_ns + tick_ns + 2 * MS, "{tick_ns}");
        }
    }

    #[test]
    fn a_stall_does_not_make_it_another_clock() {
        let mut clock = watched(MS, 0);
        // Half a second in which nothing came, then all at once.
        for reading in 2_000..2_500 {
            clock.note(&ack(2_600 * MS, reading));
        }
        let latest_ns = clock.latest_ns(&ack(2_600 * MS, 2_100)).unwrap();
        assert!((2_105 * MS..2_108 * MS).contains(&latest_ns), "{latest_ns}");
    }

    #[test]
    fn readings_that_go_back_are_no_clocks() {
        let mut clock = watched(MS, 5_000);
        (0..100).for_each(|i| clock.note(&ack((2_000 + i) * MS, 20 + i as u32)));
        assert_eq!(clock.latest_ns(&ack(2_101 * MS, 121)), None);
    }

    #[test]
    fn what_does_not_tick_like_a_clock_says_nothing() {
        assert_eq!(watched(7 * MS, 0).latest_ns(&ack(3_000 * MS, 400)), None);
        let mut jumps = watched(MS, 0);
        jumps.note(&ack(2_100 * MS, 900_000));
        assert_eq!(jumps.latest_ns(&ack(2_101 * MS, 900_001)), None);
        let new = ReceiverClock::default();
        assert_eq!(new.latest_ns(&ack(MS, 1)), None);
    }
}
