//! The sender's vantage: from data sent and ACKs received to what arrived when.
//!
//! Section III of the mobile-network paper (SACK, DSACK, timestamps, both together) and the
//! detection draft, turned around: rebuild the order in which originals arrived at the receiver
//! and compute the metrics of RFC 4737 section 4 on it.
//!
//! [`Sender`] is the loop that joins the parts, each of which can be understood alone: what is
//! [`outstanding`], what this flow has shown of [`timing`], what the [`receiver`] is known to do, the
//! [`reading`] of one ACK, the [`windows`] in which unexplained ACKs are weighed, and the [`ledger`] of verdicts.

mod acks;
mod again;
mod answers;
mod arrived;
mod assign;
mod attribute;
mod board;
mod clutter;
mod copied;
mod cut;
mod doubts;
mod duplicate;
mod filled;
mod finish;
mod hidden;
mod lateness;
mod ledger;
mod line;
mod list;
mod log;
mod missing;
mod needless;
mod news;
mod no_dsack;
mod no_sack;
mod openers;
mod orphans;
mod outstanding;
mod owed;
mod pair;
mod paws;
mod reading;
mod receiver;
mod repeats;
mod report;
mod ring;
mod shared_numbers;
mod shrunk;
mod silent;
mod sure;
mod timing;
#[cfg(test)]
mod trace;
mod unexplained;
mod unseen;
mod windows;

use inorder_base::sequence::Offsets;
use inorder_wire::{Has, Segment, TcpFlags};

use crate::collect::{Basis, Collector};
use crate::complaints::Proven;
use crate::explanation::{Explanation, Explanations};
use crate::habits::Habits;
use crate::result::{Evidence, Reason, Recoveries, Retransmission, Shrunk};

use acks::{Ack, AckQueue};
use attribute::First;
use doubts::Doubts;
use ledger::Ledger;
use news::News;
use no_dsack::Awaited;
use no_sack::NoSack;
use openers::Openers;
use orphans::Orphans;
use outstanding::Outstanding;
use reading::Reading;
use receiver::Receiver;
use report::Report;
use ring::{Ring, apart};
use shared_numbers::SharedNumbers;
use shrunk::Sizes;
use timing::Timing;
use unseen::Unseen;
use windows::{AckNumbers, Windows};

pub(crate) use finish::{MIN_PATIENCE_NS, PATIENCE_RTTS};
pub(crate) use receiver::Options;

/// The inference for one direction of one connection.
#[derive(Debug)]
pub(crate) struct Sender {
    outstanding: Outstanding,
    timing: Timing,
    receiver: Receiver,
    reading: Reading,
    windows: Windows,
    ledger: Ledger,
    openers: Openers,
    awaited: Awaited,
    /// When retransmissions were sent, where there may be no SACK, nanoseconds.
    copy_times: Ring,
    no_sack: NoSack,
    orphans: Orphans,
    queue: AckQueue,
    numbers: SharedNumbers,
    /// The ACK before the present one, in the order of emission.
    last: Option<Segment>,
    /// Everything below has been acknowledged, by ACKs in the order of capture.
    raw_una: i64,
    /// The latest of these had SACK blocks.
    raw_blocks: bool,
    news: News,
    doubts: Doubts,
    timestamps: bool,
    unseen: Unseen,
    explanations: Explanations,
    /// ACKs whose turn has come; kept for its memory only.
    ready: Vec<Ack>,
    end: End,
    sizes: Sizes,
}

/// What is known of the end of the data (FIN).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum End {
    /// It was not sent.
    #[default]
    Open,
    /// It was sent, and has not been SACKed.
    Sent,
    /// It has been SACKed above data that had not come.
    Overtook,
}

heap!(Sender: outstanding, timing, receiver, reading, windows, ledger, openers, awaited, copy_times, orphans, queue, doubts, unseen, ready);

