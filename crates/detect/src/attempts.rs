//! Counts the attempts to open connections that carried no data.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::result::{Attempt, Attempts, Outcome};

/// Time before the end of the capture from which on an unanswered SYN may have been answered behind the end, nanoseconds: no
/// SYN is repeated sooner (RFC 6298 section 2 step (2.1)).
const MIN_WAIT_NS: i64 = 1_000_000_000;

/// Routes are traced with hop limits from 1 up to this.
const MAX_TRACED_HOPS: u8 = 30;
/// Different hop limits of SYNs from one host to one port by which a route is known to be traced, one of them at most the second number.
const MIN_TRACED_LIMITS: usize = 4;
const MAX_FIRST_LIMIT: u8 = 2;

/// The attempts that have ended, in any order; what is counted does not depend on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttemptTable {
    sums: Attempts,
    /// When the only SYN was sent of those that may be answered, or go on, after the end of the capture, nanoseconds, and what they are if not.
    open: Vec<(i64, Outcome)>,
    /// The last packet of all connections, nanoseconds.
    last_ns: Option<i64>,
}

impl AttemptTable {
    /// A connection or an attempt had its last packet then, nanoseconds.
    pub(crate) fn note_time(&mut self, ns: i64) {
        self.last_ns = self.last_ns.max(Some(ns));
    }

    /// Adds an attempt, unless too much of it is unknown to say how it ended.
    pub(crate) fn push(&mut self, attempt: Attempt) {
        self.note_time(attempt.last_ns);
        self.sums.packets += attempt.packets;
        self.sums.list.push(attempt);
        // Half of the list is moved at a time.
        if self.sums.list.len() > 2 * Attempts::MAX_LISTED {
            self.shorten();
        }
        if may_go_on(&attempt) {
            self.open.push((attempt.last_ns, attempt.outcome));
            if self.open.len().is_power_of_two() {
                self.settle();
            }
            return;
        }
        self.sums.by_outcome[attempt.outcome as usize] += 1;
        self.sums.syns_again += attempt.syns.saturating_sub(1);
    }

    /// An attempt was given up before it had ended.
    pub(crate) fn forget(&mut self, packets: u64) {
        self.sums.forgotten += 1;
        self.sums.packets += packets;
    }

    /// Adds what another table has counted.
    pub(crate) fn merge(&mut self, other: AttemptTable) {
        let (sums, more) = (&mut self.sums, other.sums);
        for (sum, more) in sums.by_outcome.iter_mut().zip(more.by_outcome) {
            *sum += more;
        }
        sums.syns_again += more.syns_again;
        sums.packets += more.packets;
        sums.forgotten += more.forgotten;
        sums.list.extend(more.list);
        self.open.extend(other.open);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.shorten();
        self.settle();
    }

    /// The sums and the list, in the order of time.
    pub(crate) fn finish(mut self) -> Attempts {
        self.settle();
        self.shorten();
        self.set_traced_aside();
        let Some(since_ns) = self.open_since() else {
            return self.sums;
        };
        self.sums.by_outcome[Outcome::Open as usize] += self.open.len() as u64;
        for attempt in &mut self.sums.list {
            if may_go_on(attempt) && attempt.last_ns > since_ns {
                attempt.outcome = Outcome::Open;
            }
        }
        self.sums
    }

    /// SYNs that trace a route are no attempts to open a connection, as far as they are listed.
    fn set_traced_aside(&mut self) {
        let low = |a: &&Attempt| (1..=MAX_TRACED_HOPS).contains(&a.hop_limit);
        let mut limits: BTreeMap<Ends, BTreeSet<u8>> = BTreeMap::new();
        for attempt in self.sums.list.iter().filter(low) {
            let limits = limits.entry(ends(attempt)).or_default();
            limits.insert(attempt.hop_limit);
        }
        limits.retain(|_, limits| {
            let begins = limits
                .first()
                .is_some_and(|&first| first <= MAX_FIRST_LIMIT);
            begins && limits.len() >= MIN_TRACED_LIMITS
        });
        let since_ns = self.open_since().unwrap_or(i64::MAX);
        for attempt in &mut self.sums.list {
            if !low(&&*attempt) || !limits.contains_key(&ends(attempt)) {
                continue;
            }
            if may_go_on(attempt) && attempt.last_ns > since_ns {
                let same = (attempt.last_ns, attempt.outcome);
                let open = self.open.iter().position(|&open| open == same);
                open.into_iter()
                    .for_each(|at| _ = self.open.swap_remove(at));
            } else {
                self.sums.by_outcome[attempt.outcome as usize] -= 1;
                self.sums.syns_again -= attempt.syns.saturating_sub(1);
            }
            self.sums.by_outcome[Outcome::Traced as usize] += 1;
            attempt.outcome = Outcome::Traced;
        }
    }

