//! Recoveries judged by what is known of each retransmission, as captures at both ends show it.

use super::{Avoidance, Cause, FlowReport, Recovery, RecoveryVerdict, Retransmission, Verdict};
use crate::cause::{Flow, Mark, RttTrace};

impl FlowReport {
    /// Judges its recovery phases anew by its records, and what would have avoided them. The phases are known only if it kept its
    /// events. How full a queue was only the inference has seen: that stays.
    pub fn judge_by_records(&mut self) {
        if self.recoveries.list.len() as u64 == self.recoveries.total {
            self.judge_phases();
        }
        let order = &self.reordering;
        self.avoidance = Avoidance::of(&self.recoveries, &order.extents, &order.late_ns);
    }

    fn judge_phases(&mut self) {
        let recoveries = &mut self.recoveries;
        let starts: Vec<i64> = recoveries.list.iter().map(|r| r.start_ns).collect();
        for (i, recovery) in recoveries.list.iter_mut().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(i64::MAX);
            let all = self.records.retransmissions.iter();
            let inside = all.filter(|r| (recovery.start_ns..end).contains(&r.at_ns));
            recovery.verdict = verdict_of(inside);
        }
        let mut marks: Vec<Mark> = self.records.events.iter().map(Mark::of).collect();
        marks.sort_unstable();
        let facts = Flow {
            marks: &marks,
            rtts: &RttTrace::default(),
            mss: self.endpoints.mss,
            acks_overtaken: self.ack_path.reordered > 0,
        };
        let inferred: Vec<Cause> = recoveries.list.iter().map(|r| r.cause).collect();
        facts.assign(recoveries, &mut self.records.retransmissions);
        for (recovery, before) in recoveries.list.iter_mut().zip(inferred) {
            if recovery.cause == Cause::Loss && before.is_loss() {
                recovery.cause = before;
            }
        }
        recoveries.count_causes();
        let count = |list: &[Recovery], v| list.iter().filter(|r| r.verdict == v).count() as u64;
        recoveries.spurious = count(&recoveries.list, RecoveryVerdict::Spurious);
        recoveries.ambiguous = count(&recoveries.list, RecoveryVerdict::Ambiguous);
    }
}

/// One that was needed makes a loss; what is open, or of which nothing is known, is ambiguous.
fn verdict_of<'a>(all: impl Iterator<Item = &'a Retransmission>) -> RecoveryVerdict {
    let verdicts: Vec<Verdict> = all.map(|r| r.verdict).collect();
    match () {
        _ if verdicts.contains(&Verdict::Needed) => RecoveryVerdict::Loss,
        _ if verdicts.is_empty() || verdicts.contains(&Verdict::Ambiguous) => {
            RecoveryVerdict::Ambiguous
        }
        _ => RecoveryVerdict::Spurious,
    }
}
