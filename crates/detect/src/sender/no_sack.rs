//! Without SACK: only fills of the left edge show, as a jump after duplicate ACKs.
//!
//! Duplicate ACKs from late data and from needless retransmissions look alike, so a fill counts
//! only when no retransmission was under way; extents are not given.

use super::acks::Ack;
use super::board::Copies;
use super::{Filled, Report, Sender, place_of};
use crate::collect::Basis;
use crate::result::{Evidence, Reason, Verdict};

/// Duplicate ACKs without a block after which a connection without handshake has no SACK.
const EVIDENT: u32 = 3;

/// What is remembered between ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoSack {
    /// Duplicate ACKs since the left edge last moved: segments above the hole.
    above: u32,
    /// Of these, the ones no retransmission can have caused.
    above_clean: u32,
    /// Duplicate ACKs ever.
    ever: u32,
    /// Time of the last retransmission, and what had been sent by then: until it is all
    /// acknowledged, duplicate ACKs may be the retransmissions' doing.
    last_copy: Option<(i64, i64)>,
    /// A hole that had duplicate ACKs before anything was retransmitted.
    clean: Option<i64>,
}

impl NoSack {
    pub(crate) fn evident(&self) -> bool {
        self.ever >= EVIDENT
    }

    /// `[start, ..)` was retransmitted while `una` was the left edge.
    pub(crate) fn retransmitted(&mut self, now: i64, start: i64, una: i64, highest: i64, rtt: i64) {
        if start == una && self.above_clean > 0 && !self.tainted(now, una, rtt) {
            self.clean = Some(start);
        }
        self.above_clean = 0;
        self.last_copy = Some((now, highest));
    }

    /// May a retransmission explain what the ACKs up to `una` show at `now`?
    fn tainted(&self, now: i64, una: i64, rtt: i64) -> bool {
        self.last_copy
            .is_some_and(|(at, highest)| una <= highest || now - at < 2 * rtt)
    }
}

impl Sender {
    pub(super) fn process_without_sack(&mut self, ack: &Ack, number: i64) {
        if number > self.una {
            self.advance_without_sack(ack, number);
            return;
        }
        let seg = &ack.seg;
        let duplicate = number == self.una
            && !ack.stale
            && seg.payload_len == 0
            && self.board.get(0).is_some_and(|s| s.sent_ns < seg.ts_ns)
            && self
                .last
                .is_some_and(|l| l.ack == seg.ack && l.window == seg.window);
        if duplicate {
            let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
            self.no_sack.above += 1;
            self.no_sack.ever += 1;
            if !self.no_sack.tainted(seg.ts_ns, number, rtt) {
                self.no_sack.above_clean += 1;
            }
        }
    }

    fn advance_without_sack(&mut self, ack: &Ack, number: i64) {
        let now = ack.seg.ts_ns;
        self.reports.clear();
        self.pop_acked(number);
        let reports = std::mem::take(&mut self.reports);
        for (i, report) in reports.iter().enumerate() {
            let late = i == 0 && self.no_sack.above > 0;
            let copies = report.copies.filter(|c| c.first_ns < now);
            match (late, copies) {
                (true, None) => self.late_left_edge(report, ack),
                (_, Some(copies)) => self.retransmitted_report(report, &copies, ack, late, i),
                (false, None) => {
                    self.sample_rtt(now - report.sent.sent_ns, self.no_sack.above > 0);
                    self.log_original(report, ack, Basis::certain(Evidence::CumulativeAck));
                }
            }
        }
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        if self.no_sack.last_copy.is_some() && !self.no_sack.tainted(now, number, rtt) {
            // The episode is over; what it left in the count was not late data.
            self.no_sack = NoSack {
                ever: self.no_sack.ever,
                ..NoSack::default()
            };
        }
        let absorbed = reports.len().saturating_sub(1) as u32;
        self.no_sack.above = self.no_sack.above.saturating_sub(absorbed);
        self.no_sack.above_clean = self.no_sack.above_clean.saturating_sub(absorbed);
        self.reports = reports;
    }

    fn late_left_edge(&mut self, report: &Report, ack: &Ack) {
        let now = ack.seg.ts_ns;
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        let sure =
            self.no_sack.above_clean > 0 && !self.no_sack.tainted(now, report.sent.start, rtt);
        self.late_without_sack(report, ack, Evidence::CumulativeAck, sure);
        if let Some(copies) = report.copies {
            self.count_spurious(&copies);
        }
    }

    /// Counts a late left edge; only a sure one is worth an event.
    fn late_without_sack(&mut self, report: &Report, ack: &Ack, evidence: Evidence, sure: bool) {
        if sure {
            let basis = Basis::certain(evidence).weaker(Reason::NoSack);
            self.collector
                .late_unmeasured(place_of(&report.sent, &ack.seg), basis);
        } else {
            self.collector.late_perhaps();
        }
    }

    fn retransmitted_report(
        &mut self,
        report: &Report,
        copies: &Copies,
        ack: &Ack,
        late: bool,
        index: usize,
    ) {
        if index > 0 {
            // It waited behind the hole, and the hole is filled before what lies behind it is
            // retransmitted: the original.
            self.log_original(report, ack, Basis::certain(Evidence::CumulativeAck));
            self.count_spurious(copies);
            return;
        }
        let report = Report {
            left_edge: true,
            joined: false,
            opens: false,
            ..*report
        };
        match self.attribute(&report, copies, ack) {
            super::First::Original(basis) => {
                self.count_spurious(copies);
                if late {
                    // The duplicate ACKs came before any retransmission could cause them.
                    let sure = basis.evidence == Evidence::Timestamps
                        && self.no_sack.clean == Some(report.sent.start);
                    self.late_without_sack(&report, ack, basis.evidence, sure);
                } else {
                    self.log_original(&report, ack, basis);
                }
            }
            super::First::Retransmission | super::First::Unknown => {
                self.filled
                    .insert(Filled::by_copy(&report.sent, *copies, &ack.seg, 0));
            }
        }
        self.trim_filled();
    }

    fn count_spurious(&mut self, copies: &Copies) {
        self.spurious += u64::from(copies.count);
        self.recoveries
            .resolve(copies.phase, Verdict::Spurious, copies.count);
    }
}
