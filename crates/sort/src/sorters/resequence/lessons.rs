//! What the sorter learns as it goes, and what it makes of it: the bound of a gap.

use super::flows::Past;
use super::learnt::{Learnt, Limits, Outcome};
use super::released::{Ended, Latecomer};
use super::{OWN_OUTCOMES, Resequencer};
use crate::key::FlowKey;

/// What a flow and its path have shown.
pub(super) struct Experience<'a> {
    pub(super) past: &'a mut Past,
    path: &'a mut Learnt,
    limits: Limits,
}

impl<'a> Experience<'a> {
    /// What became of a gap of the flow.
    #[inline]
    pub(super) fn outcome(&mut self, outcome: Outcome, now_ns: i64) {
        self.past.learnt.outcome(outcome, now_ns);
        self.path.outcome(outcome, now_ns);
    }

    /// What was learnt by which a gap of the flow is waited for, and the round trip.
    #[inline]
    fn learnt(&mut self) -> (&mut Learnt, Option<i64>) {
        let rtt_ns = shorter(self.past.learnt.rtt_ns(), self.path.rtt_ns());
        if self.past.learnt.outcomes() >= OWN_OUTCOMES {
            (&mut self.past.learnt, rtt_ns)
        } else {
            (self.path, rtt_ns)
        }
    }

    /// How long a gap of the flow is waited for.
    #[inline]
    pub(super) fn bound_ns(&mut self) -> i64 {
        let limits = self.limits;
        let (learnt, rtt_ns) = self.learnt();
        let learnt_ns = learnt.bound_ns(rtt_ns, &limits);
        if self.path.is_new() {
            learnt_ns.max(limits.at_start_ns(rtt_ns, self.past.is_early()))
        } else {
            learnt_ns
        }
    }

    /// As if somebody had asked how long a gap is waited for.
    #[inline]
    fn consult(&mut self) {
        let limits = self.limits;
        let (learnt, rtt_ns) = self.learnt();
        learnt.bound_ns(rtt_ns, &limits);
    }

    /// For gaps that open and fill at one time.
    pub(super) fn at_once(self, now_ns: i64) -> AtOnce<'a> {
        let mut at_once = AtOnce {
            experience: self,
            now_ns,
            gaps: 0,
            settled_for: 0,
        };
        at_once.settle();
        at_once
    }
}

/// Gaps that open and fill at one time, and questions how long they are waited for: all of them have the same lateness, so that
/// those that no question divides are learnt together.
pub(super) struct AtOnce<'a> {
    experience: Experience<'a>,
    now_ns: i64,
    /// Gaps that filled and have not been learnt yet.
    gaps: u32,
    /// After fewer gaps than these no answer has changed.
    settled_for: u32,
}

impl AtOnce<'_> {
    /// A gap filled.
    #[inline]
    pub(super) fn filled(&mut self) {
        self.gaps += 1;
    }

    /// A gap opens at `next`, below a packet of length `len`.
    #[inline]
    pub(super) fn gap(&mut self, next: u32, len: u32) {
        self.experience.past.gap(next, len);
    }

    /// Somebody asks how long a gap is waited for.
    #[inline]
    pub(super) fn consult(&mut self) {
        if self.gaps >= self.settled_for {
            self.learn();
            self.experience.consult();
            self.settle();
        }
    }

    /// Learns from the gaps that have been filled since it last did.
    pub(super) fn learn(&mut self) {
        let gaps = core::mem::take(&mut self.gaps);
        if gaps > 0 {
            let Experience { past, path, .. } = &mut self.experience;
            past.learnt.in_time_at_once(gaps, self.now_ns);
            path.in_time_at_once(gaps, self.now_ns);
        }
    }

    fn settle(&mut self) {
        let own = self.experience.past.learnt.keeps_its_bound_for();
        self.settled_for = own.min(self.experience.path.keeps_its_bound_for());
    }
}