/// What [`Sender::finish`] tells.
#[derive(Debug)]
pub(crate) struct SenderEnd {
    pub(crate) collector: Box<Collector>,
    pub(crate) recoveries: Recoveries,
    pub(crate) list: Vec<Retransmission>,
    pub(crate) data_packets: u64,
    pub(crate) data_bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) needed: u64,
    pub(crate) spurious: u64,
    pub(crate) undecided: u64,
    /// Of these, the ones below others that have arrived.
    pub(crate) unfilled: u64,
    pub(crate) missing: u64,
    /// Full segments arrive only when they are cut.
    pub(crate) shrunk: Option<Shrunk>,
    /// What did not arrive, as ICMP says.
    pub(crate) proven: Vec<Proven>,
    pub(crate) acks: u64,
    pub(crate) acks_reordered: u64,
    pub(crate) acks_missing: u64,
    pub(crate) min_rtt: Option<i64>,
    pub(crate) rough: bool,
    /// Some of what was missing at once has been forgotten.
    pub(crate) forgot: bool,
    pub(crate) sack: bool,
    /// Whether SACK was negotiated is unknown: neither the handshake nor a SACK block was captured, although segments were missing.
    pub(crate) sack_unknown: bool,
    /// Habits that acknowledgements show.
    pub(crate) habits: Habits,
}

impl Sender {
    /// Packets that were late, lost or sent again.
    pub(crate) fn troubles(&self) -> u64 {
        self.ledger.collector.troubles() + self.ledger.retransmissions
    }

    #[inline(always)] // Made where it stays, instead of copied there.
    pub(crate) fn new(unwrap: Offsets, options: Options, keep: bool) -> Self {
        Sender {
            outstanding: Outstanding::new(unwrap, options.timestamps, options.explanations),
            timing: Timing::default(),
            receiver: Receiver::new(&options),
            reading: Reading::default(),
            windows: Windows::new(options.explanations),
            ledger: Ledger::new(keep),
            openers: Openers::default(),
            awaited: Awaited::default(),
            copy_times: Ring::default(),
            no_sack: NoSack::default(),
            orphans: Orphans::default(),
            queue: AckQueue::default(),
            numbers: SharedNumbers::default(),
            last: None,
            raw_una: 0,
            raw_blocks: false,
            news: News::default(),
            doubts: Doubts::default(),
            timestamps: options.timestamps,
            unseen: Unseen::default(),
            explanations: options.explanations,
            ready: Vec::new(),
            end: End::Open,
            sizes: Sizes::default(),
        }
    }

    /// A round trip to the receiver is known to take as little as `ns` (handshake included).
    #[inline]
    pub(crate) fn note_rtt(&mut self, ns: i64) {
        self.timing.note_rtt(ns);
    }

    /// From here to the data's sender and back takes `ns`.
    pub(crate) fn note_away(&mut self, ns: i64) {
        self.news.away_ns = ns;
    }

    /// Both hosts have turned out to use timestamps.
    pub(crate) fn note_timestamps(&mut self) {
        self.timestamps = true;
        self.outstanding.note_timestamps();
        self.receiver.note_timestamps();
    }

    /// The capture begins in the middle of the connection.
    pub(crate) fn begins_without_syn(&mut self) {
        self.outstanding.begins_without_syn();
    }

    /// Bytes that have arrived, as far as acknowledgements tell.
    #[inline]
    pub(crate) fn delivered(&self) -> i64 {
        self.outstanding.una + self.outstanding.ranges.bytes()
    }

    /// The usual round trip to the receiver, nanoseconds.
    #[inline]
    pub(crate) fn usual_rtt(&self) -> Option<i64> {
        Some(self.timing.usual_rtt()).filter(|&ns| ns > 0)
    }

    /// A first transmission of `[start, start + len)`.
    #[inline]
    pub(crate) fn sent(&mut self, seg: &Segment, start: i64, len: u32) {
        self.ledger.sent(seg.ts_ns, len);
        self.outstanding.sent(seg, start, len);
        if !self.orphans.is_empty() {
            self.join_orphans(seg, start, len);
        }
    }

    /// The end of the data was sent, as a packet of its own (FIN).
    pub(crate) fn note_end(&mut self) {
        if self.end == End::Open {
            self.end = End::Sent;
        }
    }

