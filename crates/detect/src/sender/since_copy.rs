//! When ACKs without new information come. Those that answer originals which came after their retransmission come soon after one; those that answer
//! copies made by the network, which it makes of any packet (RFC 2883 section 5.1), come as often long after.

/// The longest time of the first class, as a power of two of nanoseconds: no original is overtaken in less. Each further class is four times as long.
const SHORTEST: u32 = 18;
const BASE: u32 = 2;
/// Classes of times; from the end of the last one on, a second, no original is expected.
const CLASSES: usize = ((30 - SHORTEST) / BASE) as usize + 1;
/// Retransmissions that are remembered.
const REMEMBERED: usize = 8;
/// Minimum share of the time on each side of a limit for which both sides are compared.
const MIN_SHARE: f64 = 1.0 / 16.0;
/// How many copies have such an answer while something is missing for each that has one otherwise. While nothing is, an acknowledgement is delayed
/// that the copy sends before its time, and that advances (RFC 5681 section 4.2: at least every second segment is acknowledged).
const ANSWERED_WHILE_MISSING: f64 = 4.0;
/// What a count is taken to be at least when it is scaled.
const LEAST: f64 = 0.5;
/// Standard deviations by which a count is beyond what is expected.
const DEVIATIONS: f64 = 2.0;

/// How long the last retransmission had been sent, and how many ACKs without new information came meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SinceCopy {
    /// When the last retransmissions were sent, nanoseconds, and how many there were: an ACK may have waited for others, in the order of which it is
    /// looked at.
    sent_ns: [i64; REMEMBERED],
    sent: usize,
    /// How many retransmissions were how long before the next one, and these times added up, nanoseconds. The last class has no end.
    gaps: [u32; CLASSES + 1],
    sums_ns: [f64; CLASSES + 1],
    bare: [u32; CLASSES],
}

heap!(SinceCopy);

/// Where the class ends, nanoseconds.
fn end_ns(class: usize) -> i64 {
    1 << (SHORTEST + BASE * class as u32)
}

/// The class of a time, nanoseconds.
fn class_of(ns: i64) -> usize {
    let above = ns.max(1).ilog2().saturating_sub(SHORTEST - BASE) / BASE;
    CLASSES.min(above as usize)
}

impl SinceCopy {
    /// A retransmission is sent at `now`, or the flow ends.
    pub(super) fn sent_again(&mut self, now: i64) {
        if let Some(before) = self.sent.checked_sub(1) {
            let gap_ns = now.saturating_sub(self.sent_ns[before % REMEMBERED]);
            let class = class_of(gap_ns);
            self.gaps[class] = self.gaps[class].saturating_add(1);
            self.sums_ns[class] += gap_ns.max(0) as f64;
        }
        self.sent_ns[self.sent % REMEMBERED] = now;
        self.sent += 1;
    }

    /// An ACK without new information came at `now`.
    pub(super) fn heard(&mut self, now: i64) {
        let remembered = &self.sent_ns[..self.sent.min(REMEMBERED)];
        let Some(before_ns) = remembered.iter().filter(|ns| **ns <= now).max() else {
            return;
        };
        if let Some(count) = self.bare.get_mut(class_of(now.saturating_sub(*before_ns))) {
            *count = count.saturating_add(1);
        }
    }

    /// For how long the last retransmission had been sent as long as a class says, nanoseconds.
    fn times_ns(&self) -> [f64; CLASSES] {
        std::array::from_fn(|class| {
            let begin_ns = if class == 0 { 0 } else { end_ns(class - 1) };
            let longer: f64 = self.gaps[class + 1..].iter().copied().map(f64::from).sum();
            let all = longer * (end_ns(class) - begin_ns) as f64;
            all + self.sums_ns[class] - f64::from(self.gaps[class]) * begin_ns as f64
        })
    }

    /// They come as often long after retransmissions as soon after them, and there is time enough of both kinds to tell.
    pub(super) fn is_even(&self) -> bool {
        let count = |counts: &[u32]| counts.iter().copied().map(f64::from).sum::<f64>();
        let times = self.times_ns();
        let all: f64 = times.iter().sum();
        let mut compared = false;
        for limit in 1..CLASSES {
            let soon: f64 = times[..limit].iter().sum();
            let later = all - soon;
            if soon.min(later) <= all * MIN_SHARE {
                continue;
            }
            compared = true;
            let ratio = soon / later;
            let heard = count(&self.bare[limit..]).max(LEAST);
            let expected = ratio * heard * ANSWERED_WHILE_MISSING;
            let deviation = libm::sqrt(expected * (1.0 + ratio));
            if count(&self.bare[..limit]) > expected + DEVIATIONS * deviation {
                return false;
            }
        }
        compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Ten retransmissions 500 ms apart, and behind each ACKs without new information, by milliseconds.
    fn even(bare: impl Fn(i64) -> Vec<i64>) -> bool {
        let mut since = SinceCopy::default();
        for n in 0..10 {
            since.sent_again(n * 500 * MS);
            bare(n)
                .into_iter()
                .for_each(|ms| since.heard((n * 500 + ms) * MS));
        }
        since.sent_again(5_000 * MS);
        since.is_even()
    }

    #[test]
    fn answers_to_copies_of_any_packet_come_at_any_time() {
        assert!(even(|n| vec![n * 50, (n * 170 + 30) % 500]));
        assert!(even(|_| vec![]));
    }

    #[test]
    fn answers_to_late_originals_come_soon_after_retransmissions() {
        assert!(!even(|n| vec![n * 2]));
        assert!(!even(|n| vec![n * 50, 10 + n]));
    }

    #[test]
    fn times_are_those_that_gaps_have_in_each_class() {
        // Of 250 us each, and of 5 ms each: 0.262144 ms, 0.786432, 3.145728 and what is left of the fourth.
        let mut since = SinceCopy::default();
        let times = [0, 250_000, 500_000, 5_500_000, 10_500_000];
        times.into_iter().for_each(|at| since.sent_again(at));
        let told = [1_024_288.0, 1_572_864.0, 6_291_456.0, 1_611_392.0];
        assert_eq!(since.times_ns()[..4], told);
        assert_eq!(since.times_ns().iter().sum::<f64>(), 10_500_000.0);
    }

    #[test]
    fn without_both_kinds_of_time_nothing_is_known() {
        assert!(!SinceCopy::default().is_even());
        let mut soon = SinceCopy::default();
        (0..100).for_each(|n| soon.sent_again(n * MS / 10));
        // What came before all that is remembered, and what comes long after, is not counted.
        soon.heard(98 * MS / 10);
        soon.heard(0);
        soon.heard(i64::MAX);
        assert!(!soon.is_even());
        assert_eq!(soon.bare.iter().sum::<u32>(), 1);
    }
}
