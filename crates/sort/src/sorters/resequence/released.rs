//! Gaps that were given up, kept for a while: what comes into one later is a lesson.
//!
//! A late original tells how long a hold would have been enough, so that lateness is learnt without
//! holding anything. Should it be resent as well, its sender takes late packets for lost ones.

use alloc::collections::{TryReserveError, VecDeque};

use super::held::before;

/// Gaps remembered, of all flows.
const REMEMBERED: usize = 128;

/// What has happened since the gap was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has come.
    Open,
    /// A late original came at this time.
    Filled { at_ns: i64 },
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    flow: FlowId,
    from: u32,
    to: u32,
    open_ns: i64,
    /// What comes later than this after the gap opened is taken for a retransmission.
    original_ns: i64,
    state: State,
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
    gaps: VecDeque<Gap>,
}

impl Released {
    pub(super) fn new() -> Result<Self, TryReserveError> {
        let mut gaps = VecDeque::new();
        gaps.try_reserve_exact(REMEMBERED)?;
        Ok(Released { gaps })
    }

    /// Bytes beside itself.
    pub(super) const fn footprint() -> usize {
        REMEMBERED * size_of::<Gap>()
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
        if self.gaps.len() >= REMEMBERED {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap {
            flow,
            from,
            to,
            open_ns,
            original_ns,
            state: State::Open,
        });
    }

    /// A packet `seq` to `end` of `flow` comes below what was delivered.
    pub(super) fn latecomer(
        &mut self,
        flow: FlowId,
        (seq, end): (u32, u32),
        now_ns: i64,
    ) -> Latecomer {
        let is_in = |gap: &Gap| gap.flow == flow && before(seq, gap.to) && before(gap.from, end);
        let Some(at) = self.gaps.iter().rposition(is_in) else {
            return Latecomer::Unknown;
        };
        let Some(gap) = self.gaps.get_mut(at) else {
            return Latecomer::Unknown;
        };
        let late_ns = now_ns.saturating_sub(gap.open_ns);
        match gap.state {
            State::Open if late_ns <= gap.original_ns => {
                // From now on it stands for this packet alone; what else was missing is forgotten.
                (gap.from, gap.to) = (seq, end);
                gap.state = State::Filled { at_ns: now_ns };
                Latecomer::Original { late_ns }
            }
            State::Open => {
                self.gaps.remove(at);
                Latecomer::Repair
            }
            State::Filled { .. } => {
                self.gaps.remove(at);
                Latecomer::Spurious
            }
        }
    }

    /// Takes out the oldest gap if its story is over: nothing more can be learnt of it.
    pub(super) fn pop_ended(&mut self, now_ns: i64) -> Option<(FlowId, Ended)> {
        let gap = self.gaps.front()?;
        let (since_ns, ended) = match gap.state {
            State::Open => (gap.open_ns, Ended::Lost),
            // A sender that resends it does so a round trip after the gap, give or take.
            State::Filled { at_ns } => (at_ns, Ended::Spared),
        };
        let wait_ns = gap.original_ns.saturating_mul(2);
        if now_ns.saturating_sub(since_ns) < wait_ns {
            return None;
        }
        let flow = gap.flow;
        self.gaps.pop_front();
        Some((flow, ended))
    }
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
        assert_eq!(released.pop_ended(2_299), None);
        assert_eq!(released.pop_ended(2_300), Some((A, Ended::Spared)));
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
