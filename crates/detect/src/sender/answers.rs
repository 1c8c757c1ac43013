//! Originals that PAWS discarded (RFC 7323 section 5.3).
//!
//! Once a retransmission has brought TS.Recent forward, the late original of another hole is
//! discarded on arrival. It is answered at once all the same, by an ACK that reports nothing of
//! it: one that repeats the ACK before, or, when SACKs are held back (compression), one that
//! flushes them before their time. The hole stays and its retransmission fills it, as if the
//! original were lost. Such an unexplained ACK comes as much after the hole's turn as late originals of
//! this flow usually come, and that tells whose it was ([`super::windows`]).

use inorder_wire::{Segment, TcpFlags};

use super::Sender;
use super::acks::Ack;
use super::again::Again;
use super::filled::{By, Filled};
use super::log::{Entry, Status};
use super::paws::discarded;
use super::report::Report;
use super::ring::apart;
use super::unexplained::{Trigger, UnexplainedAck};
use crate::collect::{Basis, Place};
use crate::explanation::Explanation;
use crate::habits::TooOld;
use crate::result::{Evidence, Reason};

/// Number of SACK blocks with which a segment that opens another one makes Linux send the ACK that it holds back
/// first, without that segment (`TCP_SACK_BLOCKS_EXPECTED`); with more, one that extends the third.
const MIN_BLOCKS_THAT_FLUSH: usize = 2;
/// Maximum number of ACKs lost in a row that are weighed.
const MAX_MISSING_ACKS_WEIGHED: u32 = 8;
/// An original comes no later than this after its retransmission, nanoseconds: the least time-out (RFC 6298 section 2), several times
/// that of most stacks.
const MAX_BEHIND_COPY_NS: i64 = 1_000_000_000;
/// Filled holes looked at for one unexplained ACK.
const MAX_FILLED_WEIGHED: usize = 512;

impl Sender {
    /// An ACK that does not advance and reports no duplicate: perhaps an original caused it that PAWS discarded, or that
    /// came again at a receiver that does not say so.
    pub(super) fn unexplained(&mut self, ack: &Ack, reported: usize) {
        let seg = &ack.seg;
        let Some(last) = self.last else { return };
        // An end of the other direction's data repeats the ACK before, too.
        let more = seg.payload_len > 0 || seg.flags.any(TcpFlags::FIN);
        // Without timestamps nothing is discarded, and what came again is answered all the same.
        let untimed = reported > 0 && !self.outstanding.echoes(seg);
        // A part of a segment that was cut anew when it was sent again.
        let part = reported == 0 && self.reading.sacked_more;
        if ack.stale || more || untimed || part {
            return;
        }
        if reported == 0 && self.receiver.listing.has_no_room_for_news(seg) {
            return self.ledger.hides_arrival();
        }
        let Some(mut trigger) = self.trigger_of(ack, reported, &last) else {
            return;
        };
        self.receiver.bare_acks += u32::from(reported == 0 && trigger == Trigger::Nothing);
        let again = match reported {
            0 => self.came_again(seg, &last),
            _ => None,
        };
        if again.is_some_and(|a| a.is_sure()) {
            trigger = Trigger::Again;
        }
        let refuses = self.receiver.too_old != TooOld::Taken;
        let open = refuses && self.outstanding.has_discardable(seg.tsecr);
        let elsewhere = trigger == Trigger::Again || !open || !self.suits_a_hole(seg.ts_ns);
        if reported == 0 && self.answers_what_it_had(seg.ts_ns) {
            return;
        }
        if elsewhere && reported == 0 && self.answers_spurious_copy(seg.ts_ns, again) {
            return;
        }
        let blocks = seg.sack_blocks().len();
        let early = reported > 0 && trigger == Trigger::EarlyFlush;
        let filled = self.filled_candidates(seg.tsecr);
        let several = match (self.receiver.reports_refused(), self.receiver.dsack_seen) {
            (true, _) => trigger == Trigger::Nothing && filled.1,
            (_, true) => trigger == Trigger::Nothing,
            _ => reported == 0,
        };
        let repeated = again.is_some_and(|a| self.original_may_come_again(&a, seg.ts_ns));
        let refused = trigger != Trigger::Again && (several && filled.0.is_some() || open);
        if repeated || refused {
            let unsure = (ack.missing > 0).then_some(Reason::AcksMissing);
            let id = self.wait_for_hole(seg, seg.ts_ns, unsure, (trigger, again));
            self.receiver.compression.flushed =
                (early && blocks >= MIN_BLOCKS_THAT_FLUSH).then_some(id);
        } else if trigger == Trigger::Nothing
            && let Some(start) = filled.0
        {
            let basis = Basis::certain(Evidence::Paws);
            self.ledger.late_original(start, ack, basis);
        } else {
            self.windows.clutter.note(trigger, 1.0);
            self.count_unplaced(trigger, seg);
        }
    }

