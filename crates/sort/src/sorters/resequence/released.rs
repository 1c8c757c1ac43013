//! Gaps that were given up, kept for a while: what comes into one later is a lesson.
//!
//! A late original tells how long a hold would have been enough, so that lateness is learnt without
//! holding anything. Should it be resent as well, its sender takes late packets for lost ones. A retransmission
//! says that the packet was lost, and that its sender is in recovery.

use alloc::collections::{TryReserveError, VecDeque};

use super::held::before;

/// Gaps remembered into which nothing has come, and as many late originals, of all flows.
const REMEMBERED: usize = 128;

/// A late original was not resent if this number of times [`Gap::original_ns`] has passed since it came. The sender
/// resends it a round trip after the gap opened, but that is the round trip of now: with a full queue on the way it
/// is several times the shortest one, which is all that is known here. For the same reason a gap that counts as lost
/// is remembered for as long, so that its retransmission is recognised.
const PATIENCE: i64 = 12;

#[derive(Clone, Copy, Debug)]
struct Gap {
    flow: FlowId,
    from: u32,
    to: u32,
    /// When the gap opened; of a late original, when it came.
    since_ns: i64,
    /// What comes later than this after the gap opened is taken for a retransmission.
    original_ns: i64,
    /// When it was given up: before that its sender could not see it.
    left_ns: i64,
}

impl Gap {
    fn has(&self, flow: FlowId, (seq, end): (u32, u32)) -> bool {
        self.flow == flow && before(seq, self.to) && before(self.from, end)
    }

    fn is_older(&self, times: i64, now_ns: i64) -> bool {
        now_ns.saturating_sub(self.since_ns) >= self.original_ns.saturating_mul(times)
    }
}

/// A flow's place, and which of the flows that were there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlowId {
    pub(super) place: u32,
    pub(super) generation: u32,
}

/// What a packet below the end of what was delivered is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Latecomer {
    /// An original, this time after its gap had opened, nanoseconds.
    Original { late_ns: i64 },
    /// A retransmission of what had been lost; `is_known`: the loss has been reported ([`Ended::Lost`]).
    Repair { is_known: bool },
    /// A retransmission of what was only late, this time after it went missing behind the sorter.
    Spurious { seen_late_ns: i64 },
    /// Of no gap that is remembered.
    Unknown,
}

/// What an old gap turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// Nothing ever came: lost.
    Lost,
    /// A late original came, and no retransmission after it.
    Spared,
}

/// The gaps, the oldest first.
pub(super) struct Released {
    /// Nothing has come into these.
    gaps: VecDeque<Gap>,
    /// Of these, the ones at the front that have been reported as lost.
    reported: usize,
    /// Late originals: each stands for its packet alone.
    filled: VecDeque<Gap>,
}

impl Released {
    pub(super) fn new() -> Result<Self, TryReserveError> {
        let (mut gaps, mut filled) = (VecDeque::new(), VecDeque::new());
        gaps.try_reserve_exact(REMEMBERED)?;
        filled.try_reserve_exact(REMEMBERED)?;
        Ok(Released {
            gaps,
            reported: 0,
            filled,
        })
    }

    /// Bytes beside itself.
    pub(super) const fn footprint() -> usize {
        2 * REMEMBERED * size_of::<Gap>()
    }

    /// `flow` goes on without the numbers `from` to `to` from `left_ns` on; the gap opened at `open_ns`.
    /// `original_ns`: for how long after that it can only be an original that fills it.
    pub(super) fn push(
        &mut self,
        flow: FlowId,
        (from, to): (u32, u32),
        (open_ns, left_ns): (i64, i64),
        original_ns: i64,
    ) {
        let gap = Gap {
            flow,
            from,
            to,
            since_ns: open_ns,
            original_ns,
            left_ns,
        };
        if remember(&mut self.gaps, gap) {
            self.reported = self.reported.saturating_sub(1);
        }
    }

    /// A packet `seq` to `end` of `flow` comes below what was delivered.
    pub(super) fn latecomer(
        &mut self,
        flow: FlowId,
        numbers: (u32, u32),
        now_ns: i64,
    ) -> Latecomer {
        let within = |gap: &Gap| gap.has(flow, numbers);
        if let Some(at) = self.gaps.iter().rposition(within)
            && let Some(gap) = self.gaps.remove(at)
        {
            let is_known = at < self.reported;
            self.reported -= usize::from(is_known);
            if gap.is_older(1, now_ns.saturating_sub(1)) {
                return Latecomer::Repair { is_known };
            }
            // What else was missing in the gap is forgotten.
            let original = Gap {
                from: numbers.0,
                to: numbers.1,
                since_ns: now_ns,
                ..gap
            };
            remember(&mut self.filled, original);
            let late_ns = now_ns.saturating_sub(gap.since_ns);
            return Latecomer::Original { late_ns };
        }
        let at = self.filled.iter().rposition(within);
        match at.and_then(|at| self.filled.remove(at)) {
            Some(late) => Latecomer::Spurious {
                seen_late_ns: late.since_ns.saturating_sub(late.left_ns),
            },
            None => Latecomer::Unknown,
        }
    }