    fn open_since(&self) -> Option<i64> {
        self.last_ns.map(|last| last.saturating_sub(MIN_WAIT_NS))
    }

    /// What has waited long enough was not answered.
    fn settle(&mut self) {
        let Some(since_ns) = self.open_since() else {
            return;
        };
        for (_, outcome) in self.open.extract_if(.., |(at, _)| *at <= since_ns) {
            self.sums.by_outcome[outcome as usize] += 1;
        }
    }

    fn shorten(&mut self) {
        self.sums.list.sort_unstable();
        self.sums.list.truncate(Attempts::MAX_LISTED);
    }
}

/// Its SYN may be answered, or its sender answer that, after the end of the capture.
fn may_go_on(attempt: &Attempt) -> bool {
    let open = matches!(attempt.outcome, Outcome::Unanswered | Outcome::Unfinished);
    open && attempt.syns == 1
}

/// From which host to which port, in which network.
type Ends = (IpAddr, SocketAddr, u32);

fn ends(attempt: &Attempt) -> Ends {
    (attempt.src.ip(), attempt.dst, attempt.overlay)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SYNs with these hop limits, each unanswered: how many failed, and how many traced a route.
    fn traced(hop_limits: &[u8]) -> (u64, u64) {
        let mut table = AttemptTable::default();
        for (nth, &hop_limit) in (0..).zip(hop_limits) {
            let attempt = attempt(nth * 100_000_000, 1, Outcome::Unanswered);
            table.push(Attempt {
                hop_limit,
                ..attempt
            });
        }
        table.note_time(i64::MAX);
        let told = table.finish();
        (told.failed(), told.of(Outcome::Traced))
    }

    #[test]
    fn syns_with_rising_hop_limits_trace_a_route() {
        assert_eq!(traced(&[1, 2, 3, 4, 5, 64]), (1, 5));
        assert_eq!(traced(&[1, 1, 2, 2]), (4, 0));
        assert_eq!(traced(&[9, 10, 11, 12, 13]), (5, 0));
    }

    fn attempt(at_ns: i64, syns: u64, outcome: Outcome) -> Attempt {
        let end = |last| SocketAddr::from(([192, 0, 2, last], 80));
        Attempt {
            first_ns: at_ns,
            last_ns: at_ns,
            src: end(1),
            dst: end(2),
            overlay: 0,
            syns,
            packets: syns,
            hop_limit: 64,
            outcome,
        }
    }

    #[test]
    fn what_was_sent_once_just_before_the_end_is_open_and_not_failed() {
        let mut table = AttemptTable::default();
        table.push(attempt(0, 1, Outcome::Unanswered));
        table.push(attempt(1, 4, Outcome::Unanswered));
        table.push(attempt(1_500_000_000, 1, Outcome::Unanswered));
        table.push(attempt(1_500_000_000, 3, Outcome::Unanswered));
        let mut other = AttemptTable::default();
        other.push(attempt(2, 1, Outcome::Refused));
        other.push(attempt(3, 1, Outcome::Unfinished));
        other.push(attempt(1_599_000_000, 1, Outcome::Unfinished));
        other.note_time(1_600_000_000);
        table.merge(other);
        let done = table.finish();
        assert_eq!(done.by_outcome, [3, 1, 0, 1, 0, 2, 0]);
        assert_eq!((done.failed(), done.syns_again), (5, 5));
        assert_eq!(done.list.last().map(|a| a.outcome), Some(Outcome::Open));
        assert_eq!(done.list[4].outcome, Outcome::Open);
    }

    #[test]
    fn of_very_many_attempts_the_first_are_listed_in_whatever_order_they_came() {
        let many = 10 * Attempts::MAX_LISTED as i64;
        let mut table = AttemptTable::default();
        for n in (0..many).rev() {
            table.push(attempt(n, 2, Outcome::Unanswered));
        }
        let done = table.finish();
        assert_eq!(done.failed(), many as u64);
        assert!(done.list.iter().zip(0..).all(|(a, n)| a.first_ns == n));
        assert_eq!(done.list.len(), Attempts::MAX_LISTED);
    }
}
