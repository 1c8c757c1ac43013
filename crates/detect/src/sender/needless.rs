//! Without SACK: what answers retransmissions, and what data above the left edge.
//!
//! A receiver answers each segment that does not move the left edge with a duplicate ACK at once (RFC 5681 section 4.2), whether it
//! lies above a hole or had come before. So duplicate ACKs are as many as such arrivals: those for retransmissions that
//! turn out to have been needless come a round trip after them, and the others are for what was sent once.

use super::Sender;
use super::acks::Ack;
use super::board::Copies;
use super::filled::{By, EITHER, Filled};
use super::log::Status;
use super::no_sack::Edge;
use super::report::Report;
use super::ring::Ring;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason};

/// From this number of duplicate ACKs on that no retransmission can have caused, new data above the left edge caused them. A single one may
/// answer a copy that the network made.
const MIN_FOR_NEW_DATA: u32 = 2;
/// Duplicate ACKs without a SACK block are taken to tell of segments that wait above a hole if at least this many do.
const MIN_WAITED_WITHOUT_BLOCKS: u64 = 3;

impl Sender {
    /// A retransmission was sent at `now`.
    pub(super) fn note_copy(&mut self, now: i64) {
        if self.receiver.may_lack_sack() {
            self.repeats.times.push(now);
        }
    }

    /// How long the answer to a retransmission takes at least and at most, nanoseconds.
    fn answer_takes(&self) -> (i64, i64) {
        let rtt = self.timing.min_rtt.unwrap_or(0);
        let latest = self.timing.usual_from(rtt).saturating_mul(2);
        (rtt - rtt / 16, latest.saturating_add(rtt))
    }

    /// A duplicate ACK at `now` is the answer to a retransmission of what the receiver had.
    pub(super) fn answers_needless(&mut self, now: i64) -> bool {
        let told = self.explanations.has(Explanation::AnsweredCopies);
        if !told || self.receiver.hides_blocks || self.timing.min_rtt.is_none() {
            return false;
        }
        let (soonest, latest) = self.answer_takes();
        let Some((_, start)) = self.repeats.awaited.answered(now, soonest, latest) else {
            return false;
        };
        let open = |start| Some((start, self.ledger.filled.get(start)?.first));
        if let Some((start, By::Doubtful(id))) = start.and_then(open) {
            let basis = Basis::certain(Evidence::CumulativeAck).weaker(Reason::NoSack);
            self.ledger.original_was(start, id, basis);
            // What waited had an answer, too.
            self.no_sack.unclaimed = self.no_sack.unclaimed.saturating_sub(1);
        }
        true
    }

    /// The last of `copies` turns out to be needless: if it was sent after `since_ns`, its answer is still to come.
    pub(super) fn await_answer(&mut self, copies: &Copies, since_ns: i64) -> bool {
        let told = self.explanations.has(Explanation::AnsweredCopies);
        let awaited = told && !self.receiver.hides_blocks && copies.last_ns >= since_ns;
        if awaited {
            self.repeats.awaited.add((copies.last_ns, None));
        }
        awaited
    }

    /// Something above the left edge that was sent once has come, as there are more duplicate ACKs by `now` than retransmissions under
    /// way.
    pub(super) fn new_above(&self, now: i64) -> bool {
        let told = self.explanations.has(Explanation::NewAbove);
        let above = self.no_sack.above;
        if !told || self.receiver.hides_blocks || above < MIN_FOR_NEW_DATA {
            return false;
        }
        let (soonest, latest) = self.answer_takes();
        let from = self.no_sack.above_ns.saturating_sub(latest);
        let copies = under_way(&self.repeats.times, from, now.saturating_sub(soonest));
        copies.is_some_and(|copies| above >= copies.saturating_add(MIN_FOR_NEW_DATA))
    }

