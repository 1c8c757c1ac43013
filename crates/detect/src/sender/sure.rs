//! How sure it is that a segment which only its retransmission brought was lost, and did not come late and unseen.

use super::filled::{EITHER, Filled};
use super::ledger::{Ledger, MIN_CERTAIN, MIN_LIKELY, Telling};
use super::paws::discarded;
use crate::collect::Basis;
use crate::result::{Evidence, Reason};

/// Share of the originals that came after their retransmission of which no ACK tells, where
/// duplicates are reported and where none has been so far.
const SHARE_UNTOLD: f64 = 0.002;
const SHARE_UNTOLD_WITHOUT_DSACK: f64 = 0.01;
/// The same share where the captured part of an ACK shows a DSACK only if the ACK reports nothing else.
const SHARE_UNTOLD_IN_HIDDEN_BLOCKS: f64 = 0.2;
/// Number of packets for each late one from which on a retransmitted segment is as likely late as lost, if SACK blocks do
/// not show.
const PACKETS_PER_LATE_WHERE_ANY_MAY_BE: u64 = 5;
/// Minimum share of the segments that may have been discarded unseen which is assumed to have been discarded.
const SHARE_REFUSED_UNSEEN: f64 = 0.1;
/// Share of the originals discarded as too old whose answer, a plain ACK, looks like a regular acknowledgement: one for every
/// second segment is delayed until the next (RFC 5681 section 4.2).
const SHARE_ANSWERED_IN_TURN: f64 = 0.5;
/// Number of lost packets for each late one from which on what comes after its retransmission is rare.
const LOST_PER_LATE_WHERE_FEW_ARE: u64 = 8;
/// Late originals that may have come unnoticed where there is no SACK.
const MAX_LATE_UNKNOWN: u64 = 2;
/// Number of late originals for each answer to one of their retransmissions from which on a receiver is taken to answer no duplicates.
const MIN_LATE_FOR_EACH_ANSWER: u64 = 8;
/// Share of the originals with a missing ACK that no other ACK reports.
const SHARE_UNTOLD_BY_MISSING_ACKS: f64 = 0.1;

impl Ledger {
    /// Probability that one of the ACKs without new information and without a place answers the original of a segment that only
    /// retransmissions are known to have brought. A receiver that reports no duplicates answers so what was sent again needlessly, too.
    pub(super) fn share_unplaced(&self, telling: &Telling) -> f64 {
        if telling.duplicates && !telling.hidden {
            // What was unplaced before the first was reported were no duplicates.
            return 0.0;
        }
        let only_copies = self.only_copies(telling);
        let late = self.collector.reordered();
        // Where much comes late, some of it comes after its retransmission, and has such an answer.
        let seldom_late = late.saturating_mul(LOST_PER_LATE_WHERE_FEW_ARE) <= only_copies;
        let answered = match telling.rough || !seldom_late {
            true => 0,
            false => self.spurious.saturating_sub(telling.duplicates_placed),
        };
        // Without SACK no more come after their retransmission than come late. On the path others are sent again in vain.
        let most = match telling.rough && telling.beside && !telling.hidden {
            true => (late + MAX_LATE_UNKNOWN) as f64,
            false => f64::MAX,
        };
        let left = (self.unplaced - answered as f64).clamp(0.0, most);
        (left / (only_copies as f64 + 1.0)).min(1.0)
    }

    /// Segments that only retransmissions are known to have brought.
    fn only_copies(&self, telling: &Telling) -> u64 {
        let needed = match telling.rough {
            true => self.retransmissions.saturating_sub(self.spurious),
            false => 0,
        };
        self.tally.only_copies.max(needed)
    }

