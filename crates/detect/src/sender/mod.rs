//! The sender's vantage: from data sent and ACKs received to what arrived when.
//!
//! Section III of the mobile-network paper (SACK, DSACK, timestamps, both together) and the
//! detection draft, turned around: rebuild the order in which originals arrived at the receiver
//! and compute RFC 4737 on it.

mod acks;
mod assign;
mod attribute;
mod board;
mod due;
mod filled;
mod finish;
mod lateness;
mod list;
mod log;
mod no_dsack;
mod no_sack;
mod pair;
mod paws;
mod report;
mod ring;
mod windows;

use inorder_sequence::Offsets;
use inorder_wire::{Has, Segment, TcpFlags};

use crate::collect::{Basis, Collector, Place};
use crate::explanation::Explanations;
use crate::recovery::RecoveryTracker;
use crate::result::{Cause, Evidence, Half, Reason, Recoveries, Retransmission, Verdict};

use acks::{Ack, AckQueue};
use attribute::First;
use board::{Board, Copies, Ranges, Sent};
use filled::{Filled, FilledMap};
use list::List;
use log::{ArrivalLog, Entry, Status};
use no_sack::NoSack;
use ring::Ring;
use windows::Clutter;

/// Segments of the block that changed last that are taken to have come together.
const FEW: usize = 4;
/// Hosts and links delay packets by so much more or less for no reason to be seen.
const PATH_JITTER_NS: i64 = 30_000;
/// Posterior from which on a reading is taken for certain, where no logic makes it so.
const CERTAIN: f64 = 0.999;
/// Posterior from which on a reading is taken for likely.
const LIKELY: f64 = 0.95;
/// No capture's clock is to be trusted more.
const CLOCK_NS: i64 = 5_000;

/// A segment reported for the first time by an ACK.
#[derive(Clone, Copy, Debug)]
struct Report {
    sent: Sent,
    copies: Option<Copies>,
    unsure: Option<Reason>,
    /// Of what its ACK reports it came last for sure: alone in the block listed first.
    told: bool,
    left_edge: bool,
    /// It touches what had been SACKed before.
    joined: bool,
    /// It begins a block of which nothing had been SACKed before.
    opens: bool,
}

/// What the connection negotiated; `None` where the handshake was not seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) sack: Option<bool>,
    pub(crate) timestamps: bool,
    pub(crate) explanations: Explanations,
}

/// The inference for one direction of one connection.
#[derive(Debug)]
pub(crate) struct Sender {
    board: Board,
    ranges: Ranges,
    queue: AckQueue,
    log: ArrivalLog,
    filled: FilledMap,
    no_sack: NoSack,
    /// How long the first of several segments waited for its ACK, nanoseconds.
    compression: Ring,
    /// The receiver holds SACKs back: it has reported several segments at once since the last
    /// advance.
    compressing: bool,
    /// The last ACK that did nothing but report segments reported one, as soon as it came.
    reported_at_once: bool,
    /// The present ACK does nothing but report one segment, as soon as it came.
    reports_alone: bool,
    /// What the present ACK is the first to cover and reports as a duplicate at once.
    crossed: Option<(i64, i64)>,
    /// The receiver lists first what has just moved the left edge, duplicate or not.
    lists_edge: bool,
    /// The ACK before was sent because a segment opened a new SACK block, not told by it yet.
    new_block_came: bool,
    /// The ACK before, in the log, flushed held-back SACKs before their time; a new block may have
    /// made the receiver do so.
    flushed: Option<u64>,
    /// Time by which originals whose arrival is known exactly came late, nanoseconds.
    lateness: Ring,
    /// Time between arrivals of segments that had queued on the way, nanoseconds.
    spacing: Ring,
    /// One past the highest byte reported so far.
    top: i64,
    /// The same before the present ACK: what it reports from here on came in its turn.
    turn: i64,
    /// When what lies just below `top` arrived, as far as its ACK tells.
    reached_ns: i64,
    /// Segments of which only retransmissions have arrived so far.
    only_copies: u64,
    /// Originals known to have come late so far, of which some may still wait in the log.
    came_late: u64,
    /// Of these, those that had been sent again by then.
    late_copied: u64,
    /// Of these, those that came after a retransmission: only an ACK of their own told.
    came_after: u64,
    /// Round trips measured.
    rtt_samples: u64,
    /// ACKs that nothing visible caused, where nothing unseen can have.
    clutter: Clutter,
    collector: Collector,
    recoveries: RecoveryTracker,
    unwrap: Offsets,
    options: Options,
    sack_seen: bool,
    dsack_seen: bool,
    mss: u32,
    /// First and last TSval of the data.
    tsvals: Option<(u32, u32)>,
    highest: i64,
    block_mark: usize,
    una: i64,
    raw_una: i64,
    last: Option<Segment>,
    /// The largest window told so far, as on the wire; that of a SYN is in another unit.
    widest: u16,
    last_news_ns: i64,
    min_rtt: Option<i64>,
    rtt: Option<i64>,
    data_packets: u64,
    data_bytes: u64,
    retransmissions: u64,
    needed: u64,
    spurious: u64,
    missing: u64,
    list: List,
    reports: Vec<Report>,
    news: Vec<(i64, i64)>,
    ready: Vec<Ack>,
}