impl<K: FlowKey, P> Resequencer<K, P> {
    /// What the flow at `at` and its path have shown.
    #[inline]
    pub(super) fn experience(&mut self, at: usize) -> Option<Experience<'_>> {
        let past = self.flows.past(at)?;
        let path = self.paths.learnt(past.path)?;
        Some(Experience {
            past,
            path,
            limits: self.limits,
        })
    }

    /// The first packet after a SYN: a round trip has passed since.
    #[cold]
    pub(super) fn answered(&mut self, at: usize, now_ns: i64) {
        let opened_ns = self.flows.get(at).and_then(|flow| flow.opened_ns.take());
        let (Some(opened_ns), Some(past)) = (opened_ns, self.flows.past(at)) else {
            return;
        };
        let rtt_ns = now_ns.saturating_sub(opened_ns);
        past.learnt.round_trip(rtt_ns);
        let path = past.path;
        if let Some(path) = self.paths.learnt(path) {
            path.round_trip(rtt_ns);
        }
    }

    /// Looks at the gaps given up long ago.
    pub(super) fn learn(&mut self, now_ns: i64) {
        while let Some((id, ended)) = self.released.pop_ended(now_ns) {
            let Some(past) = self.flows.past_of(id) else {
                continue;
            };
            let path = past.path;
            for learnt in [Some(&mut past.learnt), self.paths.learnt(path)]
                .into_iter()
                .flatten()
            {
                match ended {
                    Ended::Lost => learnt.outcome(Outcome::Never, now_ns),
                    Ended::Spared => learnt.reaction(false, 0, now_ns),
                }
            }
        }
    }

    /// A packet comes below what was delivered, of a flow that has given up gaps. True: it repairs a loss.
    #[cold]
    pub(super) fn latecomer(&mut self, at: usize, numbers: (u32, u32), now_ns: i64) -> bool {
        let id = self.flows.id(at);
        let latecomer = self.released.latecomer(id, numbers, now_ns);
        match latecomer {
            Latecomer::Original { late_ns } => self.outcome(at, Outcome::TooLate(late_ns), now_ns),
            Latecomer::Repair { is_known: false } => self.outcome(at, Outcome::Never, now_ns),
            Latecomer::Spurious { seen_late_ns } => {
                if let Some(past) = self.flows.past(at) {
                    past.learnt.reaction(true, seen_late_ns, now_ns);
                    let path = past.path;
                    if let Some(path) = self.paths.learnt(path) {
                        path.reaction(true, seen_late_ns, now_ns);
                    }
                }
            }
            Latecomer::Repair { is_known: true } | Latecomer::Unknown => {}
        }
        self.learn(now_ns);
        matches!(latecomer, Latecomer::Repair { .. })
    }

    /// What became of a gap of a flow.
    pub(super) fn outcome(&mut self, at: usize, outcome: Outcome, now_ns: i64) {
        if let Some(mut experience) = self.experience(at) {
            experience.outcome(outcome, now_ns);
        }
    }

    /// A gap of a flow was waited for until its bound, in vain.
    pub(super) fn waited_in_vain(&mut self, at: usize) {
        let path = self.flows.past(at).map(|past| past.path);
        if let Some(path) = path.and_then(|path| self.paths.learnt(path)) {
            path.waited_in_vain();
        }
    }

    /// How long a gap of this flow is waited for.
    pub(super) fn bound_ns(&mut self, at: usize) -> i64 {
        let experience = self.experience(at);
        experience.map_or(0, |mut experience| experience.bound_ns())
    }

    /// The bound that was last computed for this flow, nanoseconds, for plots.
    pub(super) fn known_bound_ns(&self, flow: K) -> i64 {
        let Some(past) = self.flows.past_of_key(flow) else {
            return 0;
        };
        let Some(path) = self.paths.look(past.path) else {
            return 0;
        };
        let learnt_ns = if past.learnt.outcomes() >= OWN_OUTCOMES {
            past.learnt.known_bound_ns()
        } else {
            path.known_bound_ns()
        };
        if path.is_new() {
            let rtt_ns = shorter(past.learnt.rtt_ns(), path.rtt_ns());
            learnt_ns.max(self.limits.at_start_ns(rtt_ns, past.is_early()))
        } else {
            learnt_ns
        }
    }

    /// For how long after a gap opened only an original can fill it.
    pub(super) fn original_ns(&mut self, at: usize) -> i64 {
        let Some(past) = self.flows.past(at) else {
            return 0;
        };
        let path = self.paths.look(past.path);
        let rtt_ns = shorter(past.learnt.rtt_ns(), path.and_then(Learnt::rtt_ns));
        self.limits.original_ns(rtt_ns)
    }
}

/// The shorter of two round trips. That of a flow may be far too long: when what ends the handshake is lost, only a retransmission
/// answers the SYN, and a hold by such a round trip takes retransmissions for late packets.
pub(super) fn shorter(own_ns: Option<i64>, path_ns: Option<i64>) -> Option<i64> {
    own_ns.into_iter().chain(path_ns).min()
}