    /// What else than an unseen arrival may have made the receiver send `ack`, which reports `reported` segments, after
    /// `last`; `None` if that is plain.
    fn trigger_of(&self, ack: &Ack, reported: usize, last: &Segment) -> Option<Trigger> {
        let seg = &ack.seg;
        match reported {
            0 if last.ack != seg.ack => None,
            0 if last.window == seg.window => Some(Trigger::Nothing),
            0 if self.receiver.reader_catches_up(seg, last) => Some(Trigger::Reader),
            0 => Some(Trigger::Window),
            _ if ack.missing > 0 => None,
            // As usual: none of its reports was held back, so far as is known.
            _ if !self.receiver.compression.is_known() => None,
            _ => {
                let waited = self.held_back(seg.ts_ns);
                let jitter = self.timing.jitter();
                self.receiver.compression.trigger(waited, reported, jitter)
            }
        }
    }

    /// An ACK without new information from a receiver that reports no duplicates answers a segment that was received twice, or
    /// discarded: it may be a segment that is taken for lost.
    fn count_unplaced(&mut self, trigger: Trigger, seg: &Segment) {
        let answers = matches!(trigger, Trigger::Nothing | Trigger::Again);
        // With timestamps it is weighed which original was refused.
        let untimed = !self.receiver.dsack_seen && !self.outstanding.echoes(seg);
        let answers = answers && self.sent_again_of_late(seg.ts_ns);
        if answers
            && (untimed || self.receiver.hides_duplicates())
            && self.explanations.has(Explanation::LeftOver)
        {
            self.ledger.unplaced += 1.0;
        }
    }

    /// May an original come `now` after its retransmission? Not before anything was sent again, nor where that was long ago.
    pub(super) fn sent_again_of_late(&self, now: i64) -> bool {
        let behind = |(first_ns, last_ns): (i64, i64)| {
            now >= first_ns && now.saturating_sub(last_ns) <= MAX_BEHIND_COPY_NS
        };
        self.ledger.again_ns.is_some_and(behind)
    }

    /// How long the first of what the ACK at `now` reports has waited for it, nanoseconds.
    pub(super) fn held_back(&self, now: i64) -> i64 {
        let before = self.last.map_or(now, |l| l.ts_ns);
        self.reading.held_back(&self.timing, before, now)
    }

    /// Is there an open hole whose original would be as late as usual if it came `now`? Perhaps,
    /// while that is not known.
    fn suits_a_hole(&self, now: i64) -> bool {
        let Some((_, spread)) = self.timing.usual_lateness() else {
            return true;
        };
        let usual = spread
            .saturating_mul(2)
            .saturating_add(self.timing.jitter());
        let open = self.outstanding.open_holes();
        let mut open = open.map(|s| self.timing.due(s.due_ns, s.sent_ns));
        open.any(|due_ns| {
            let late = now.saturating_sub(due_ns);
            let off = self.timing.off_usual(late, late);
            off.is_some_and(|off| off <= usual)
        })
    }

