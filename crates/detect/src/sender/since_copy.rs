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
    /// When the last retransmissions were sent, nanoseconds, the latest first: an ACK may have waited for others, in the order of which it is
    /// looked at.
    sent_ns: Option<[i64; REMEMBERED]>,
    /// Nanoseconds.
    time: [f64; CLASSES],
    bare: [u32; CLASSES],
}

/// Where the class ends, nanoseconds.
fn end_ns(class: usize) -> i64 {
    1 << (SHORTEST + BASE * class as u32)
}

impl SinceCopy {
    /// A retransmission is sent at `now`, or the flow ends.
    pub(super) fn sent_again(&mut self, now: i64) {
        let sent = self.sent_ns.get_or_insert([now; REMEMBERED]);
        let last_ns = sent[0];
        sent.rotate_right(1);
        sent[0] = now;
        let mut begin_ns = 0;
        for (class, time) in self.time.iter_mut().enumerate() {
            let end_ns = end_ns(class);
            *time += now.saturating_sub(last_ns).clamp(begin_ns, end_ns) as f64 - begin_ns as f64;
            begin_ns = end_ns;
        }
    }

    /// An ACK without new information came at `now`.
    pub(super) fn heard(&mut self, now: i64) {
        let Some(sent) = self.sent_ns else { return };
        let Some(before_ns) = sent.into_iter().find(|ns| *ns <= now) else {
            return;
        };
        let since_ns = now.saturating_sub(before_ns);
        let class = (0..CLASSES).find(|class| since_ns < end_ns(*class));
        if let Some(count) = class.and_then(|class| self.bare.get_mut(class)) {
            *count = count.saturating_add(1);
        }
    }

    /// They come as often long after retransmissions as soon after them, and there is time enough of both kinds to tell.
    pub(super) fn is_even(&self) -> bool {
        let count = |counts: &[u32]| counts.iter().copied().map(f64::from).sum::<f64>();
        let all: f64 = self.time.iter().sum();
        let mut compared = false;
        for limit in 1..CLASSES {
            let soon: f64 = self.time[..limit].iter().sum();
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