    /// Timestamps say that the retransmission came first. That the original did not come after it only a
    /// receiver's silence says that reports duplicates, which is not negotiated (mobile-network paper,
    /// section III-D), and what it says may be lost: the more of what was retransmitted came after all, the
    /// more of the silent ones did, too.
    pub(super) fn how_sure_lost(&self, f: &Filled, telling: &Telling) -> Basis {
        let evidence = if telling.timestamps {
            Evidence::Timestamps
        } else {
            Evidence::Sack
        };
        let basis = Basis::certain(evidence);
        let came = f.refused + f.silent + self.share_unplaced(telling);
        if telling.rough && !telling.hidden && came <= 1.0 - MIN_LIKELY {
            return basis.weaker(Reason::WhichCopy);
        }
        let acks = (telling.acks + telling.acks_missing).max(1) as f64;
        let untold = if telling.hidden {
            SHARE_UNTOLD_IN_HIDDEN_BLOCKS
        } else if telling.duplicates {
            SHARE_UNTOLD
        } else {
            SHARE_UNTOLD_WITHOUT_DSACK
        };
        let untold = untold + SHARE_UNTOLD_BY_MISSING_ACKS * telling.acks_missing as f64 / acks;
        let refused_unseen = if telling.refusals_hidden && f.discardable {
            (self.tally.late_copied as f64)
                .max(self.tally.only_copies as f64 * SHARE_REFUSED_UNSEEN)
        } else {
            0.0
        };
        let late = (self.tally.came_after as f64 + 0.25) * untold
            + refused_unseen
            + self.came_unanswered(telling);
        let lost = self.only_copies(telling) as f64 + 1.0;
        let silent = self.silent(f, telling);
        let sure = lost / (lost + late) * (1.0 - f.refused).max(0.0) * (1.0 - silent);
        let sure = sure * (1.0 - self.share_unplaced(telling));
        // Silence says nothing once the receiver has gone.
        let awaited = telling.heard_ns.saturating_sub(f.reported_ns) >= telling.patience_ns;
        // An original that was too old may have come and been refused, its answer hidden in another ACK.
        let accepted = !f.discardable;
        // Without numbers nothing shows that the ACK that would have told was lost.
        let silence_tells = telling.duplicates && telling.numbered && awaited && !telling.hidden;
        if sure >= MIN_CERTAIN && silence_tells && accepted && f.named {
            basis
        } else if sure >= MIN_LIKELY {
            basis.weaker(Reason::WhichCopy)
        } else {
            Basis::ambiguous(evidence, Reason::WhichCopy)
        }
    }

    /// How many originals may have come after their retransmission where hardly any duplicate is answered: as many as came late before it.
    fn came_unanswered(&self, telling: &Telling) -> f64 {
        let late = self.tally.late_copied.min(self.collector.reordered());
        let answered = telling.bare_acks.saturating_mul(MIN_LATE_FOR_EACH_ANSWER);
        let silent = late >= MIN_LATE_FOR_EACH_ANSWER.max(answered);
        let silent = silent && !telling.duplicates && !telling.rough;
        late as f64 * f64::from(u8::from(silent))
    }

    /// How likely the first report was about the original although no duplicate was reported: where blocks do not show, one of them would
    /// have been seen, whichever it was of, unless late packets are so frequent that one of them can be behind any block.
    pub(super) fn silent(&self, f: &Filled, telling: &Telling) -> f64 {
        if !telling.hidden {
            return f.silent.max(self.answered_in_turn(f, telling));
        }
        let late = self.collector.reordered();
        if late.saturating_mul(PACKETS_PER_LATE_WHERE_ANY_MAY_BE) >= self.data_packets {
            return f.silent.max(EITHER);
        }
        match self.share_unplaced(telling) <= 1.0 - MIN_LIKELY {
            true => 0.0,
            false => f.silent,
        }
    }

    /// How likely the original of `f` came after its retransmission and was answered by an ACK that looks like any other: the more
    /// of them were too old and answered by an ACK alone, the more.
    fn answered_in_turn(&self, f: &Filled, telling: &Telling) -> f64 {
        if !telling.except_too_old || !discarded(f.tsval, f.copies.first_tsval) {
            return 0.0;
        }
        let late = self.tally.answered_alone as f64 * SHARE_ANSWERED_IN_TURN;
        late / (late + self.tally.only_copies as f64 + 1.0)
    }

    /// How many of the duplicates of what was retransmitted are copies that the network made of retransmissions, for each
    /// original that came late: as many of these are copied as of all packets.
    fn copied_for_each_late(&self) -> f64 {
        let copied = self.copies.share(self.data_packets) * self.tally.only_copies as f64;
        copied / ((self.tally.late_copied + self.tally.perhaps_copied) as f64 + 0.25)
    }

    /// A duplicate of what was retransmitted may be such a copy.
    pub(super) fn maybe_copied_by_network(&self) -> bool {
        self.copied_for_each_late() > 1.0 - MIN_LIKELY
    }

    /// True if a copy made by the network is not ruled out with the probability of a certain verdict.
    pub(super) fn perhaps_copied_by_network(&self) -> bool {
        self.copied_for_each_late() > 1.0 - MIN_CERTAIN
    }
}