    /// What lies behind what fills the left edge had been sent again.
    pub(super) fn behind_edge(&mut self, report: &Report, copies: &Copies, ack: &Ack, edge: &Edge) {
        let took = ack.seg.ts_ns - copies.first_ns;
        let told =
            self.explanations.has(Explanation::AnsweredCopies) && !self.receiver.hides_blocks;
        // Retransmissions come in the order in which they were sent: the one at the left edge came before these.
        let after = edge.filled_ns.is_some_and(|at| copies.first_ns >= at);
        if told && !after {
            self.no_sack.excused = self.no_sack.excused.saturating_add(copies.count);
        }
        let jumps = told && after && edge.segments > self.undisturbed();
        if jumps || self.timing.sooner_than_any(took) {
            // It waited behind the hole that was filled now, and no retransmission can have been there.
            self.log_original(report, ack, Basis::certain(Evidence::CumulativeAck));
            let since_ns = edge.filled_ns.unwrap_or(i64::MIN);
            return self.spurious_and_answered(&report.sent, copies, since_ns);
        }
        // No duplicate ACK says that anything waited: both were filled, one right behind the other.
        let none = self.no_sack.above == 0 && self.no_sack.unclaimed == 0;
        let filled = told && none && edge.filled_ns.is_some();
        let first = self.until_answered(report, copies, ack, told && after);
        self.ledger.filled.insert(Filled {
            silent: if filled { 0.0 } else { EITHER },
            first,
            ..Filled::by_copy(&report.sent, *copies, &ack.seg, 0)
        });
        self.trim_filled();
    }

    /// An ACK covers `segments`, most of which had waited above a hole as duplicate ACKs without blocks say.
    pub(super) fn waited_without_blocks(&self, segments: u64) -> bool {
        let waited = segments.saturating_sub(1).min(self.no_sack.above.into());
        let several = segments > self.undisturbed() && waited >= MIN_WAITED_WITHOUT_BLOCKS;
        several && !self.receiver.hides_blocks && self.explanations.has(Explanation::NoBlock)
    }

    /// The left edge moves by `edge`: alone, or together with a segment that was sent again right behind it.
    pub(super) fn learn_fills(&mut self, edge: &Edge) {
        let Some(filled_ns) = edge.filled_ns else {
            return;
        };
        let soon = filled_ns.saturating_add(self.timing.usual_rtt() / 2);
        let board = &self.outstanding.board;
        let next = board.get(0).and_then(|next| board.copies_of(next));
        let behind = next.is_some_and(|next| (filled_ns..=soon).contains(&next.first_ns));
        match edge.segments {
            1 if behind => self.receiver.learn_fill(true),
            2 => self.receiver.learn_fill(false),
            _ => {}
        }
    }

    /// If the last of `copies` has an answer that is still to come (`after`), the segment waited behind the hole; otherwise that filled it.
    fn until_answered(&mut self, report: &Report, copies: &Copies, ack: &Ack, after: bool) -> By {
        let decides = self.receiver.answers_each_fill();
        if after {
            let start = Some(report.sent.start).filter(|_| decides);
            self.repeats.awaited.add((copies.last_ns, start));
        }
        if !after || !decides {
            return By::Copy;
        }
        let deadline = copies.last_ns.saturating_add(self.answer_takes().1);
        By::Doubtful(self.log_report(report, ack, Status::Doubtful { deadline }))
    }
}