    /// What was just said to be sent first at `start` came by behind higher data, and is an original as sure as `basis` is: on the way from
    /// the sender another may have been lost before it.
    pub(crate) fn perhaps_sent_before(&mut self, start: i64, basis: Basis) {
        if self.news.away_ns > 0 {
            self.doubts.note(start, basis);
        }
    }

    /// A packet of the receiver's direction, with or without data of its own; `by_id` says that
    /// the receiver's IPv4 identification counts.
    #[inline]
    pub(crate) fn acknowledged(&mut self, seg: &Segment, by_id: bool) {
        if seg.flags.any(TcpFlags::RST) || !seg.flags.any(TcpFlags::ACK) {
            return;
        }
        let ack = self.outstanding.offset(seg.ack);
        if ack > self.raw_una {
            self.raw_una = ack;
            self.ledger.recoveries.acknowledged(ack, seg.ts_ns);
        }
        if ack >= self.raw_una {
            self.raw_blocks = seg.all_sack_blocks(0) > 0;
        }
        self.news.heard(seg.ts_ns);
        if seg.sack_len > 0 {
            self.receiver.sack_seen = true;
        }
        if self.queue.passes(seg, by_id) {
            return self.process(&Ack {
                seg: *seg,
                missing: 0,
                stale: false,
            });
        }
        let mut ready = std::mem::take(&mut self.ready);
        self.queue.push(seg, by_id, |ack| ready.push(ack));
        for ack in ready.drain(..) {
            self.process(&ack);
        }
        self.ready = ready;
    }

    fn process(&mut self, ack: &Ack) {
        let gap = ack.missing > 0;
        if gap && self.numbers.are_shared() {
            let ack = Ack { missing: 0, ..*ack };
            return self.process_whole(&ack);
        }
        self.process_whole(ack);
        self.numbers.note(gap, self.reading.reports.len());
    }

    fn process_whole(&mut self, ack: &Ack) {
        let seg = &ack.seg;
        if self.outstanding.sent_before_capture(seg) {
            self.outstanding.forget();
        }
        let number = self.outstanding.acknowledged_by(seg);
        if ack.missing > 0 {
            self.note_gap(ack);
        }
        self.hide_unseen(ack);
        let completed = match seg.has(Has::OPTIONS_CUT) {
            true => self.completed(ack, number),
            false => None,
        };
        let ack = completed.as_ref().unwrap_or(ack);
        let seg = &ack.seg;
        if self.receiver.may_lack_sack() {
            self.process_without_sack(ack, number);
        } else if !self.advance_in_order(ack, number) {
            self.process_with_sack(ack, number);
        }
        self.settle(seg.ts_ns);
        if !ack.stale {
            self.last = Some(*seg);
            self.receiver.note_window(seg);
        }
    }

    /// The common case of [`Sender::process_with_sack`]: nothing is missing, nothing was sent
    /// again, and the ACK does nothing but advance. False, and nothing is done, in all others.
    #[inline]
    fn advance_in_order(&mut self, ack: &Ack, number: i64) -> bool {
        let out = &mut self.outstanding;
        let advances = ack.seg.sack_len == 0 && number > out.una;
        let advances = advances && !self.unseen.untimed(number);
        if !advances || !out.ranges.is_empty() || !out.board.all_sent_once() {
            return false;
        }
        let now = ack.seg.ts_ns;
        self.timing.advance_in_order(number, now);
        let mut segments = 0;
        while let Some(sent) = out.board.pop_sent_once(number) {
            segments += 1;
            self.sizes.arrived(sent.start, sent.len);
            if !sent.reported {
                self.timing.sample_rtt(now - sent.sent_ns, false);
                self.timing.note_sent_last(sent.sent_ns, now);
                let basis = Basis::certain(Evidence::Sack);
                self.ledger.log_sent(&sent, ack, basis);
            }
        }
        out.una = number;
        self.numbers.note(ack.missing > 0, segments);
        self.reading.reports.clear();
        self.reading.alone = false;
        self.receiver.compressing = false;
        if segments == 1 && self.has_hidden_one() {
            self.owed(ack);
        }
        true
    }