    /// The highest segment above the left edge that a retransmission has filled and whose original
    /// would be discarded, and whether there are more.
    fn filled_candidates(&self, recent: u32) -> (Option<i64>, bool) {
        let open =
            |f: &&Filled| f.first == By::Copy && !f.original_in && discarded(f.tsval, recent);
        if self.receiver.too_old == TooOld::Taken {
            return (None, false);
        }
        // A receiver that does not report what was too old is as silent below the left edge.
        let from = if self.receiver.reports_refused() {
            self.outstanding.una
        } else {
            i64::MIN
        };
        let latest = self.ledger.filled.latest().take(MAX_FILLED_WEIGHED);
        let mut some = latest.take_while(|f| f.place.start >= from).filter(open);
        let highest = some.next().map(|f| f.place.start);
        (highest, some.next().is_some())
    }

    pub(super) fn wait_for_hole(
        &mut self,
        seg: &Segment,
        since_ns: i64,
        unsure: Option<Reason>,
        (trigger, again): (Trigger, Option<Again>),
    ) -> u64 {
        let place = Place {
            at_ns: seg.ts_ns,
            proof_frame: seg.frame,
            ..Place::default()
        };
        let deadline = seg.ts_ns.saturating_add(self.timing.patience());
        let hides = matches!(trigger, Trigger::Nothing | Trigger::Again | Trigger::Lost);
        let status = Status::Unexplained { deadline, hides };
        let entry = Entry {
            unsure,
            ..Entry::new(place, status)
        };
        let id = self.ledger.arrives(entry);
        self.windows.push(UnexplainedAck {
            id,
            at_ns: seg.ts_ns,
            since_ns,
            deadline_ns: deadline,
            recent: seg.tsecr,
            // What was lost may have reported a duplicate below the left edge, and some receivers
            // report none.
            una: if trigger == Trigger::Lost || !self.receiver.reports_refused() {
                i64::MIN
            } else {
                self.outstanding.una
            },
            trigger,
            again,
        });
        id
    }

    /// What `ack` reports may show why the ACK before flushed held-back SACKs: a segment had
    /// opened one more block. That is as much of a reason as the timer is.
    pub(super) fn explain_flush(&mut self, ack: &Ack) {
        let Some(id) = self.receiver.compression.flushed.take() else {
            return;
        };
        let at = self.last.map_or(i64::MIN, |l| l.ts_ns);
        let timing = &self.timing;
        let opened =
            |r: &Report| r.opens && apart(timing.arrival_of(&r.sent), at) <= timing.jitter();
        if ack.missing == 0 && self.reading.reports.iter().any(opened) {
            self.windows.triggered(id);
        }
    }

    /// ACKs are missing just before `ack`: each may have been the answer to an original of which
    /// only retransmissions are known.
    pub(super) fn note_gap(&mut self, ack: &Ack) {
        let Some(last) = self.last else { return };
        let seg = &ack.seg;
        let open = self.outstanding.has_discardable(last.tsecr);
        if ack.stale || !(open || self.copy_came_first(seg.ts_ns)) {
            return;
        }
        let since = last.ts_ns.min(seg.ts_ns);
        for _ in 0..ack.missing.min(MAX_MISSING_ACKS_WEIGHED) {
            self.wait_for_hole(seg, since, Some(Reason::AcksMissing), (Trigger::Lost, None));
        }
    }

    /// Is there a segment whose original may come after its retransmission still?
    fn copy_came_first(&self, now: i64) -> bool {
        let since = now.saturating_sub(self.timing.patience());
        let mut latest = self.ledger.filled.latest().take(MAX_FILLED_WEIGHED);
        latest.any(|f| f.first != By::Original && !f.original_in && f.reported_ns >= since)
    }
}
