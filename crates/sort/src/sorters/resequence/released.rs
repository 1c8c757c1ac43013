//! Gaps that were given up, kept for a while: what comes into one later is a lesson.
//!
//! A late original tells how long a hold would have been enough, so that lateness is learnt without
//! holding anything. Should it be resent as well, its sender takes late packets for lost ones.

use alloc::collections::{TryReserveError, VecDeque};

use super::held::before;

/// Gaps remembered into which nothing has come, and as many late originals, of all flows.
const REMEMBERED: usize = 128;

/// A late original was not resent if so many times [`Gap::original_ns`] have passed since it came. The sender
/// resends it a round trip after the gap opened, but that is the round trip of now: with a full queue on the way it
/// is several times the shortest one, which is all that is known here.
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
    /// An original, so long after its gap had opened.
    Original { late_ns: i64 },
    /// A retransmission of what had been lost.
    Repair,
    /// A retransmission of what was only late: its sender is strict.
    Spurious,
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
    /// Late originals: each stands for its packet alone.
    filled: VecDeque<Gap>,
}

impl Released {
    pub(super) fn new() -> Result<Self, TryReserveError> {
        let (mut gaps, mut filled) = (VecDeque::new(), VecDeque::new());
        gaps.try_reserve_exact(REMEMBERED)?;
        filled.try_reserve_exact(REMEMBERED)?;
        Ok(Released { gaps, filled })
    }

    /// Bytes beside itself.
    pub(super) const fn footprint() -> usize {
        2 * REMEMBERED * size_of::<Gap>()
    }

    /// `flow` went on without the numbers `from` to `to`. `original_ns`: for how long after the gap
    /// opened it can only be an original that fills it.
    pub(super) fn push(
        &mut self,
        flow: FlowId,
        (from, to): (u32, u32),
        open_ns: i64,
        original_ns: i64,
    ) {
        let gap = Gap {
            flow,
            from,
            to,
            since_ns: open_ns,
            original_ns,
        };
        remember(&mut self.gaps, gap);
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
            if gap.is_older(1, now_ns.saturating_sub(1)) {
                return Latecomer::Repair;
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
        match self.filled.iter().rposition(within) {
            Some(at) => {
                self.filled.remove(at);
                Latecomer::Spurious
            }
            None => Latecomer::Unknown,
        }
    }

    /// Takes out the oldest gap of either kind if its story is over: nothing more can be learnt of it.
    pub(super) fn pop_ended(&mut self, now_ns: i64) -> Option<(FlowId, Ended)> {
        // What is lost is resent a round trip after the gap opened at the earliest.
        if self.gaps.front().is_some_and(|gap| gap.is_older(2, now_ns)) {
            let gap = self.gaps.pop_front()?;
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

/// Puts `gap` at the end; if there is no room, the oldest one is forgotten.
fn remember(gaps: &mut VecDeque<Gap>, gap: Gap) {
    if gaps.len() >= REMEMBERED {
        gaps.pop_front();
    }
    gaps.push_back(gap);
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
        released.push(A, (100, 200), 1_000, 500);
        released
    }

    #[test]
    fn an_original_then_its_spurious_retransmission() {
        let mut released = one();
        let late = released.latecomer(A, (100, 200), 1_300);
        assert_eq!(late, Latecomer::Original { late_ns: 300 });
        let again = released.latecomer(A, (100, 200), 2_100);
        assert_eq!(again, Latecomer::Spurious);
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
        assert_eq!(released.latecomer(A, (100, 200), 1_501), Latecomer::Repair);
        assert_eq!(one().pop_ended(1_999), None);
        assert_eq!(one().pop_ended(2_000), Some((A, Ended::Lost)));
    }

    #[test]
    fn a_place_taken_by_another_flow_is_no_longer_this_one() {
        let other = FlowId { generation: 2, ..A };
        let late = one().latecomer(other, (100, 200), 1_100);
        assert_eq!(late, Latecomer::Unknown);
    }
}
