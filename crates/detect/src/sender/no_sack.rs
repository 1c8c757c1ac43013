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
    /// Duplicate ACKs ever.
    ever: u32,
    /// Time of the last retransmission, and whether there was one.
    last_copy_ns: Option<i64>,
}

impl NoSack {
    pub(crate) fn evident(&self) -> bool {
        self.ever >= EVIDENT
    }

    pub(crate) fn retransmitted(&mut self, now: i64) {
        self.last_copy_ns = Some(now);
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
            && self.board.len() > 0
            && self
                .last
                .is_some_and(|l| l.ack == seg.ack && l.window == seg.window);
        if duplicate {
            self.no_sack.above += 1;
            self.no_sack.ever += 1;
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
                (_, Some(copies)) => self.retransmitted_left_edge(report, &copies, ack, late, i),
                (false, None) => {
                    self.sample_rtt(now - report.sent.sent_ns, self.no_sack.above > 0);
                    self.log_original(report, ack, Basis::certain(Evidence::CumulativeAck));
                }
            }
        }
        let absorbed = reports.len().saturating_sub(1) as u32;
        self.no_sack.above = if reports.is_empty() {
            self.no_sack.above
        } else {
            self.no_sack.above.saturating_sub(absorbed)
        };
        self.reports = reports;
    }

    fn late_left_edge(&mut self, report: &Report, ack: &Ack) {
        let now = ack.seg.ts_ns;
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        // A retransmission within two round trips may have caused the duplicate ACKs.
        let doubt = self
            .no_sack
            .last_copy_ns
            .is_some_and(|at| now - at < 2 * rtt);
        let basis = if doubt {
            Basis::ambiguous(Evidence::CumulativeAck, Reason::NoSack)
        } else {
            Basis::certain(Evidence::CumulativeAck).weaker(Reason::NoSack)
        };
        self.collector
            .late_unmeasured(place_of(&report.sent, &ack.seg), basis);
        if let Some(copies) = report.copies {
            self.count_spurious(&copies);
        }
    }

    fn retransmitted_left_edge(
        &mut self,
        report: &Report,
        copies: &Copies,
        ack: &Ack,
        late: bool,
        index: usize,
    ) {
        let mut report = *report;
        report.left_edge = index == 0;
        match self.attribute(&report, copies, ack) {
            super::First::Original(basis) => {
                self.count_spurious(copies);
                if late {
                    let basis = basis.weaker(Reason::NoSack);
                    self.collector
                        .late_unmeasured(place_of(&report.sent, &ack.seg), basis);
                } else {
                    self.log_original(&report, ack, basis);
                }
            }
            super::First::Retransmission => {
                self.filled
                    .insert(Filled::by_copy(&report.sent, *copies, &ack.seg));
            }
            // Filled from the queue behind the edge, or by the copy: nothing tells.
            super::First::Unknown if index > 0 => {
                self.log_original(&report, ack, Basis::certain(Evidence::CumulativeAck));
                self.count_spurious(copies);
            }
            super::First::Unknown => {
                self.filled
                    .insert(Filled::by_copy(&report.sent, *copies, &ack.seg));
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
