//! What the sorter learns as it goes, and what it makes of it: the bound of a gap.

use super::released::{Ended, Latecomer};
use super::{OWN_OUTCOMES, Resequencer};
use crate::key::FlowKey;

impl<K: FlowKey, P> Resequencer<K, P> {
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
                    Ended::Lost => learnt.outcome(None, now_ns),
                    Ended::Spared => learnt.reaction(false, now_ns),
                }
            }
        }
    }

    /// A packet comes below what was delivered, of a flow that has given up gaps.
    #[cold]
    pub(super) fn latecomer(&mut self, at: usize, numbers: (u32, u32), now_ns: i64) {
        let id = self.flows.id(at);
        match self.released.latecomer(id, numbers, now_ns) {
            Latecomer::Original { late_ns } => self.outcome(at, Some(late_ns), now_ns),
            Latecomer::Repair => self.outcome(at, None, now_ns),
            Latecomer::Spurious => {
                if let Some(past) = self.flows.past(at) {
                    past.learnt.reaction(true, now_ns);
                    let path = past.path;
                    if let Some(path) = self.paths.learnt(path) {
                        path.reaction(true, now_ns);
                    }
                }
            }
            Latecomer::Unknown => {}
        }
        self.learn(now_ns);
    }

    /// A gap filled so late, or never.
    pub(super) fn outcome(&mut self, at: usize, late_ns: Option<i64>, now_ns: i64) {
        let Some(past) = self.flows.past(at) else {
            return;
        };
        past.learnt.outcome(late_ns, now_ns);
        let path = past.path;
        if let Some(path) = self.paths.learnt(path) {
            path.outcome(late_ns, now_ns);
        }
    }

    /// How long a gap of this flow is waited for.
    pub(super) fn bound_ns(&mut self, at: usize) -> i64 {
        let Some(past) = self.flows.past(at) else {
            return 0;
        };
        let Some(path) = self.paths.learnt(past.path) else {
            return 0;
        };
        let rtt_ns = past.learnt.rtt_ns().or(path.rtt_ns());
        if past.learnt.outcomes() >= OWN_OUTCOMES {
            past.learnt.bound_ns(rtt_ns, &self.limits)
        } else if path.outcomes() > 0 {
            path.bound_ns(rtt_ns, &self.limits)
        } else {
            let most_ns = past.learnt.hard_ns(rtt_ns, &self.limits);
            self.limits.start_ns.min(most_ns)
        }
    }

    /// The bound that was last computed for this flow, nanoseconds, for plots.
    pub(super) fn known_bound_ns(&self, flow: K) -> i64 {
        let Some(past) = self.flows.past_of_key(flow) else {
            return 0;
        };
        if past.learnt.outcomes() >= OWN_OUTCOMES {
            return past.learnt.known_bound_ns();
        }
        let path = self.paths.look(past.path);
        path.map_or(0, super::learnt::Learnt::known_bound_ns)
    }

    /// For how long after a gap opened only an original can fill it.
    pub(super) fn original_ns(&mut self, at: usize) -> i64 {
        let limits = self.limits;
        let Some(past) = self.flows.past(at) else {
            return 0;
        };
        let path = past.path;
        let own_ns = past.learnt.rtt_ns();
        let rtt_ns = own_ns.or_else(|| self.paths.learnt(path).and_then(|path| path.rtt_ns()));
        match rtt_ns {
            _ if limits.tunnel => limits.most_ns,
            Some(rtt_ns) => rtt_ns / 4 * 3,
            None => limits.blind_ns,
        }
    }
}
