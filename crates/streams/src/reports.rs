//! What the receiver's reports say of a stream: which packets it lacked, and which of those came after all.

use std::collections::{BTreeMap, BTreeSet};

use inorder_wire::Report;

use crate::Reported;

/// Numbers remembered that no report has covered yet.
const MAX_OUTSTANDING: usize = 1 << 14;

/// How often each packet was sent, by its number.
type Times = BTreeMap<u64, u32>;

/// Follows packets until a report covers them.
///
/// A packet moves at most twice, from `open` to `missing` and to `arrived`. So a report takes the time of what it says for
/// the first time, and not of all that is outstanding: whoever never fills a hole does not make each report expensive.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// Packets that no report has mentioned.
    open: Times,
    /// Packets that a report has shown to be missing, and none has covered.
    missing: Times,
    /// Packets that a report covers while others below them are outstanding.
    arrived: BTreeSet<u64>,
    /// Every number up to this one is covered.
    cumulative: Option<u64>,
    /// Numbers that a report covers and that did not come by before.
    unseen: u64,
    found: Reported,
}

inorder_base::heap!(Reports: open, missing, arrived);

impl Reported {
    /// A report covers a packet for the first time that another one had shown to be missing.
    fn arrived(&mut self, times: u32) {
        self.late += u64::from(times == 1);
        self.repeated += u64::from(times > 1);
    }
}

/// Takes out the packets `first..=last`.
fn take(from: &mut Times, first: u64, last: u64) -> impl Iterator<Item = (u64, u32)> {
    std::iter::from_fn(move || {
        let (&seq, &times) = from.range(first..=last).next()?;
        from.remove(&seq);
        Some((seq, times))
    })
}

impl Reports {
    /// A packet of the stream, its number extended.
    pub(super) fn sent(&mut self, seq: u64) {
        if self.cumulative.is_some_and(|covered| seq <= covered) || self.arrived.contains(&seq) {
            return;
        }
        let known = self.open.get_mut(&seq);
        if let Some(times) = known.or_else(|| self.missing.get_mut(&seq)) {
            *times = times.saturating_add(1);
        } else if self.outstanding() < MAX_OUTSTANDING {
            self.open.insert(seq, 1);
        }
    }

    /// Number of packets that are remembered.
    fn outstanding(&self) -> usize {
        self.open.len() + self.missing.len() + self.arrived.len()
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
        self.cover(cumulative);
        for &(first, last) in &report.ranges {
            let (first, last) = (extend(first), extend(last));
            if first <= last {
                self.arrive(first, last);
            }
            // What is left below the range is missing.
            if let Some(below) = first.checked_sub(1) {
                self.missing.extend(take(&mut self.open, 0, below));
            }
        }
    }

    /// Everything up to `cumulative` has come.
    fn cover(&mut self, cumulative: u64) {
        let overflown = self.outstanding() >= MAX_OUTSTANDING;
        // What the first report covers may have come before the capture began.
        let begun = self.cumulative.map(|covered| covered.saturating_add(1));
        let first = begun.or_else(|| self.first()).filter(|_| !overflown);
        self.cumulative = Some(cumulative);
        let before = self.outstanding();
        take(&mut self.open, 0, cumulative).for_each(drop);
        for (_, times) in take(&mut self.missing, 0, cumulative) {
            self.found.arrived(times);
        }
        while self.arrived.first().is_some_and(|seq| *seq <= cumulative) {
            self.arrived.pop_first();
        }
        let covered = before - self.outstanding();
        if let Some(first) = first {
            let all = cumulative.saturating_add(1).saturating_sub(first);
            self.unseen += all.saturating_sub(covered as u64);
        }
    }

    /// The least number that is outstanding.
    fn first(&self) -> Option<u64> {
        let maps = [&self.open, &self.missing].map(|times| times.keys().next());
        maps.into_iter()
            .chain([self.arrived.first()])
            .flatten()
            .min()
            .copied()
    }

    /// The packets `first..=last` have come, and some below them may have not.
    fn arrive(&mut self, first: u64, last: u64) {
        let open = take(&mut self.open, first, last);
        self.arrived.extend(open.map(|(seq, _)| seq));
        for (seq, times) in take(&mut self.missing, first, last) {
            self.found.arrived(times);
            self.arrived.insert(seq);
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
    use proptest::prelude::*;

    use super::*;

    /// The straightforward twin: each report walks every packet that is outstanding.
    #[derive(Default)]
    struct Twin {
        /// How often each was sent, whether it was reported missing, and whether it arrived.
        outstanding: BTreeMap<u64, (u32, bool, bool)>,
        cumulative: Option<u64>,
        unseen: u64,
        late: u64,
        repeated: u64,
    }

    impl Twin {
        fn sent(&mut self, seq: u64) {
            if self.cumulative.is_none_or(|covered| seq > covered) {
                self.outstanding.entry(seq).or_default().0 += 1;
            }
        }

        fn report(&mut self, report: &Report) {
            if self.cumulative > Some(report.cumulative) {
                return;
            }
            let first = self.outstanding.keys().next();
            let first = self
                .cumulative
                .map(|covered| covered + 1)
                .or(first.copied());
            let covered = (first.unwrap_or(u64::MAX)..=report.cumulative)
                .filter(|seq| !self.outstanding.contains_key(seq));
            self.unseen += covered.count() as u64;
            self.arrive(0, report.cumulative);
            self.outstanding.retain(|seq, _| *seq > report.cumulative);
            self.cumulative = Some(report.cumulative);
            for &(first, last) in &report.ranges {
                self.arrive(first, last);
                for (_, missing, _) in self.outstanding.range_mut(..first).map(|(_, sent)| sent) {
                    *missing = true;
                }
            }
        }

        fn arrive(&mut self, first: u64, last: u64) {
            for (seq, (times, missing, arrived)) in &mut self.outstanding {
                if (first..=last).contains(seq) {
                    let is_news = *missing && !*arrived;
                    self.late += u64::from(is_news && *times == 1);
                    self.repeated += u64::from(is_news && *times > 1);
                    *arrived = true;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_single_packets(
            steps in prop::collection::vec(
                (0u64..40, prop::option::of(prop::collection::vec((0u64..40, 0u64..8), 0..4))), 1..120),
        ) {
            let (mut reports, mut twin) = (Reports::default(), Twin::default());
            for (nth, (number, ranges)) in steps.into_iter().enumerate() {
                // Numbers go on slowly, so that reports are old, of now, and of what was not sent yet.
                let begun = nth as u64 / 4;
                let Some(ranges) = ranges else {
                    reports.sent(begun + number);
                    twin.sent(begun + number);
                    continue;
                };
                let ranges = ranges.iter().map(|(first, more)| (begun + first, begun + first + more));
                let report = report(begun + number / 4, &ranges.collect::<Vec<_>>());
                reports.report(&report, |n| n);
                twin.report(&report);
                prop_assert_eq!((reports.found.late, reports.found.repeated), (twin.late, twin.repeated));
                prop_assert_eq!((reports.unseen, reports.outstanding()), (twin.unseen, twin.outstanding.len()));
            }
        }
    }

    /// A hole that is never filled, reported again and again above ever more packets.
    #[test]
    fn a_report_takes_out_only_what_it_says_for_the_first_time() {
        let mut reports = Reports::default();
        for seq in 2..10_000 {
            reports.sent(seq);
            reports.report(&report(0, &[(2, seq)]), |n| n);
            assert!(reports.open.is_empty() && reports.missing.is_empty());
        }
        assert_eq!(reports.arrived.len(), 9_998);
    }

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
        assert_eq!(reports.outstanding(), 0);
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
