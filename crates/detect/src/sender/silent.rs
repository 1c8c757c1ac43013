//! A report after which no duplicate was reported: about the retransmission, or about the original?
//!
//! Mostly it is the retransmission's, and the original is lost. But the original may have come late and the
//! retransmission been lost: then nothing else tells of either.

use super::Sender;
use super::acks::Ack;
use super::board::Copies;

/// Share of the retransmissions that are lost, or whose DSACK is, where a report came too soon for one, at least: how
/// many are lost is not known so well that it could outweigh that.
const MIN_LOST_SHARE_WHEN_SOON: f64 = 0.05;

impl Sender {
    /// How likely `ack`, which came after the first of `copies`, reports the original although no DSACK follows. A report
    /// that is too soon for the retransmission would need a round trip shorter than all.
    pub(super) fn silent_original(&self, copies: &Copies, ack: &Ack) -> f64 {
        let (timing, tally) = (&self.timing, &self.ledger.tally);
        let share = self.ledger.lost_share();
        let took = ack.seg.ts_ns.saturating_sub(copies.first_ns);
        let (share, undercut) = if timing.sooner_than_any(took) {
            (share.max(MIN_LOST_SHARE_WHEN_SOON), timing.undercut())
        } else {
            (share, 1.0)
        };
        let late = (tally.late_copied as f64 + 0.25) * share;
        let lost = (tally.only_copies as f64 + 1.0) * undercut;
        late / (late + lost)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Tally;
    use super::super::trace::Trace;
    use crate::result::{Confidence, Kind};

    /// Segment 20 of a hundred is sent again after 14 ms and reported 10 ms later, and nothing more. Of the earlier
    /// retransmitted segments, `late` were late and `lost` were lost.
    fn told(late: u64, lost: u64) -> Option<(Kind, Confidence)> {
        let mut trace = Trace::new(true, None);
        trace.in_order(0, 0, 20);
        trace.sender.ledger.tally = Tally {
            late_copied: late,
            only_copies: lost,
            ..Tally::default()
        };
        trace.lost(40, 20);
        trace.in_order(200, 25, 100);
        let told = trace.end();
        told.first().map(|t| (t.0, t.2))
    }

    #[test]
    fn what_is_lost_often_enough_may_be_the_retransmission_of_a_late_original() {
        assert_eq!(told(0, 3), Some((Kind::Lost, Confidence::Likely)));
        assert_eq!(told(1, 3), Some((Kind::Lost, Confidence::Likely)));
        assert_eq!(told(9, 3), Some((Kind::Lost, Confidence::Ambiguous)));
    }
}