    /// What the oldest gap of either kind turned out to be, if that is known by now: each is reported once.
    pub(super) fn pop_ended(&mut self, now_ns: i64) -> Option<(FlowId, Ended)> {
        let is_over = |gap: &Gap| gap.is_older(PATIENCE, now_ns);
        while self.reported > 0 && self.gaps.front().is_some_and(is_over) {
            self.gaps.pop_front();
            self.reported -= 1;
        }
        // What is lost is resent a round trip after the gap opened at the earliest.
        if let Some(gap) = self.gaps.get(self.reported)
            && gap.is_older(2, now_ns)
        {
            self.reported += 1;
            return Some((gap.flow, Ended::Lost));
        }
        let front = self.filled.front();
        if front.is_some_and(|gap| gap.is_older(PATIENCE, now_ns)) {
            let gap = self.filled.pop_front()?;
            return Some((gap.flow, Ended::Spared));
        }
        None
    }
}

/// Puts `gap` at the end; if there is no room, the oldest one is forgotten. True: one was.
fn remember(gaps: &mut VecDeque<Gap>, gap: Gap) -> bool {
    let is_full = gaps.len() >= REMEMBERED;
    if is_full {
        gaps.pop_front();
    }
    gaps.push_back(gap);
    is_full
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: FlowId = FlowId {
        place: 1,
        generation: 1,
    };

    fn one() -> Released {
        let mut released = Released::new().unwrap();
        released.push(A, (100, 200), (1_000, 1_100), 500);
        released
    }

    #[test]
    fn an_original_then_its_spurious_retransmission() {
        let mut released = one();
        let late = released.latecomer(A, (100, 200), 1_300);
        assert_eq!(late, Latecomer::Original { late_ns: 300 });
        let again = released.latecomer(A, (100, 200), 2_100);
        // The sender saw the gap at 1,100 at the earliest, and its end at 1,300.
        assert_eq!(again, Latecomer::Spurious { seen_late_ns: 200 });
        assert_eq!(released.latecomer(A, (100, 200), 2_200), Latecomer::Unknown);
    }

    #[test]
    fn an_original_that_is_not_resent_was_spared() {
        let mut released = one();
        released.latecomer(A, (150, 200), 1_300);
        let ended_ns = 1_300 + 500 * PATIENCE;
        assert_eq!(released.pop_ended(ended_ns - 1), None);
        assert_eq!(released.pop_ended(ended_ns), Some((A, Ended::Spared)));
    }

    #[test]
    fn what_comes_after_a_round_trip_repairs_a_loss() {
        let mut released = one();
        let repair = released.latecomer(A, (100, 200), 1_501);
        assert_eq!(repair, Latecomer::Repair { is_known: false });
        assert_eq!(one().pop_ended(1_999), None);
        assert_eq!(one().pop_ended(2_000), Some((A, Ended::Lost)));
    }

    #[test]
    fn a_loss_is_reported_once_and_its_retransmission_still_recognised() {
        let mut released = one();
        released.push(A, (300, 400), (1_500, 1_500), 500);
        assert_eq!(released.pop_ended(2_000), Some((A, Ended::Lost)));
        assert_eq!(released.pop_ended(2_000), None);
        let repair = released.latecomer(A, (100, 200), 2_100);
        assert_eq!(repair, Latecomer::Repair { is_known: true });
        assert_eq!(released.pop_ended(2_500), Some((A, Ended::Lost)));
        // Long after, nothing is known of the second one any more.
        assert_eq!(released.pop_ended(1_500 + 500 * PATIENCE), None);
        assert_eq!(released.latecomer(A, (300, 400), 9_999), Latecomer::Unknown);
    }

    #[test]
    fn a_place_taken_by_another_flow_is_no_longer_this_one() {
        let other = FlowId { generation: 2, ..A };
        let late = one().latecomer(other, (100, 200), 1_100);
        assert_eq!(late, Latecomer::Unknown);
    }
}
