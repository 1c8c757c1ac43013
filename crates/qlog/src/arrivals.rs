//! The order of what arrived at this end, with what the other end's log says of the numbers that are missing.

use std::collections::BTreeMap;

use inorder_metrics::Metrics;

use crate::result::Arrivals;
use crate::space::{Received, Sent};

/// The numbers that the sender did not use, among those that its log covers. Senders skip numbers on purpose, to detect
/// acknowledgements of what they never sent (RFC 9000 section 21.4).
#[derive(Clone, Default, Debug)]
pub(crate) struct Unused {
    /// The first and the last number that the sender's log has.
    covered: Option<(u64, u64)>,
    /// First and last number of each range that was not used, with how many were unused below it.
    ranges: Vec<(u64, u64, u64)>,
}

impl Unused {
    /// Of these packets. What arrived was sent, also if the sender's log lacks it.
    pub(crate) fn of(sent: &BTreeMap<u64, Sent>, received: &[Received]) -> Unused {
        let covered = sent.first_key_value().zip(sent.last_key_value());
        let covered = covered.map(|((first, _), (last, _))| (*first, *last));
        let arrived = received.iter().map(|packet| packet.number);
        let mut used: Vec<u64> = sent.keys().copied().chain(arrived).collect();
        used.sort_unstable();
        let (mut ranges, mut below) = (Vec::new(), 0);
        for pair in used.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let is_covered = covered.is_some_and(|(first, last)| first <= from && to <= last);
            if is_covered && to - from > 1 {
                ranges.push((from + 1, to - 1, below));
                below += to - from - 1;
            }
        }
        Unused { covered, ranges }
    }

    /// How many numbers below this one were not used.
    fn below(&self, number: u64) -> u64 {
        let before = self.ranges.partition_point(|(first, ..)| *first < number);
        let last = before.checked_sub(1).and_then(|i| self.ranges.get(i));
        last.map_or(0, |(first, last, below)| below + (last - first + 1))
    }
}

/// What arrived, in its order. Without the other end's log a missing number may be one that was never used.
pub(crate) fn arrivals(received: &[Received], unused: Option<&Unused>) -> Arrivals {
    let mut metrics = Metrics::default();
    for packet in received {
        // Consecutive numbers for consecutive packets: what was never sent leaves no gap.
        let number = packet.number - unused.map_or(0, |unused| unused.below(packet.number));
        let bytes = u32::try_from(packet.bytes).unwrap_or(u32::MAX);
        metrics.update(number, packet.at_ns, bytes);
    }
    let numbers = || received.iter().map(|packet| packet.number);
    let range = numbers().min().zip(numbers().max());
    let covers = |unused: &Unused| {
        let covered = unused.covered.zip(range);
        covered.is_some_and(|((first, last), (least, most))| first <= least && most <= last)
    };
    let summary = metrics.finish();
    let missing = summary.counts.missing;
    let skipped =
        |unused: &Unused| range.map_or(0, |(least, most)| unused.below(most) - unused.below(least));
    Arrivals {
        order: summary.order,
        missing: (missing == 0 || unused.is_some_and(covers)).then_some(missing),
        missing_at_most: missing,
        skipped: unused.map(skipped),
        duplicates: summary.counts.duplicates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(numbers: &[u64]) -> BTreeMap<u64, Sent> {
        let packet = Sent {
            at_ns: 0,
            bytes: 1_200,
            in_flight: true,
            acked: None,
        };
        numbers.iter().map(|number| (*number, packet)).collect()
    }

    fn received(numbers: &[u64]) -> Vec<Received> {
        let packet = |(at_ns, number): (i64, &u64)| Received {
            number: *number,
            at_ns,
            bytes: 1_200,
            dropped: false,
        };
        (0..).zip(numbers).map(packet).collect()
    }

    /// Missing, at most missing, skipped on purpose, reordered.
    fn counts(of: &Arrivals) -> (Option<u64>, u64, Option<u64>, u64) {
        (
            of.missing,
            of.missing_at_most,
            of.skipped,
            of.order.reordered,
        )
    }

    #[test]
    fn a_number_that_was_never_sent_is_not_missing() {
        // 3 and 8 to 9 were never sent, 5 was lost, 6 is late.
        let there = received(&[1, 2, 4, 7, 6, 10, 11]);
        let unused = Unused::of(&sent(&[0, 1, 2, 4, 5, 6, 7, 10, 11, 12]), &there);
        let found = arrivals(&there, Some(&unused));
        assert_eq!(counts(&found), (Some(1), 1, Some(3), 1));
        let alone = arrivals(&there, None);
        assert_eq!(counts(&alone), (None, 4, None, 1));
    }

    #[test]
    fn what_a_log_that_broke_off_does_not_have_stays_unknown() {
        let there = received(&[0, 1, 3, 5, 7]);
        let unused = Unused::of(&sent(&[0, 1, 3, 4]), &there);
        let found = arrivals(&there, Some(&unused));
        // 2 was skipped and 4 lost; whether 6 was sent is not known.
        assert_eq!(counts(&found), (None, 2, Some(1), 0));
        let complete = received(&[0, 1, 2]);
        assert_eq!(counts(&arrivals(&complete, None)), (Some(0), 0, None, 0));
    }
}