    fn process_with_sack(&mut self, ack: &Ack, number: i64) {
        let seg = &ack.seg;
        let dsack = self.outstanding.dsack(seg, number);
        let had_hole = !self.outstanding.ranges.is_empty();
        self.reading.crossed = self.crossed_dsack(seg, number);
        let room = self.receiver.room(self.last.as_ref());
        let full = self.outstanding.ranges.len() > room;
        let advanced = number > self.outstanding.una;
        self.reading.reports.clear();
        if had_hole {
            let since = self.last.map_or(seg.ts_ns, |l| l.ts_ns);
            let waited = seg.ts_ns.saturating_sub(since);
            self.windows.clutter.expose(waited);
        }
        let since = self.since();
        self.timing
            .expect(&mut self.outstanding, seg, number, since);
        if advanced {
            self.reading.cover(&mut self.outstanding, number);
        }
        let covered = self.reading.reports.len();
        let cut = self.receiver.cuts_blocks;
        if cut {
            self.reading.extend_known();
            self.receiver.cuts_blocks = !self.outstanding.ranges.is_empty();
        }
        self.reading
            .report_blocks(&mut self.outstanding, seg, dsack.is_some(), cut);
        let listed = seg.all_sack_blocks(0);
        if listed > 0 && !ack.stale {
            let ranges = self.outstanding.ranges.len();
            self.receiver.learn_blocks(listed, ranges);
        }
        let reported = self.reading.reports.len();
        if full {
            // What the blocks had no room for shows only now.
            self.reading.doubt_covered(covered);
        }
        if self.explanations.has(Explanation::HiddenRanges) {
            self.reading.doubt_hidden();
        }
        let listed = usize::from(listed).saturating_sub(usize::from(dsack.is_some()));
        let room = self.receiver.room(Some(seg));
        let top = self.outstanding.ranges.top();
        self.reading.note_room(listed, room, ack.missing, top);
        self.hide_unlisted(ack, listed);
        if !advanced {
            self.explain_flush(ack);
        }
        self.receiver.flushed = None;
        self.put_in_order(ack, covered, had_hole);
        self.reading.alone = reported == 1 && !advanced && !self.receiver.compressing;
        let reports = std::mem::take(&mut self.reading.reports);
        for report in &reports {
            self.sizes.arrived(report.sent.start, report.sent.len);
            self.arrived(report, ack, had_hole);
        }
        self.reading.reports = reports;
        if self.end == End::Sent && self.outstanding.end_overtook(seg, number) {
            self.end = End::Overtook;
            self.ledger.end_came(self.outstanding.highest, seg);
        }
        self.learn_echo(seg, advanced);
        if dsack.is_none() && !ack.stale {
            self.learn_order(seg);
        }
        self.openers.drop_below(self.outstanding.una);
        self.answer(ack, dsack, advanced);
    }

    /// `ack` lists `listed` ranges, fewer than there are. Where the receiver reports each once, and an ACK may have been lost before this one or
    /// stand for several arrivals, something may have arrived that shows only when what lies below is filled.
    fn hide_unlisted(&mut self, ack: &Ack, listed: usize) {
        if listed >= self.outstanding.ranges.len() || !self.receiver.leaves_ranges_out() {
            return;
        }
        let complete = self.queue.by_id() && ack.missing == 0;
        if !complete || !self.receiver.compression.is_empty() {
            self.ledger.hides_arrival();
        }
    }

    /// Data above a hole moves no TS.Recent (RFC 7323 section 4.3): what does this receiver echo for it?
    fn learn_echo(&mut self, seg: &Segment, advanced: bool) {
        let ([report], Some(last)) = (&self.reading.reports[..], self.last) else {
            return;
        };
        let sent = report.sent.tsval;
        if advanced
            || report.copies.is_some()
            || sent == last.tsecr
            || !self.outstanding.echoes(seg)
        {
            return;
        }
        self.receiver
            .learn_echo(seg.tsecr == sent, seg.tsecr == last.tsecr);
    }

