//! Originals that may be retransmissions, because their first transmission was lost before the capture point, or the capture lacks it.

use std::collections::VecDeque;

use crate::collect::Basis;
use crate::result::Confidence;

/// Originals remembered until the receiver has them, and as many until they come by again.
const MAX_DOUBTED: usize = 256;

/// What came by behind higher data and may be a retransmission: what the receiver says of it is no surer.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// First bytes, in the order in which they came by.
    open: VecDeque<(i64, Basis)>,
    /// First bytes of those that the receiver has reported.
    reported: VecDeque<i64>,
}

heap!(Doubts: open, reported);

impl Doubts {
    /// What begins at `start` is an original, as sure as `basis` is.
    pub(super) fn note(&mut self, start: i64, basis: Basis) {
        if basis.confidence == Confidence::Certain {
            return;
        }
        if self.open.len() == MAX_DOUBTED {
            self.open.pop_front();
        }
        self.open.push_back((start, basis));
    }

    /// The original at `start` has arrived as late as `basis` says, if it is one.
    #[inline]
    pub(super) fn weaken(&mut self, start: i64, basis: Basis) -> Basis {
        match self.open.is_empty() {
            true => basis,
            false => self.weaken_doubted(start, basis),
        }
    }

    fn weaken_doubted(&mut self, start: i64, basis: Basis) -> Basis {
        let at = self.open.iter().position(|doubt| doubt.0 == start);
        if at.is_some() {
            if self.reported.len() == MAX_DOUBTED {
                self.reported.pop_front();
            }
            self.reported.push_back(start);
        }
        match at.and_then(|at| self.open.remove(at)) {
            Some((_, doubt)) if doubt.confidence > basis.confidence => Basis {
                evidence: basis.evidence,
                ..doubt
            },
            _ => basis,
        }
    }

    /// How sure it is that what comes by at `start` now, whose bytes the receiver has, is the copy and not the original: what came by
    /// first may have been the copy.
    pub(super) fn of_copy(&self, start: i64) -> Confidence {
        let doubted =
            self.reported.contains(&start) || self.open.iter().any(|doubt| doubt.0 == start);
        match doubted {
            true => Confidence::Ambiguous,
            false => Confidence::Certain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Evidence, Reason};

    #[test]
    fn what_the_receiver_says_of_a_doubtful_original_is_no_surer() {
        let mut doubts = Doubts::default();
        let sure = Basis::certain(Evidence::Sack);
        doubts.note(
            100,
            Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy),
        );
        doubts.note(200, Basis::certain(Evidence::ArrivalIpId));
        let weak = Basis::ambiguous(Evidence::Sack, Reason::LoneCopy);
        assert_eq!(doubts.weaken(100, sure), weak);
        assert_eq!(doubts.weaken(200, sure), sure);
        assert_eq!(doubts.weaken(100, sure), sure, "another time");
    }
    #[test]
    fn what_comes_by_behind_a_doubtful_original_may_be_the_original() {
        let mut doubts = Doubts::default();
        doubts.note(
            100,
            Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy),
        );
        assert_eq!(doubts.of_copy(100), Confidence::Ambiguous);
        doubts.weaken(100, Basis::certain(Evidence::Sack));
        assert_eq!(doubts.of_copy(100), Confidence::Ambiguous, "reported since");
        assert_eq!(doubts.of_copy(200), Confidence::Certain);
    }
}
