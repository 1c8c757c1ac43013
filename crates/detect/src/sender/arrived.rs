//! One segment that an ACK reports for the first time: when it arrived, and which copy of it.

use super::Sender;
use super::acks::Ack;
use super::attribute::First;
use super::board::Copies;
use super::filled::{EITHER, Filled};
use super::log::{Entry, Status};
use super::report::Report;
use crate::collect::Basis;
use crate::habits::{Duplicates, TooOld};
use crate::result::Evidence;

/// How long a DSACK is waited for that tells which copy came, at least, nanoseconds.
const MIN_DSACK_WAIT_NS: i64 = 20_000_000;
/// How long more round trips are waited for where few are known, nanoseconds: the applications of short connections pause for seconds.
const MAX_WAIT_FOR_ROUND_TRIPS_NS: i64 = 10_000_000_000;

impl Sender {
    pub(super) fn arrived(&mut self, report: &Report, ack: &Ack, had_hole: bool) {
        let now = ack.seg.ts_ns;
        let alone = self.reading.alone;
        if let Some(had) = report.copies.and_then(|copies| copies.discarded) {
            return self.came_again_after_discard(report, had, ack);
        }
        // A coarse clock does not tell what was sent again before the acknowledgement came.
        let coarse = self.timing.is_coarse();
        let Some(copies) = report.copies.filter(|c| c.first_ns < now || coarse) else {
            let took = now - report.sent.sent_ns;
            if !self.gaps.unseen.clock_set_between(report.sent.sent_ns, now) {
                self.timing.sample_rtt(took, had_hole);
                if report.opens {
                    self.openers.push(report.sent.start, took);
                }
                self.timing.note_lateness(report, now, had_hole, alone);
            }
            if report.copies.is_none() {
                self.ledger.beyond.taken(report.sent.start);
            }
            let basis = Basis::certain(Evidence::Sack);
            let basis = self.unless_sent_unseen(basis, report.sent.sent_ns, now);
            self.log_original(report, ack, basis);
            if let Some(copies) = report.copies {
                // Retransmitted while the ACK was on its way.
                let sure = basis.confidence;
                self.ledger
                    .original_first(&report.sent, &copies, &ack.seg, sure);
                self.was_late(report, &copies, now);
            }
            return;
        };
        self.learn_paws(report, &copies, now);
        match self.attribute(report, &copies, ack) {
            First::Original(basis) => {
                self.timing.note_lateness(report, now, had_hole, alone);
                self.log_original(report, ack, basis);
                let sure = basis.confidence;
                self.ledger
                    .original_first(&report.sent, &copies, &ack.seg, sure);
                self.was_late(report, &copies, now);
            }
            First::Retransmission { .. } | First::Unknown if report.lags => {
                self.ledger.filled.insert(Filled {
                    silent: EITHER,
                    rtt_behind_ns: self.rtt_behind(report),
                    ..Filled::by_copy(&report.sent, copies, &ack.seg, 0)
                });
            }
            First::Retransmission { named } => {
                let rtt = self.timing.min_rtt.unwrap_or(0);
                let discardable = self.too_old(report) && self.receiver.too_old != TooOld::Taken;
                let mut filled = Filled {
                    discardable,
                    named,
                    rtt_behind_ns: self.rtt_behind(report),
                    ..Filled::by_copy(&report.sent, copies, &ack.seg, rtt)
                };
                let untimed = self.gaps.unseen.clock_set_between(report.sent.sent_ns, now);
                filled.last_too_young &= !untimed;
                let silent = self.receiver.duplicates() != Duplicates::Reported;
                if silent && self.ledger.tally.late_copied > 0 {
                    // Its original may come late as others did, and nothing tells.
                    self.ledger.hides_arrival();
                }
                let until = now.saturating_add(self.timing.patience());
                self.windows.clutter.occupy(filled.due_ns, until);
                self.ledger.copy_first(filled);
            }
            First::Unknown => self.doubtful(report, &copies, ack),
        }
        self.trim_filled();
    }

    /// An original that had been sent again came first. If other packets were sent again with it, nothing above it had been reported before,
    /// and it took no longer than a probe waits (RFC 8985 section 7.2), it was not late: some senders repeat all that is
    /// outstanding. It says nothing of how often originals are late.
    fn was_late(&mut self, report: &Report, copies: &Copies, now: i64) {
        let took = now.saturating_sub(report.sent.sent_ns);
        let in_time = took < self.timing.usual_rtt().saturating_mul(2);
        let probe = !self.ledger.recoveries.sent_several(copies.phase);
        if in_time && !probe && report.sent.start >= self.timing.turn {
            let tally = &mut self.ledger.tally;
            tally.late_copied = tally.late_copied.saturating_sub(1);
        }
    }