    /// Does this receiver list first what has just come?
    fn learn_order(&mut self, seg: &Segment) {
        if let ([report], [first, _, ..]) = (&self.reading.reports[..], seg.sack_blocks())
            && !report.left_edge
        {
            let (left, right) = (
                self.outstanding.offset(first.0),
                self.outstanding.offset(first.1),
            );
            self.receiver
                .learn_order((left..right).contains(&report.sent.start));
        }
    }

    /// What `ack` says beside what it reports for the first time: duplicates, or nothing.
    fn answer(&mut self, ack: &Ack, dsack: Option<(i64, i64)>, advanced: bool) {
        let reported = self.reading.reports.len();
        if let Some((left, right)) = self.reading.crossed {
            self.receiver.dsack_seen = true;
            for start in self.ledger.filled.starts_in(left, right) {
                let f = self.ledger.filled.get_mut(start);
                if let Some(f) = f.filter(|f| f.copies.count > 1) {
                    f.duplicates += 1;
                }
            }
        }
        if let Some((left, right)) = dsack {
            self.duplicate(left, right, ack);
        } else if !advanced {
            self.receiver.compressing |= reported > 1;
            self.unexplained(ack, reported);
            let waited = match reported {
                0 => 0,
                _ => self.held_back(ack.seg.ts_ns),
            };
            if reported > 0 {
                let at_once = waited <= self.timing.jitter();
                self.receiver.reported_at_once = reported == 1 && at_once;
            }
            if reported > 1 && ack.missing == 0 {
                self.receiver.compression.push(waited);
            }
        }
        if dsack.is_some() || advanced {
            self.receiver.compressing = false;
        }
    }

    /// When the ACK before left, as far as that is known.
    fn since(&self) -> i64 {
        self.last.map_or(i64::MIN / 2, |l| l.ts_ns)
    }

    /// A duplicate among what the ACK is the first to cover: an original and its retransmission have
    /// both come since the ACK before, as when a probe of the tail crosses a delayed ACK. A stack that
    /// lists first whatever moved the left edge does so of data that was sent once, too.
    fn crossed_dsack(&mut self, seg: &Segment, number: i64) -> Option<(i64, i64)> {
        if seg.sack_len == 0 || !self.explanations.has(Explanation::Crossed) {
            return None;
        }
        let (block, again) = self.outstanding.first_block_crossed(seg, number)?;
        self.receiver.lists_edge |= !again;
        (!self.receiver.lists_edge).then_some(block)
    }

    /// Puts the reports of one ACK into the order of arrival, as far as it can be known.
    fn put_in_order(&mut self, ack: &Ack, covered: usize, had_hole: bool) {
        if had_hole && covered > 0 && ack.missing == 0 {
            self.receiver.learn_fill(self.reading.reports.len() == 1);
        }
        if !self.reading.several(covered, had_hole, ack.missing > 0) {
            return;
        }
        let reason = if ack.missing > 0 {
            Reason::AcksMissing
        } else {
            Reason::AckCompression
        };
        if self.explanations.has(Explanation::Lateness) {
            let since = self.since();
            self.reading.by_time(&self.timing, since, ack.seg.ts_ns);
        }
        let at_once = self.fill_came_last(ack.seg.ts_ns);
        self.reading
            .settle_order(covered, had_hole, reason, at_once);
    }

    /// Did what fills the left edge make the receiver send the ACK at `now`, which reports more? It did where the rest had been
    /// held back. What has just come may have come after it, if the receiver delays the acknowledgement of what fills a
    /// hole (RFC 5681 section 4.2 only says that it SHOULD not).
    fn fill_came_last(&self, now: i64) -> bool {
        let just = |r: &Report| apart(self.timing.arrival_of(&r.sent), now) <= self.timing.jitter();
        let mut rest = self.reading.reports.iter().filter(|r| !r.left_edge);
        self.receiver.answers_fills_at_once() && !rest.any(just)
    }

    fn settle(&mut self, now: i64) {
        if self.ledger.log.is_empty() {
            return;
        }
        let acks = AckNumbers {
            by_id: self.queue.by_id(),
            missing: self.queue.missing,
        };
        let (ledger, timing) = (&mut self.ledger, &mut self.timing);
        self.windows
            .explain(now, ledger, timing, &self.receiver, acks);
        self.ledger.settle(now);
    }

