//! Silences for which the numbers ran on: the sender paused and counted on, or the line was dead. Their numbers are one
//! gap with a duration; as a share of the packets they say nothing.

use inorder_wire::Numbered;

use crate::Pauses;

/// Shorter silences are bursts of loss, nanoseconds.
const MIN_SILENCE_NS: i64 = 1_000_000_000;
/// Minimum number of skipped numbers in a silence, because fewer may be an accident.
const MIN_NUMBERS: u64 = 16;
/// Fewest numbers before it by which the sender's pace is known.
const MIN_BEFORE: u64 = 4;
/// By how much the pace during a silence may differ from the usual one, either way: senders of pictures vary theirs.
const MAX_RATIO: u128 = 3;
/// Pauses whose numbers are remembered, to notice those that come late after all.
const MAX_REMEMBERED: usize = 64;
/// Clocks of RTP in use, Hz (RFC 3551, RFC 4103).
const CLOCK_HZ: std::ops::RangeInclusive<u128> = 500..=200_000;

/// The latest packet in order, and what it is measured by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// First number and its time and timestamp.
    pub first: (u64, i64, u32),
    /// The highest number so far, the time of the packet before, the timestamp of the highest number.
    pub last: (u64, i64, u32),
    /// True if timestamps run with time.
    pub has_clock: bool,
}

/// The pauses of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Silences {
    found: Pauses,
    remembered: Vec<(u64, u64)>,
}

inorder_base::heap!(Silences: remembered);

impl Silences {
    /// Looks at a packet in order, number `seq`, that skipped some. True if they passed during a pause.
    pub(super) fn skipped(&mut self, seq: u64, packet: &Numbered, pace: &Pace) -> bool {
        let (highest, before_ns, _) = pace.last;
        let silence_ns = packet.ts_ns.saturating_sub(before_ns);
        let skipped = seq.saturating_sub(highest).saturating_sub(1);
        if silence_ns < MIN_SILENCE_NS
            || skipped < MIN_NUMBERS
            || !(self.fits_pace(skipped, silence_ns, pace)
                || fits_clock(skipped, silence_ns, packet, pace))
        {
            return false;
        }
        self.found.pauses += 1;
        let silence_ns = silence_ns.unsigned_abs();
        self.found.numbers = self.found.numbers.saturating_add(skipped);
        self.found.total_ns = self.found.total_ns.saturating_add(silence_ns);
        self.found.max_ns = self.found.max_ns.max(silence_ns);
        if self.remembered.len() < MAX_REMEMBERED {
            self.remembered.push((highest + 1, seq));
        }
        true
    }

    /// A number that was missing came late.
    pub(super) fn came_late(&mut self, seq: u64) {
        let mut all = self.remembered.iter();
        if all.any(|(first, end)| (*first..*end).contains(&seq)) {
            self.found.numbers = self.found.numbers.saturating_sub(1);
        }
    }

    pub(super) fn finish(&self) -> Pauses {
        self.found
    }

    /// At the pace of the packets before, about as many numbers fit into the silence.
    fn fits_pace(&self, skipped: u64, silence_ns: i64, pace: &Pace) -> bool {
        let (first, first_ns, _) = pace.first;
        let (highest, before_ns, _) = pace.last;
        let numbers = highest
            .saturating_sub(first)
            .saturating_sub(self.found.numbers);
        let active_ns = before_ns.saturating_sub(first_ns).unsigned_abs();
        let active_ns = active_ns.saturating_sub(self.found.total_ns);
        let expected = u128::from(silence_ns.unsigned_abs()) * u128::from(numbers);
        let came = u128::from(skipped) * u128::from(active_ns);
        numbers >= MIN_BEFORE && within(came, expected)
    }
}

/// The timestamps ran on as well, by as much as the numbers and the time.
fn fits_clock(skipped: u64, silence_ns: i64, packet: &Numbered, pace: &Pace) -> bool {
    let (first, _, first_stamp) = pace.first;
    let (highest, _, last_stamp) = pace.last;
    let numbers = highest.saturating_sub(first);
    let ticks_before = u128::from(last_stamp.wrapping_sub(first_stamp));
    let ticks = u128::from(packet.stamp.wrapping_sub(last_stamp));
    let hz = ticks * 1_000_000_000 / u128::from(silence_ns.unsigned_abs().max(1));
    pace.has_clock
        && numbers >= MIN_BEFORE
        && CLOCK_HZ.contains(&hz)
        && within(
            u128::from(skipped) * ticks_before,
            u128::from(numbers) * ticks,
        )
}

/// True if two values differ by no more than the ratio of paces.
fn within(a: u128, b: u128) -> bool {
    a <= MAX_RATIO.saturating_mul(b) && b <= MAX_RATIO.saturating_mul(a)
}
