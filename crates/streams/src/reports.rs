//! What the receiver's reports say of a stream: which packets it lacked, and which of those came after all.

use std::collections::BTreeMap;

use inorder_wire::Report;

use crate::Reported;

/// Numbers remembered that no report has covered yet.
const MAX_OUTSTANDING: usize = 1 << 14;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    times: u32,
    reported_missing: bool,
    /// A report covers it, and others below it are open.
    arrived: bool,
}

/// Follows packets until a report covers them.
#[derive(Debug, Default)]
pub(super) struct Reports {
    outstanding: BTreeMap<u64, Sent>,
    /// Every number up to this one is covered.
    cumulative: Option<u64>,
    /// Numbers that a report covers and that did not come by before.
    unseen: u64,
    found: Reported,
}

impl Reported {
    /// A report covers this packet for the first time, or again.
    fn arrived(&mut self, sent: Sent) {
        if sent.reported_missing && !sent.arrived {
            self.late += u64::from(sent.times == 1);
            self.repeated += u64::from(sent.times > 1);
        }
    }
}

impl Reports {
    /// A packet of the stream, its number extended.
    pub(super) fn sent(&mut self, seq: u64) {
        if self.cumulative.is_some_and(|covered| seq <= covered) {
            return;
        }
        if let Some(sent) = self.outstanding.get_mut(&seq) {
            sent.times += 1;
        } else if self.outstanding.len() < MAX_OUTSTANDING {
            let first = Sent {
                times: 1,
                reported_missing: false,
                arrived: false,
            };
            self.outstanding.insert(seq, first);
        }
    }

    /// A report. `extend` finds the number that a captured one stands for.
    pub(super) fn report(&mut self, report: &Report, extend: impl Fn(u64) -> u64) {
        let cumulative = extend(report.cumulative);
        self.found.reports += 1;
        self.found.with_gaps += u64::from(!report.ranges.is_empty());
        self.found.duplicates += u64::from(report.duplicates);
        // An older report that was overtaken says nothing new.
        if self.cumulative.is_some_and(|covered| cumulative < covered) {
            return;
        }
        let overflown = self.outstanding.len() >= MAX_OUTSTANDING;
        let beyond = self.outstanding.split_off(&cumulative.saturating_add(1));
        let covered = std::mem::replace(&mut self.outstanding, beyond);
        // What the first report covers may have come before the capture began.
        let open = self.cumulative.map(|covered| covered.saturating_add(1));
        if let Some(first) = open.or(covered.keys().next().copied())
            && !overflown
        {
            let all = cumulative.saturating_add(1).saturating_sub(first);
            self.unseen += all.saturating_sub(covered.len() as u64);
        }
        self.cumulative = Some(cumulative);
        covered.values().for_each(|sent| self.found.arrived(*sent));
        for &(first, last) in &report.ranges {
            let (first, last) = (extend(first), extend(last));
            if first <= last {
                for (_, sent) in self.outstanding.range_mut(first..=last) {
                    self.found.arrived(*sent);
                    sent.arrived = true;
                }
            }
            // What is left below the range is missing.
            for (_, sent) in self.outstanding.range_mut(..first) {
                sent.reported_missing = true;
            }
        }
    }

    /// Packets that the receiver got and that did not come by.
    pub(super) fn unseen(&self) -> u64 {
        self.unseen
    }

    /// What was found; `None` without any report.
    pub(super) fn finish(&self) -> Option<Reported> {
        (self.found.reports > 0).then_some(self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(cumulative: u64, ranges: &[(u64, u64)]) -> Report {
        Report {
            ts_ns: 0,
            cumulative,
            ranges: ranges.to_vec(),
            duplicates: 0,
        }
    }

    #[test]
    fn a_late_packet_and_a_lost_one() {
        let mut reports = Reports::default();
        (1..=6).for_each(|seq| reports.sent(seq));
        for (cumulative, ranges) in [(1, &[(3, 3)][..]), (3, &[(5, 5)])] {
            reports.report(&report(cumulative, ranges), |n| n);
        }
        reports.sent(4);
        reports.report(&report(6, &[]), |n| n);
        let found = reports.finish().unwrap();
        assert_eq!((found.reports, found.with_gaps), (3, 2));
        assert_eq!((found.late, found.repeated), (1, 1));
        assert!(reports.outstanding.is_empty());
    }

    #[test]
    fn an_overtaken_report_changes_nothing() {
        let mut reports = Reports::default();
        (1..=4).for_each(|seq| reports.sent(seq));
        reports.report(&report(4, &[]), |n| n);
        reports.report(&report(1, &[(3, 3)]), |n| n);
        let found = reports.finish().unwrap();
        assert_eq!((found.late, found.repeated, found.with_gaps), (0, 0, 1));
    }
}