    fn trim_filled(&mut self) {
        if self.ledger.filled.is_full() {
            let telling = self.telling();
            self.ledger.trim(&telling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::trace::Trace;
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// Ten segments are in flight, and four behind the fifth are reported or not before the fifth is retransmitted. True if the
    /// verdict is a time-out.
    fn timed_out(reported: bool, without: Option<Explanation>) -> bool {
        let mut trace = Trace::stamped(without);
        trace.in_order(0, 0, 20);
        (0..10).for_each(|n| trace.send(40 + n, 20 + n));
        (0..5).for_each(|n| trace.ack(50 + n, 21 + n, &[]));
        if reported {
            (1..5).for_each(|n| trace.ack(55 + n, 25, &[(26, 26 + n)]));
        }
        trace.send_again(90, 25);
        trace.ack(100, 30, &[]);
        let end = Box::new(trace.sender).finish(0, true);
        end.recoveries.list[0].timeout
    }

    /// Segments 28 to 31, 33, 35 and 37 come in their turn, and their ACKs are lost; the ACK of 39 has no block for the range
    /// that ends at 31. What is told of these and of 34, which comes late.
    fn behind_missing_acks(without: Option<Explanation>) -> [Option<(Kind, Confidence)>; 2] {
        let mut trace = Trace::new(true, without);
        trace.in_order(0, 0, 20);
        (0..20).for_each(|n| trace.send(40 + n, 20 + n));
        (1..8).for_each(|n| trace.ack(50 + n, 20, &[(21, 21 + n)]));
        trace.lose_acks(7);
        trace.ack(69, 20, &[(39, 40), (37, 38), (35, 36), (33, 34)]);
        trace.ack(70, 20, &[(33, 36), (39, 40), (37, 38)]);
        trace.ack(71, 20, &[(33, 38), (39, 40)]);
        trace.ack(72, 20, &[(33, 40)]);
        trace.send_again(73, 20);
        trace.ack(83, 32, &[(33, 40)]);
        let late = trace.end();
        let told = |n| late.iter().find(|t| t.1 == n).map(|t| (t.0, t.2));
        assert!((29..32).all(|n| told(n) == told(28)));
        [told(28), told(34)]
    }

    #[test]
    fn what_missing_acks_may_have_reported_and_no_later_one_lists_is_not_said_to_be_late() {
        let late = |sure| Some((Kind::Reordered, sure));
        let likely = late(Confidence::Likely);
        assert_eq!(
            behind_missing_acks(None),
            [late(Confidence::Ambiguous), likely]
        );
        let off = Some(Explanation::HiddenRanges);
        assert_eq!(behind_missing_acks(off), [likely, likely]);
    }

    #[test]
    fn data_that_the_end_overtakes_is_late_where_it_comes_and_lost_where_it_does_not() {
        // The last segment and the end of the data are sent; that is SACKed first, and the segment sent again.
        let told = |came_twice: bool| {
            let mut trace = Trace::stamped(None);
            trace.in_order(0, 0, 20);
            trace.send(40, 20);
            trace.sender.note_end();
            trace.sack_end(50, 20, 21);
            trace.send_again(50, 20);
            trace.ack_end(60, 21);
            if came_twice {
                trace.ack_end_again(61, 21, (20, 21));
            }
            trace.end()
        };
        let late = told(true);
        assert_eq!(late.len(), 1, "{late:?}");
        assert_eq!((late[0].0, late[0].1), (Kind::Reordered, 20));
        assert!(
            told(false).iter().all(|t| t.0 == Kind::Lost),
            "{:?}",
            told(false)
        );
    }

    #[test]
    fn without_a_report_of_later_data_a_timer_made_the_sender_repeat_soon_after_an_ack() {
        assert!(timed_out(false, None));
        assert!(!timed_out(true, None));
        assert!(!timed_out(false, Some(Explanation::TimerAlone)));
    }
}