/// How many of the retransmissions at `times` were sent from `from` to `to`; `None` if there may be more than are remembered.
fn under_way(times: &Ring, from: i64, to: i64) -> Option<u32> {
    let times = times.values();
    let before = times.partition_point(|&at| at < from);
    let until = times.partition_point(|&at| at <= to);
    let all = before > 0 || !Ring::is_full(times.len());
    all.then(|| until.saturating_sub(before) as u32)
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// Of ten segments 20 and 25 are lost, and the sender repeats all ten: each that the receiver had is answered.
    fn whole_window(without: Option<Explanation>) -> Told {
        let mut trace = Trace::new(false, without);
        trace.in_order(0, 0, 20);
        (0..10).for_each(|n| trace.send(40 + n, 20 + n));
        (1..9).for_each(|n| trace.ack(50 + n, 20, &[]));
        (0..10).for_each(|n| trace.send_again(60, 20 + n));
        trace.ack(70, 25, &[]);
        (1..5).for_each(|n| trace.ack(70 + n, 25, &[]));
        trace.ack(75, 30, &[]);
        (1..5).for_each(|n| trace.ack(75 + n, 30, &[]));
        trace.in_order(100, 30, 60);
        trace.end()
    }

    #[test]
    fn answers_to_needless_retransmissions_leave_no_doubt_about_losses() {
        let lost = |sure| [(Kind::Lost, 20, sure), (Kind::Lost, 25, sure)];
        let off = whole_window(Some(Explanation::AnsweredCopies));
        assert_eq!(whole_window(None), lost(Confidence::Likely));
        assert_ne!(off, lost(Confidence::Likely));
    }

    /// Segments 30 and 31 of two are lost, or 31 waits behind the hole. Both are sent again at once and acknowledged together; if
    /// the second had come, its retransmission is answered. Before, three were lost that were acknowledged one by one.
    fn two_in_one(waited: bool) -> Told {
        let mut trace = Trace::new(false, None);
        trace.in_order(0, 0, 20);
        (0..3).for_each(|n| trace.send(40, 20 + n));
        (0..3).for_each(|n| trace.send_again(300, 20 + n));
        (0..3).for_each(|n| trace.ack(310 + n, 21 + n, &[]));
        trace.in_order(400, 23, 30);
        trace.send(440, 30);
        trace.send(441, 31);
        if waited {
            trace.ack(451, 30, &[]);
        }
        trace.send_again(700, 30);
        trace.send_again(700, 31);
        trace.ack(710, 32, &[]);
        if waited {
            trace.ack(711, 32, &[]);
        }
        trace.in_order(800, 32, 60);
        let mut told = trace.end();
        told.retain(|t| t.1 >= 30);
        told
    }

    #[test]
    fn of_two_acknowledged_at_once_the_second_was_there_if_its_retransmission_is_answered() {
        let lost = |n| (Kind::Lost, n, Confidence::Likely);
        assert_eq!(two_in_one(true), [lost(30)]);
        assert_eq!(two_in_one(false), [lost(30), lost(31)]);
    }

    /// Of 21 segments 20 and 30 come late. 20 is sent again, and comes before its retransmission can; an ACK that stops at 30
    /// follows on more duplicate ACKs than it covers.
    fn two_late(without: Option<Explanation>) -> Told {
        let mut trace = Trace::new(false, without);
        trace.in_order(0, 0, 20);
        (0..21).for_each(|n| trace.send(40, 20 + n));
        (1..19).for_each(|n| trace.ack(50 + n / 5, 20, &[]));
        trace.send_again(54, 20);
        trace.ack(57, 30, &[]);
        trace.ack(58, 41, &[]);
        trace.ack(64, 41, &[]);
        trace.in_order(100, 41, 80);
        trace.end()
    }

    #[test]
    fn more_duplicate_acks_than_retransmissions_make_what_fills_the_hole_late() {
        let late = (Kind::Reordered, 20, Confidence::Likely);
        assert!(two_late(None).contains(&late));
        assert!(!two_late(Some(Explanation::NewAbove)).contains(&late));
    }

    /// Segment 20 of a connection whose handshake was not captured comes after as many duplicate ACKs as say.
    fn unopened(waited: i64, without: Option<Explanation>) -> bool {
        let mut trace = Trace::unopened(without);
        trace.in_order(0, 0, 20);
        (0..=waited).for_each(|n| trace.send(40 + n, 20 + n));
        (1..=waited).for_each(|n| trace.ack(50 + n, 20, &[]));
        trace.ack(52 + waited, 21 + waited, &[]);
        trace.in_order(100, 21 + waited, 60);
        Box::new(trace.sender).finish(0, true).acks.sack_unknown
    }

    #[test]
    fn duplicate_acks_without_blocks_before_what_waited_say_that_there_is_no_sack() {
        assert!(!unopened(4, None));
        assert!(unopened(2, None), "too few");
        assert!(unopened(4, Some(Explanation::NoBlock)));
    }
}
