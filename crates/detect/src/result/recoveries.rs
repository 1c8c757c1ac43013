//! Recovery phases, and what would have avoided needless ones.

use inorder_limits::Reduction;

use crate::cause::Mark;

use super::{Cause, CauseCount, Distribution, Facts, RecoveryVerdict};

/// One recovery phase: from the first retransmission until everything sent before is acknowledged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recovery {
    /// First retransmission, nanoseconds since the epoch.
    pub start_ns: i64,
    /// Bytes from the flow's first data byte to what was retransmitted first.
    pub seq_offset: u64,
    /// Retransmissions sent in it.
    pub retransmissions: u32,
    /// True when a retransmission time-out, not duplicate ACKs, started it (as far as the
    /// capture shows: nothing newly acknowledged or SACKed for longer than an RTT).
    pub timeout: bool,
    /// How often the retransmission timer expired in it: at its start, and each time that what it sent again was not answered
    /// either.
    pub expiries: u32,
    /// Whether anything was lost.
    pub verdict: RecoveryVerdict,
    /// What the sender reacted to.
    pub cause: Cause,
    /// What `crate::cause` goes by.
    pub(crate) facts: Facts,
}

impl Recovery {
    /// One that began at `start_ns`, nanoseconds since the epoch, with the byte `seq_offset`.
    pub fn new(start_ns: i64, seq_offset: u64, verdict: RecoveryVerdict) -> Self {
        Recovery {
            start_ns,
            seq_offset,
            retransmissions: 1,
            timeout: false,
            expiries: 0,
            verdict,
            cause: Cause::Unknown,
            facts: Facts::default(),
        }
    }

    /// What its cost is found by, and what limited the transfer behind it.
    pub(crate) fn reduction(&self) -> Reduction {
        Reduction {
            start_ns: self.start_ns,
            seq_offset: self.seq_offset,
            timeout: self.timeout,
            verdict: self.verdict,
            cause: self.cause,
        }
    }

    /// Where the lowest and the highest segment begin that were sent again in it.
    pub(crate) fn sent_again(&self) -> (i64, i64) {
        let (first, highest) = self.sent_again_first();
        (first.min(self.facts.first), highest)
    }

    /// The same, but from the segment on that was sent again first.
    pub(crate) fn sent_again_first(&self) -> (i64, i64) {
        let first = i64::try_from(self.seq_offset).unwrap_or(i64::MAX);
        (first, self.facts.last.max(first))
    }
}

/// Recovery phases, when the sender cut its rate.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Recoveries {
    /// All.
    pub total: u64,
    /// Nothing retransmitted in them had been lost.
    pub spurious: u64,
    /// Undecided.
    pub ambiguous: u64,
    /// The same by cause, those that occurred, in the order of [`Cause`].
    pub by_cause: Vec<CauseCount>,
    /// Each one, when events are kept.
    pub list: Vec<Recovery>,
}

heap!(Recoveries: by_cause, list);

/// What would have kept the sender from mistaking late for lost, most of the time.
///
/// Only where reordering was the cause of a recovery, and from the late packets that are certain: the
/// value that 95 of 100 of them stay within. `None` where they are fewer than ten.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Avoidance {
    /// Duplicate-ACK threshold, packets (extent + 1; RFC 5681 section 3.2 has 3).
    pub dupthresh: Option<u32>,
    /// Time to wait after the first duplicate ACK or SACK above a hole, nanoseconds (RACK's reordering
    /// window, RFC 8985 section 6.2).
    pub window_ns: Option<i64>,
}

impl Recoveries {
    /// What goes back to `cause`.
    pub fn of(&self, cause: Cause) -> CauseCount {
        let found = self.by_cause.iter().find(|c| c.cause == cause);
        found.copied().unwrap_or_else(|| CauseCount::new(cause))
    }

    /// Counts the causes of those listed; others are unknown.
    pub(crate) fn count_causes(&mut self) {
        if self.total == 0 && self.list.is_empty() {
            return self.by_cause.clear(); // As most flows have none, all else is left out.
        }
        let mut counts = Cause::ALL.map(CauseCount::new);
        for phase in &self.list {
            let count = &mut counts[phase.cause as usize];
            count.recoveries += 1;
            count.timeouts += u64::from(phase.timeout);
            count.expiries += u64::from(phase.expiries);
            count.retransmissions += u64::from(phase.retransmissions);
        }
        let unlisted = self.total.saturating_sub(self.list.len() as u64);
        counts[Cause::Unknown as usize].recoveries += unlisted;
        self.by_cause = counts.into_iter().filter(|c| c.recoveries > 0).collect();
    }

    /// Phases of which it was open whether anything had been lost sent something again that was: `lost` is in the order of the bytes.
    pub(crate) fn explain_by(&mut self, lost: &[Mark]) {
        let open = |phase: &&mut Recovery| phase.verdict == RecoveryVerdict::Ambiguous;
        for phase in self.list.iter_mut().filter(open) {
            let (from, to) = phase.sent_again();
            let next = lost.partition_point(|mark| mark.start < from);
            if lost.get(next).is_some_and(|mark| mark.start <= to) {
                phase.verdict = RecoveryVerdict::Loss;
                self.ambiguous = self.ambiguous.saturating_sub(1);
            }
        }
    }

    /// None of the verdicts holds.
    pub(crate) fn doubt(&mut self) {
        (self.spurious, self.ambiguous) = (0, self.total);
        for one in &mut self.list {
            (one.verdict, one.cause) = (RecoveryVerdict::Ambiguous, Cause::Unknown);
        }
        let mut unknown = CauseCount::new(Cause::Unknown);
        for count in self.by_cause.drain(..) {
            unknown.recoveries += count.recoveries;
            unknown.timeouts += count.timeouts;
            unknown.expiries += count.expiries;
            unknown.retransmissions += count.retransmissions;
        }
        self.by_cause
            .extend(Some(unknown).filter(|c| c.recoveries > 0));
    }
}

impl Recoveries {
    /// Of these phases before they were [doubted](Self::doubt), those that were spurious remain so.
    pub(crate) fn restore_spurious(&mut self, before: &[Recovery]) {
        for (one, before) in self.list.iter_mut().zip(before) {
            if before.verdict == RecoveryVerdict::Spurious {
                (one.verdict, one.cause) = (before.verdict, before.cause);
                self.spurious += 1;
                self.ambiguous -= 1;
            }
        }
        self.count_causes();
    }
}

impl Avoidance {
    /// Fewer late packets say little of the rest.
    pub(crate) const LEAST_LATE: u64 = 10;

    /// From the late packets of a flow whose recoveries have their causes.
    pub(crate) fn of(
        recoveries: &Recoveries,
        extents: &Distribution,
        late_ns: &Distribution,
    ) -> Self {
        const SHARE_AVOIDED: f64 = 0.95;
        let caused = recoveries.of(Cause::Reordering).recoveries > 0;
        if extents.count() < Self::LEAST_LATE || !caused {
            return Avoidance::default();
        }
        let extent = extents.quantile(SHARE_AVOIDED).unwrap_or(0);
        Avoidance {
            dupthresh: u32::try_from(extent + 1).ok(),
            window_ns: late_ns
                .quantile(SHARE_AVOIDED)
                .and_then(|ns| i64::try_from(ns).ok()),
        }
    }
}