/// What [`Sender::finish`] tells.
#[derive(Debug)]
pub(crate) struct SenderEnd {
    pub(crate) collector: Collector,
    pub(crate) recoveries: Recoveries,
    pub(crate) list: Vec<Retransmission>,
    pub(crate) data_packets: u64,
    pub(crate) data_bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) needed: u64,
    pub(crate) spurious: u64,
    pub(crate) undecided: u64,
    pub(crate) missing: u64,
    pub(crate) acks: u64,
    pub(crate) acks_reordered: u64,
    pub(crate) acks_missing: u64,
    pub(crate) min_rtt: Option<i64>,
    pub(crate) rough: bool,
    pub(crate) sack: bool,
}

impl Sender {
    pub(crate) fn new(unwrap: Offsets, options: Options, keep: bool) -> Self {
        Sender {
            board: Board::default(),
            ranges: Ranges::default(),
            queue: AckQueue::default(),
            log: ArrivalLog::new(),
            filled: FilledMap::default(),
            no_sack: NoSack::default(),
            compression: Ring::default(),
            compressing: false,
            reported_at_once: false,
            reports_alone: false,
            crossed: None,
            lists_edge: false,
            new_block_came: false,
            flushed: None,
            lateness: Ring::default(),
            spacing: Ring::default(),
            top: 0,
            turn: 0,
            reached_ns: i64::MIN / 2,
            only_copies: 0,
            came_late: 0,
            late_copied: 0,
            came_after: 0,
            rtt_samples: 0,
            clutter: Clutter::default(),
            collector: Collector::new(Half::EndToEnd, keep),
            recoveries: RecoveryTracker::new(keep),
            unwrap,
            options,
            sack_seen: false,
            dsack_seen: false,
            mss: 1,
            tsvals: None,
            highest: 0,
            block_mark: 0,
            una: 0,
            raw_una: 0,
            last: None,
            widest: 0,
            last_news_ns: i64::MIN,
            min_rtt: None,
            rtt: None,
            data_packets: 0,
            data_bytes: 0,
            retransmissions: 0,
            needed: 0,
            spurious: 0,
            missing: 0,
            list: List::new(keep),
            reports: Vec::new(),
            news: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// A round trip to the receiver is known to take as little as `ns` (handshake included).
    #[inline]
    pub(crate) fn note_rtt(&mut self, ns: i64) {
        if ns > 0 && self.min_rtt.is_none_or(|m| ns < m) {
            self.min_rtt = Some(ns);
        }
    }

    /// A first transmission of `[start, start + len)`.
    #[inline]
    pub(crate) fn sent(&mut self, seg: &Segment, start: i64, len: u32) {
        self.data_packets += 1;
        self.data_bytes += u64::from(len);
        self.note_tsval(seg);
        self.mss = self.mss.max(len);
        self.collector.sent(seg.ts_ns, len);
        let end = start + i64::from(len);
        if end > self.highest {
            self.highest = end;
            self.unwrap.advance(end);
        }
        if start >= self.una {
            self.board
                .insert(start, len, seg.ts_ns, seg.frame, seg.tsval);
        }
    }

    #[inline]
    fn note_tsval(&mut self, seg: &Segment) {
        if seg.has(Has::TIMESTAMPS) {
            let first = self.tsvals.map_or(seg.tsval, |t| t.0);
            self.tsvals = Some((first, seg.tsval));
        }
    }

    /// A retransmission of `[start, start + len)`.
    pub(crate) fn retransmitted(&mut self, seg: &Segment, start: i64, len: u32) {
        self.retransmissions += 1;
        self.note_tsval(seg);
        let patience = self
            .min_rtt
            .map_or(180_000_000, |rtt| (rtt * 2).max(180_000_000));
        let timeout = seg.ts_ns.saturating_sub(self.last_news_ns) > patience;
        let phase = self
            .recoveries
            .retransmitted(seg.ts_ns, start, self.highest, 0, timeout);
        let verdict = self.place_copy(seg, start, len, phase);
        if verdict == Some(Verdict::Spurious) {
            self.spurious += 1;
            self.recoveries.resolve(phase, Verdict::Spurious, 1);
        }
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        self.no_sack
            .retransmitted(seg.ts_ns, start, self.una, self.highest, rtt);
        let line = Retransmission {
            frame: seg.frame,
            at_ns: seg.ts_ns,
            seq_offset: start.max(0) as u64,
            len,
            verdict: verdict.unwrap_or(Verdict::Ambiguous),
            cause: Cause::Unknown,
        };
        let open = verdict == Some(Verdict::Ambiguous);
        self.list.push(line, open.then_some(start));
    }

    /// Books a copy where its segment is; `Ambiguous` while its fate is open, `None` if it is no
    /// segment's that was captured.
    fn place_copy(&mut self, seg: &Segment, start: i64, len: u32, phase: u32) -> Option<Verdict> {
        if start >= self.una {
            let i = self.board.find(start);
            match self.board.get(i) {
                Some(s) if s.start > start => return None, // Never captured.
                Some(s) if !s.reported => {
                    self.mark_copies(i, seg, start + i64::from(len), phase);
                    return Some(Verdict::Ambiguous);
                }
                Some(_) => {}
                None => return None,
            }
        }
        let whole = self.all_reported(start, start + i64::from(len));
        match self.filled.covering(start) {
            Some(f) if !f.original_in => {
                f.copies.add(seg.ts_ns, seg.tsval, phase, true);
                if !whole {
                    return Some(Verdict::Ambiguous);
                }
                f.after += 1;
                Some(Verdict::Spurious)
            }
            _ => Some(Verdict::Spurious),
        }
    }

    fn all_reported(&self, start: i64, end: i64) -> bool {
        let first = self.board.find(start.max(self.una));
        let mut within = self.board.range(first).take_while(|s| s.start < end);
        within.all(|s| s.reported)
    }

    /// A retransmission may be cut differently from what it repeats.
    fn mark_copies(&mut self, first: usize, seg: &Segment, end: i64, phase: u32) {
        let mut i = first;
        while self.board.get(i).is_some_and(|s| s.start < end) {
            if self.board.get(i).is_some_and(|s| !s.reported) {
                self.board
                    .retransmitted(i, seg.ts_ns, seg.tsval, phase, i == first);
            }
            i += 1;
        }
    }

    /// A packet of the receiver's direction, with or without data of its own; `by_id` says that
    /// the receiver's IPv4 identification counts.
    #[inline]
    pub(crate) fn acknowledged(&mut self, seg: &Segment, by_id: bool) {
        if seg.flags.any(TcpFlags::RST) || !seg.flags.any(TcpFlags::ACK) {
            return;
        }
        let ack = self.unwrap.offset(seg.ack);
        if ack > self.raw_una {
            self.raw_una = ack;
            self.recoveries.acknowledged(ack, seg.ts_ns);
        }
        self.last_news_ns = seg.ts_ns;
        if seg.sack_len > 0 {
            self.sack_seen = true;
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

    fn without_sack(&self) -> bool {
        !self.sack_seen && (self.options.sack == Some(false) || self.no_sack.evident())
    }

    fn process(&mut self, ack: &Ack) {
        let seg = &ack.seg;
        let number = self.unwrap.offset(seg.ack);
        if number > self.highest {
            self.beyond_the_capture(number);
        }
        let number = number.min(self.highest);
        if ack.missing > 0 {
            self.note_gap(ack);
        }
        if self.options.sack != Some(true) && !self.sack_seen {
            self.process_without_sack(ack, number);
        } else if !self.advance_in_order(ack, number) {
            self.process_with_sack(ack, number);
        }
        self.settle(seg.ts_ns);
        if !ack.stale {
            self.last = Some(*seg);
            if !seg.flags.any(TcpFlags::SYN) {
                self.widest = self.widest.max(seg.window);
            }
        }
    }

    /// The receiver acknowledges what was never captured (or the FIN, one number).
    fn beyond_the_capture(&mut self, number: i64) {
        let bytes = number - self.highest;
        if bytes > 1 {
            self.missing += (bytes as u64).div_ceil(u64::from(self.mss.max(1)));
            self.highest = number;
            self.unwrap.advance(number);
        }
    }

    fn arrived(&mut self, report: &Report, ack: &Ack, had_hole: bool) {
        let now = ack.seg.ts_ns;
        let Some(copies) = report.copies.filter(|c| c.first_ns < now) else {
            self.sample_rtt(now - report.sent.sent_ns, had_hole);
            self.note_lateness(report, now, had_hole);
            self.log_original(report, ack, Basis::certain(Evidence::Sack));
            if let Some(copies) = report.copies {
                // Retransmitted while the ACK was on its way.
                self.all_needless(&report.sent, &copies);
                self.filled
                    .insert(Filled::known(&report.sent, copies, &ack.seg));
            }
            return;
        };
        match self.attribute(report, &copies, ack) {
            First::Original(basis) => {
                self.note_lateness(report, now, had_hole);
                self.log_original(report, ack, basis);
                self.all_needless(&report.sent, &copies);
                self.filled
                    .insert(Filled::known(&report.sent, copies, &ack.seg));
            }
            First::Retransmission => {
                let rtt = self.min_rtt.unwrap_or(0);
                self.only_copies += 1;
                self.filled
                    .insert(Filled::by_copy(&report.sent, copies, &ack.seg, rtt));
            }
            First::Unknown => {
                let wait = self
                    .min_rtt
                    .map_or(20_000_000, |rtt| (2 * rtt).max(20_000_000));
                let entry = Entry {
                    place: place_of(&report.sent, &ack.seg),
                    status: Status::Doubtful {
                        deadline: now + wait,
                    },
                    unsure: report.unsure,
                    told: report.told,
                };
                let id = self.log.push(entry, &mut self.collector);
                let doubtful = Filled::doubtful(&report.sent, copies, &ack.seg, id);
                self.filled.insert(doubtful);
            }
        }
        self.trim_filled();
    }

    /// The original of `sent` came: none of its copies so far was needed.
    fn all_needless(&mut self, sent: &Sent, copies: &Copies) {
        self.late_copied += 1;
        self.spurious += u64::from(copies.count);
        self.recoveries
            .resolve(copies.phase, Verdict::Spurious, copies.count);
        let end = sent.start + i64::from(sent.len);
        self.list.close(sent.start, end, 0, copies.count);
    }

    fn log_original(&mut self, report: &Report, ack: &Ack, basis: Basis) {
        // What the blocks had no room for may have come in its turn.
        let told = report.unsure != Some(Reason::BlockLimit);
        self.came_late += u64::from(told && report.sent.start < self.turn);
        self.log_sent(&report.sent, report.unsure, report.told, ack, basis);
    }

    fn log_sent(
        &mut self,
        sent: &Sent,
        unsure: Option<Reason>,
        told: bool,
        ack: &Ack,
        basis: Basis,
    ) {
        let entry = Entry {
            place: place_of(sent, &ack.seg),
            status: Status::Original(basis),
            unsure,
            told,
        };
        self.log.push(entry, &mut self.collector);
    }

    fn sample_rtt(&mut self, sample: i64, had_hole: bool) {
        if sample <= 0 {
            return;
        }
        self.rtt_samples += 1;
        self.min_rtt = Some(self.min_rtt.map_or(sample, |m| m.min(sample)));
        if !had_hole {
            // Gain 1/8 as in RFC 6298.
            self.rtt = Some(self.rtt.map_or(sample, |r| r + (sample - r) / 8));
        }
    }

    fn settle(&mut self, now: i64) {
        if self.log.is_empty() {
            return;
        }
        self.explain_bares(now);
        self.log.settle(now, &mut self.collector);
        while let Some(start) = self.log.expired.pop() {
            // No DSACK came: it was the retransmission that arrived.
            if let Some(f) = self.filled.get_mut(start) {
                f.first = filled::By::Copy;
                self.only_copies += 1;
            }
        }
    }

    fn trim_filled(&mut self) {
        while let Some(f) = self.filled.pop_excess() {
            self.close(&f);
        }
    }

    /// True when this ACK echoes a timestamp that can be trusted: one that was sent. (Some
    /// middleboxes rewrite them on one side only.)
    fn stamped(&self, seg: &Segment) -> bool {
        let Some((first, last)) = self.tsvals else {
            return false;
        };
        let sent = (seg.tsecr.wrapping_sub(first) as i32) >= 0
            && (last.wrapping_sub(seg.tsecr) as i32) >= 0;
        self.options.timestamps && seg.has(Has::TIMESTAMPS) && sent
    }
}

fn place_of(sent: &Sent, ack: &Segment) -> Place {
    Place {
        start: sent.start,
        len: sent.len,
        frame: sent.frame,
        proof_frame: ack.frame,
        at_ns: ack.ts_ns,
        sent_ns: sent.sent_ns,
    }
}
