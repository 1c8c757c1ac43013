//! Captures whose times are those at which packets were fetched, many at once: a telephone hands what it captured to a computer once a second.
//!
//! Each host's own clock shows it (timestamps, RFC 7323 section 5.4): it ran on between packets that the capture has at nearly the same
//! time. A queue that was stopped for a while lets the packets of one host come together, and never those of both.

use inorder_wire::{Dir, Has, Segment};

/// A timestamp clock ticks at most once in this time (RFC 7323 section 5.4), nanoseconds.
const MIN_TICK_NS: i64 = 1_000_000;
/// By as many ticks and more a clock must run on between two packets to show anything.
const MIN_TICKS: i64 = 20;
/// It ran on too far if the capture's time did by less than this part of that.
const PART_OF_TICKS: i64 = 8;
/// How often each host's clock must have, and in which part of all steps that long.
const MIN_TOO_FAR: u32 = 3;
const PARTS_TOO_FAR: u32 = 2;

/// The clock of one host beside that of the capture.
#[derive(Clone, Copy, Default)]
struct Clock {
    first: Option<(u32, i64)>,
    last: (u32, i64),
    steps: u32,
    too_far: u32,
}

impl Clock {
    fn push(&mut self, seg: &Segment) {
        let now = (seg.tsval, seg.ts_ns);
        if self.first.is_none() {
            (self.first, self.last) = (Some(now), now);
        }
        let ticks = between(self.last, now);
        if ticks < 0 {
            return;
        }
        if ticks >= MIN_TICKS {
            self.steps += 1;
            let passed_ns = now.1.saturating_sub(self.last.1);
            self.too_far += u32::from(passed_ns < ticks * MIN_TICK_NS / PART_OF_TICKS);
        }
        self.last = now;
    }

    /// The clock ran on between packets of the same time, and over all of them no faster than a clock may.
    fn shows_batches(&self) -> bool {
        let Some(first) = self.first else {
            return false;
        };
        let passed_ns = self.last.1.saturating_sub(first.1);
        // Half a second may be missing at either end.
        let slow = between(first, self.last) * MIN_TICK_NS
            <= passed_ns.saturating_add(passed_ns / 4).max(2_000_000_000);
        slow && self.too_far >= MIN_TOO_FAR && self.too_far * PARTS_TOO_FAR >= self.steps
    }
}

/// Ticks from one packet to another.
fn between(from: (u32, i64), to: (u32, i64)) -> i64 {
    i64::from(to.0.wrapping_sub(from.0).cast_signed())
}

/// The times of these segments of one connection are those of batches.
pub fn are_batches(segments: impl Iterator<Item = (Dir, Segment)>) -> bool {
    let mut clocks = [Clock::default(); 2];
    for (dir, seg) in segments.filter(|(_, seg)| seg.has(Has::TIMESTAMPS)) {
        clocks[dir.index()].push(&seg);
    }
    clocks.iter().all(Clock::shows_batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hosts whose clocks tick once a millisecond send in turn, every 60 ms; their packets are captured then, or once in `period_ms`; the
    /// first host's in any case as they are sent if `one` alone comes late.
    fn captured(period_ms: i64, one: bool) -> bool {
        let segments = (0..100).map(|nth: i64| {
            let dir = if nth % 2 == 0 {
                Dir::LowToHigh
            } else {
                Dir::HighToLow
            };
            let sent_ms = nth * 60;
            let fetched_ms = match one && dir == Dir::LowToHigh {
                true => sent_ms,
                false => sent_ms.div_euclid(period_ms) * period_ms,
            };
            let ts_ns = fetched_ms * 1_000_000 + nth * 20_000;
            let seg = Segment {
                ts_ns,
                tsval: 5_000 + sent_ms as u32,
                has: Has::TIMESTAMPS,
                ..Segment::default()
            };
            (dir, seg)
        });
        are_batches(segments)
    }

    #[test]
    fn clocks_that_run_on_between_packets_of_one_time_show_batches() {
        assert!(captured(1_000, false));
        assert!(!captured(1, false));
        assert!(!captured(1_000, true), "a queue holds back one host's");
    }
}
