//! Copies that the network made: their reports look like those of late originals (RFC 2883 section 5.1).

/// Duplicates that no retransmission of a hole explains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NetworkCopies {
    /// Duplicates reported of what was not retransmitted while it was missing.
    pub(super) reported: u64,
    /// Retransmissions of what had been reported: each of them has such a report, too.
    pub(super) sent_again: u64,
}

impl NetworkCopies {
    /// Share of the `packets` that the network duplicated.
    pub(super) fn share(&self, packets: u64) -> f64 {
        let copies = self.reported.saturating_sub(self.sent_again);
        copies as f64 / (packets as f64 + 1.0)
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
            asserted.contains(&(Kind::Reordered, 625, Confidence::Likely)),
            "{asserted:?}"
        );
    }
}
