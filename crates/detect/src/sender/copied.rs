//! Copies that the network made: their reports look like those of late originals (RFC 2883 section 5).

use super::ledger::{Ledger, MIN_CERTAIN, MIN_LIKELY};

/// Duplicates that no retransmission of a hole explains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NetworkCopies {
    /// Duplicates reported of what was not retransmitted while it was missing.
    pub(super) reported: u64,
    /// Retransmissions of what had been reported: each of them has such a report, too.
    pub(super) sent_again: u64,
}

impl NetworkCopies {
    /// Of `packets`, the share that was copied.
    fn share(&self, packets: u64) -> f64 {
        let copies = self.reported.saturating_sub(self.sent_again);
        copies as f64 / (packets as f64 + 1.0)
    }
}

impl Ledger {
    /// How many of the duplicates of what was retransmitted are copies that the network made of retransmissions, for each
    /// original that came late: as many of these are copied as of all packets.
    fn copied_for_each_late(&self) -> f64 {
        let copied = self.copies.share(self.data_packets) * self.tally.only_copies as f64;
        copied / (self.tally.late_copied as f64 + 0.25)
    }

    /// A duplicate of what was retransmitted may be such a copy.
    pub(super) fn maybe_copied_by_network(&self) -> bool {
        self.copied_for_each_late() > 1.0 - MIN_LIKELY
    }

    /// Nor is it ruled out so surely that the original would be certain to have come.
    pub(super) fn perhaps_copied_by_network(&self) -> bool {
        self.copied_for_each_late() > 1.0 - MIN_CERTAIN
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// The network copies one packet of fifty; five segments are lost, and of a sixth it copies the retransmission.
    fn told(without: Option<Explanation>) -> Told {
        let mut trace = Trace::new(true, without);
        for n in 0..6 {
            let (i, at) = (n * 105, n * 200);
            trace.in_order(at, i, i + 100);
            trace.ack(at + 111, i + 100, &[(i + 3, i + 4)]);
            trace.ack(at + 112, i + 100, &[(i + 50, i + 51)]);
            trace.lost(at + 120, i + 100);
        }
        trace.ack(1_145, 630, &[(625, 626)]);
        trace.end()
    }

    #[test]
    fn a_duplicate_may_be_a_copy_that_the_network_made_of_a_retransmission() {
        let lost = |n: u64| (Kind::Lost, n * 105 + 100, Confidence::Likely);
        let unsure = (Kind::Lost, 625, Confidence::Ambiguous);
        let mut expected: Told = (0..5).map(lost).collect();
        expected.push(unsure);
        assert_eq!(told(None), expected);
        let asserted = told(Some(Explanation::NetworkCopies));
        assert!(
            asserted.contains(&(Kind::Reordered, 625, Confidence::Certain)),
            "{asserted:?}"
        );
    }
}