    /// A report that is too soon for any retransmission is the original's. If that was too old, the receiver takes such data.
    fn learn_paws(&mut self, report: &Report, copies: &Copies, now: i64) {
        let took = now.saturating_sub(copies.first_ns);
        let rtt = self.timing.min_rtt.filter(|_| !self.timing.is_coarse());
        let soon = rtt.is_some_and(|rtt| took < rtt / 2);
        if soon && !report.left_edge && report.unsure.is_none() && self.too_old(report) {
            self.receiver.learn_too_old(TooOld::Taken);
        }
    }

    /// The round trip of what was sent right behind the segment, nanoseconds; 0 if unknown.
    pub(super) fn rtt_behind(&self, report: &Report) -> i64 {
        self.openers.behind(report.sent.start).unwrap_or(0)
    }

    /// Nothing tells yet which copy came first: a DSACK may.
    pub(super) fn doubtful(&mut self, report: &Report, copies: &Copies, ack: &Ack) {
        let wait = self
            .timing
            .min_rtt
            .map_or(0, |rtt| self.timing.usual_from(rtt))
            .saturating_mul(2)
            .max(MIN_DSACK_WAIT_NS);
        let took = ack.seg.ts_ns.saturating_sub(copies.first_ns);
        let wait = match self.timing.may_turn_out_too_soon(took) {
            true => wait.max(MAX_WAIT_FOR_ROUND_TRIPS_NS),
            false => wait,
        };
        let deadline = ack.seg.ts_ns.saturating_add(wait);
        let id = self.log_report(report, ack, Status::Doubtful { deadline });
        self.ledger.filled.insert(Filled {
            silent: self.silent_original(copies, ack),
            rtt_behind_ns: self.rtt_behind(report),
            ..Filled::doubtful(&report.sent, *copies, &ack.seg, id)
        });
    }

    pub(super) fn log_original(&mut self, report: &Report, ack: &Ack, basis: Basis) {
        self.log_report(report, ack, Status::Original(basis));
    }

    pub(super) fn log_report(&mut self, report: &Report, ack: &Ack, status: Status) -> u64 {
        let status = match status {
            Status::Original(basis) => {
                Status::Original(self.gaps.doubts.weaken(report.sent.start, basis))
            }
            other => other,
        };
        self.ledger.arrives(Entry {
            place: report.sent.place(&ack.seg),
            status,
            unsure: report.unsure,
            told: report.told,
            in_turn: report.in_turn,
            came_last: report.came_last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use crate::result::{Confidence, Kind};

    /// How many originals were late of five that are sent again before their ACKs come: `all` of them, or the first, whose turn the
    /// others took.
    fn late(all: bool) -> u64 {
        let mut trace = Trace::new(true, None);
        trace.in_order(0, 0, 20);
        if all {
            (0..5).for_each(|n| trace.send(40 + n, 20 + n));
            (0..5).for_each(|n| trace.send_again(47, 20 + n));
            (0..5).for_each(|n| trace.ack(50 + n, 21 + n, &[]));
        } else {
            trace.late(40, 20);
        }
        trace.in_order(100, 25, 60);
        trace.sender.settle(i64::MAX);
        trace.sender.ledger.tally.late_copied
    }

    #[test]
    fn what_is_sent_again_with_all_that_is_outstanding_was_not_late() {
        assert_eq!((late(true), late(false)), (0, 1));
    }

    /// An original comes late, sooner than its retransmission can; the receiver does not report that. Then two segments miss their turn: a
    /// retransmission brings the first, and the original of the second comes.
    #[test]
    fn the_original_of_what_a_retransmission_brought_may_have_come_before_what_is_late() {
        let mut trace = Trace::stamped(None);
        trace.in_order(0, 0, 20);
        (0..5).for_each(|n| trace.send(50 + n, 20 + n));
        (1..5).for_each(|n| trace.sack(60 + n, 20, &[(21, 21 + n)]));
        trace.send_again(64, 20);
        trace.ack_echoing(68, 25, &[], 1_050);
        (0..6).for_each(|n| trace.send(100 + n, 25 + n));
        (2..6).for_each(|n| trace.sack(110 + n, 25, &[(27, 26 + n)]));
        trace.send_again(114, 25);
        trace.ack_echoing(124, 26, &[(27, 31)], 1_114);
        trace.ack_echoing(125, 31, &[], 1_101);
        trace.in_order(200, 31, 51);
        let told = trace.end();
        let late: Vec<_> = told.iter().filter(|t| t.0 == Kind::Reordered).collect();
        let second = (Kind::Reordered, 26, Confidence::Likely);
        assert_eq!((late.len(), late[1]), (2, &second), "{told:?}");
    }
}
