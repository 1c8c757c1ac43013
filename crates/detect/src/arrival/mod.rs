//! Data as it comes by the capture point: new, late, or again.
//!
//! At a receiver this is the whole analysis (the metrics of RFC 4737 section 4 on arrivals, with retransmissions
//! distinguished); in the middle it is the upstream half; at a sender it only says which transmissions
//! are originals.

mod again;
mod begun;
mod finish;
mod judge;
mod lacking;
mod refused;
mod run;
mod tail;
mod unanswered;

use inorder_wire::Segment;

use crate::acceptance::Acceptance;
use crate::collect::{Basis, Collector, Place};
use crate::copies::{Above, Copy};
use crate::explanation::{Explanation, Explanations};
use crate::kept::{Kept, KeptIds};
use crate::prompt::{Prompt, Waited};
use crate::recovery::RecoveryTracker;
use crate::result::{
    Cause, Confidence, Evidence, Half, Reason, Recoveries, Retransmission, Verdict,
};
use again::{Fill, FirstToCome};
use begun::Before;
use inorder_metrics::by_bytes::{Arrived, Hole, Late, Order};
use refused::{Listing, Refused, Suspect};
use run::Run;
use tail::LostTail;
use unanswered::{Unanswered, Waiting};

/// Number of most recent retransmissions searched for those of one original.
const MAX_COPIES_LOOKED_AT: usize = 256;
/// When nothing has happened yet, nanoseconds.
const NEVER_NS: i64 = i64::MIN / 4;

/// What is remembered with every hole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Note {
    above: Above,
    fill: Fill,
    refused: Option<Refused>,
    /// A retransmission that the receiver should have discarded, while nothing else has filled the hole.
    refused_copy: Fill,
    /// The receiver has it, although it never came by.
    lacked: bool,
}

/// What a piece of data (one wire segment) is at the capture point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Highest data so far.
    New,
    /// An original behind higher data, as sure as said.
    Late(Basis),
    /// A retransmission.
    Again,
}

/// What the caller knows of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// Wire payload of a full segment.
    pub(crate) mss: u32,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    /// The sender's IPv4 identification counts.
    pub(crate) ip_id: bool,
    /// The same, whatever it does with what it sends again.
    pub(crate) counts: bool,
    /// Whether it keeps those of what it sends again; if so, `ip_id` is false.
    pub(crate) kept: Kept,
    /// This one's identification is the highest so far.
    pub(crate) newest: bool,
    /// The sender's packet captured before bore the identification before this one's.
    pub(crate) follows: bool,
    /// How many steps the identification is from the highest so far; 0 where a missing one may be another
    /// connection's.
    pub(crate) step: i16,
    pub(crate) to_sender_ns: Option<i64>,
    /// The sender's timestamp clock ticks no sooner, nanoseconds.
    pub(crate) tick_ns: i64,
    /// Highest cumulative acknowledgement the receiver has sent.
    pub(crate) una: i64,
    /// The first byte's number is known from the SYN.
    pub(crate) syn_seen: bool,
}

/// The arrivals of one direction at the capture point.
#[derive(Debug)]
#[repr(C)] // First what every segment needs: see `Engines`.
pub(crate) struct Arrival {
    run: Run,
    /// When the highest data so far came, nanoseconds.
    top_ns: i64,
    /// When data below the highest last came, nanoseconds.
    old_ns: i64,
    /// Minimum pause after the highest data, nanoseconds, behind which in-order data may be a retransmission of lost data: the
    /// round trip from here to the sender.
    pause_ns: i64,
    /// When the receiver's cumulative acknowledgement last advanced.
    una_ns: i64,
    /// Holes in which an original lies that the receiver should have discarded, until it asks for the
    /// bytes again or takes them after all.
    suspects: Vec<Suspect>,
    listing: Listing,
    /// How often a hole was filled sooner than by a retransmission.
    filled_early: u32,
    recoveries: RecoveryTracker,
    order: Order<Note>,
    collector: Box<Collector>,
    keep: bool,
    list: Vec<Retransmission>,
    retransmissions: u64,
    /// Of these, the ones of bytes that may have been missing and forgotten.
    unclear: u64,
    /// Of these, the ones of bytes that came by before and have not been acknowledged.
    unanswered: Unanswered,
    /// One past what the receiver's window allows, bytes.
    edge: i64,
    /// TSval of the last of them.
    resent_tsval: u32,
    tail: LostTail,
    /// The receiver beside this capture point; `None` elsewhere, where nothing is known of its state.
    receiver: Option<Acceptance>,
    /// A retransmission has come, and no original that was sent after it: in-order data may be too old.
    watchful: bool,
    before: Before,
    /// How many originals had arrived when something came that may have been one or a retransmission, and why
    /// that is not known: the extents across it may be one off.
    doubtful: Option<(u64, Reason)>,
    /// Below this it is known what the capture lacks.
    looked_up_to: i64,
    /// What came first of its bytes and may have been a retransmission.
    brought: Option<Box<FirstToCome>>,
    kept_ids: KeptIds,
    explanations: Explanations,
}

heap!(Arrival: suspects, recoveries, order, collector, list, unanswered, tail, brought);

/// What [`Arrival::finish`] tells beside the collector.
#[derive(Debug)]
pub(crate) struct ArrivalEnd {
    pub(crate) collector: Box<Collector>,
    pub(crate) recoveries: Recoveries,
    pub(crate) list: Vec<Retransmission>,
    pub(crate) retransmissions: u64,
    pub(crate) needed: u64,
    pub(crate) spurious: u64,
    pub(crate) undecided: u64,
    pub(crate) missing: u64,
    /// Some of what was missing has been forgotten.
    pub(crate) forgot: bool,
}

impl Arrival {
    /// `at_receiver`: the capture was made beside the receiver, which acknowledges what it takes.
    #[inline(always)] // Made where it stays, instead of copied there.
    pub(crate) fn new(
        half: Half,
        keep: bool,
        at_receiver: bool,
        explanations: Explanations,
    ) -> Self {
        let explanations = if at_receiver || half == Half::Upstream {
            explanations
        } else {
            // At their sender all packets are captured as they are sent.
            explanations.without(Explanation::SentOrder)
        };
        Arrival {
            run: Run::default(),
            order: Order::new(0),
            collector: Box::new(Collector::new(half, keep)),
            recoveries: RecoveryTracker::new(keep),
            keep,
            list: Vec::new(),
            retransmissions: 0,
            unclear: 0,
            unanswered: Unanswered::default(),
            edge: i64::MAX,
            resent_tsval: 0,
            una_ns: i64::MIN / 4,
            tail: LostTail::default(),
            top_ns: NEVER_NS,
            old_ns: NEVER_NS,
            pause_ns: 0,
            receiver: at_receiver.then(Acceptance::default),
            suspects: Vec::new(),
            listing: Listing::default(),
            filled_early: 0,
            watchful: false,
            before: Before::NOTHING,
            doubtful: None,
            looked_up_to: 0,
            brought: None,
            kept_ids: KeptIds::default(),
            explanations,
        }
    }

    /// Whether the sender keeps identifications, as far as its data has shown.
    pub(crate) fn kept(&self) -> Kept {
        self.kept_ids.is()
    }

    /// See [`crate::side::Side::troubles`].
    pub(crate) fn troubles(&self) -> u64 {
        self.collector.troubles() + self.retransmissions
    }

    /// The receiver has acknowledged everything below `una`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, una: i64, now: i64) {
        self.una_ns = now;
        self.recoveries.acknowledged(una, now);
        if !self.unanswered.is_empty() {
            self.answer_copies(una);
        }
    }

    /// The receiver beside this capture point takes nothing from the byte `edge` on, as far as its windows tell. The edge of
    /// a window never moves back (RFC 9293 section 3.8.6).
    #[inline]
    pub(crate) fn offered(&mut self, edge: i64, closed: bool) {
        self.edge = match self.edge {
            // Nothing has been offered yet.
            i64::MAX if closed => return,
            i64::MAX => edge,
            known => known.max(edge),
        };
    }

    /// The data of `seg`, first byte at `start`. Calls `sink` for every wire segment in it.
    pub(crate) fn data(
        &mut self,
        seg: &Segment,
        start: i64,
        cx: &Context,
        mut sink: impl FnMut(Piece, i64, u32),
    ) {
        self.book_run();
        if cx.step != 0 && start < self.order.next() {
            self.note_step(seg, cx);
        }
        self.note_pause(cx);
        if start == self.order.next() && self.may_repeat_a_tail(seg, cx) {
            self.doubt_from(self.order.arrivals(), Reason::LoneCopy);
        }
        if start >= self.order.next() {
            self.note_first(seg, start, cx);
        }
        if self.begin_run(seg, start, cx.mss, true) {
            sink(Piece::New, start, seg.payload_len);
        } else {
            let next = self.order.next();
            self.general(seg, start, cx, &mut sink);
            if self.order.next() > next {
                self.top_ns = seg.ts_ns;
            } else {
                self.old_ns = seg.ts_ns;
            }
        }
    }

    fn general(
        &mut self,
        seg: &Segment,
        start: i64,
        cx: &Context,
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let end = start + i64::from(seg.payload_len);
        let next = self.order.next();
        if end <= next {
            if !cx.syn_seen && start < self.before.first {
                return;
            }
            if seg.payload_len <= 1 && end == next && end <= cx.una + 1 {
                return; // A keep-alive (RFC 9293 section 3.8.4), not data.
            }
        }
        let doubt = self.offer(seg, start, cx);
        let mut from = start;
        while from < end {
            let to = end.min(from + i64::from(cx.mss.max(1)));
            // A piece that begins in old data and reaches beyond is old up to the border.
            let to = if from < next && to > next { next } else { to };
            let len = (to - from) as u32;
            if let (Some(evidence), true) = (doubt, from >= self.order.next()) {
                self.suspect_new(seg, from, len, evidence);
                sink(Piece::New, from, len);
            } else if from >= self.order.next() {
                self.new_data(seg, from, len, sink);
            } else {
                self.old_data(seg, from, len, (cx, doubt), sink);
            }
            from = to;
        }
    }

    fn new_data(
        &mut self,
        seg: &Segment,
        from: i64,
        len: u32,
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let note = Note {
            above: Above::of(seg),
            ..Note::default()
        };
        self.collector.sent(seg.ts_ns, len);
        self.note_old(seg, from, len);
        if let Arrived::InOrder(label) = self.order.arrive(from, len, seg.ts_ns, false, note) {
            self.collector.in_order(label);
        }
        sink(Piece::New, from, len);
    }

    fn old_data(
        &mut self,
        seg: &Segment,
        from: i64,
        len: u32,
        (cx, doubt): (&Context, Option<Evidence>),
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let to = from + i64::from(len);
        let hole = self.order.holes().beyond(from);
        let Some(hole) = hole.filter(|h| h.start < to) else {
            if self.came_after_its_copy(seg, (from, to), cx) {
                sink(Piece::Again, from, len);
                return;
            }
            self.repeats(seg, (from, len), cx);
            sink(Piece::Again, from, len);
            return;
        };
        let copy = self.judge(seg, from, &hole, cx);
        let (Copy::Original(basis) | Copy::Retransmission(basis)) = copy;
        if basis.confidence == Confidence::Ambiguous {
            let reason = basis.reason.unwrap_or(Reason::LoneCopy);
            self.doubt_from(self.order.arrivals(), reason);
        }
        match copy {
            Copy::Original(basis) => {
                let basis = match self.doubtful {
                    Some((at, reason)) if at >= hole.opened_at => basis.weaker(reason),
                    _ => basis,
                };
                match doubt {
                    Some(evidence) if hole.note.fill.copies == 0 => {
                        let part = (from.max(hole.start), to.min(hole.end));
                        self.suspect(seg, &hole, part, (basis, evidence));
                    }
                    _ => self.late_original(seg, &hole, from, len, basis),
                }
                sink(Piece::Late(basis), from, len);
            }
            Copy::Retransmission(basis) => {
                let told = (Verdict::Ambiguous, basis.confidence);
                let phase = self.count_copy(seg, (from, len), told, cx);
                let was_open = self.was_open(&hole);
                let at_receiver = self.receiver.is_some();
                let fill = Fill {
                    copies: 1,
                    number: self.retransmissions,
                    phase,
                    mark: self.mark(seg, cx),
                    at_ns: seg.ts_ns,
                    frame: seg.frame,
                    position: self.order.arrivals(),
                    ambiguous: basis.confidence == Confidence::Ambiguous,
                    unmarked: basis.confidence != Confidence::Certain,
                    known: at_receiver && to <= cx.una && self.una_ns < seg.ts_ns,
                    // It may be an original that left before the capture began, and counts as a packet of the flow.
                    doubted: was_open,
                };
                if was_open {
                    self.collector.sent(seg.ts_ns, len);
                }
                if doubt.is_some() && at_receiver {
                    self.suspect_copy(from, to, fill);
                } else {
                    self.confirm(from, to);
                    self.order.annotate(from, to, |note| note.fill.add(fill));
                }
                sink(Piece::Again, from, len);
            }
        }
    }

    /// What came by before, and was not late, comes again by `seg`.
    fn repeats(&mut self, seg: &Segment, (from, len): (i64, u32), cx: &Context) {
        if cx.counts && cx.newest {
            self.kept_ids.renewed();
        }
        if (cx.una..self.order.forgotten_to()).contains(&from) {
            let told = (Verdict::Ambiguous, Confidence::Ambiguous);
            self.count_copy(seg, (from, len), told, cx);
            self.unclear += 1;
        } else if from < cx.una {
            // The receiver has it: whatever this is, it was not needed. Where nothing marks it, what came first may have
            // been the retransmission.
            let marked = cx.ip_id || cx.timestamps;
            let sure = match marked {
                true => Confidence::Certain,
                false => Confidence::Likely,
            };
            self.count_copy(seg, (from, len), (Verdict::Spurious, sure), cx);
        } else {
            let told = (Verdict::Ambiguous, Confidence::Certain);
            let phase = self.count_copy(seg, (from, len), told, cx);
            self.await_answer(Waiting {
                from,
                len,
                number: self.retransmissions,
                phase,
                at_ns: seg.ts_ns,
                frame: seg.frame,
            });
        }
    }

    /// The extents of packets that arrive from now on may be one off if they were overtaken before `position` originals had
    /// arrived.
    fn doubt_from(&mut self, position: u64, reason: Reason) {
        if self.doubtful.is_none_or(|(known, _)| known <= position) {
            self.doubtful = Some((position, reason));
        }
    }

    /// When data last came, nanoseconds.
    fn last_ns(&self) -> i64 {
        self.top_ns.max(self.old_ns)
    }

    fn late_original(
        &mut self,
        seg: &Segment,
        hole: &Hole<Note>,
        from: i64,
        len: u32,
        basis: Basis,
    ) {
        let fill = hole.note.fill;
        let basis = if seg.ts_ns < hole.opened_ns {
            // By its time it came before what it is behind in the file.
            Basis::ambiguous(basis.evidence, Reason::NotSeen)
        } else if self.began_with(hole) {
            // What opened the hole may be older than the capture. Identifications say that this was sent before what
            // overtook it, whenever that was.
            match basis.evidence {
                Evidence::ArrivalIpId => basis.weaker(Reason::NotSeen),
                _ => Basis::ambiguous(basis.evidence, Reason::NotSeen),
            }
        } else {
            basis
        };
        self.collector.sent(seg.ts_ns, len);
        let arrived = self
            .order
            .arrive(from, len, seg.ts_ns, false, Note::default());
        match arrived {
            Arrived::Late(late) if late.extent > 0 => {
                self.record_late(seg, from, len, &late, basis);
            }
            // Nothing sent later had arrived: in order, but after its retransmission.
            Arrived::Late(late) => self.collector.in_order(late.label),
            _ => return,
        }
        // A retransmission cut differently may have split the hole: all of it is filled now.
        let mut fills = vec![fill];
        self.order.clear(from, from + i64::from(len), |note| {
            fills.extend([note.fill, note.refused_copy]);
        });
        for fill in fills.iter().filter(|f| f.copies > 0) {
            self.recoveries
                .resolve(fill.phase, Verdict::Spurious, fill.copies);
        }
        if fills.iter().any(|f| f.copies > 0) {
            self.copies_as_sure_as(from, len, basis.confidence);
        }
    }

    /// Retransmissions of these bytes are no surer to be spurious than it is that their original came.
    fn copies_as_sure_as(&mut self, from: i64, len: u32, sure: Confidence) {
        let (from, to) = (from.max(0) as u64, (from + i64::from(len)).max(0) as u64);
        let latest = self.list.iter_mut().rev().take(MAX_COPIES_LOOKED_AT);
        for copy in latest.filter(|c| (from..to).contains(&c.seq_offset)) {
            copy.confidence = copy.confidence.max(sure);
        }
    }

    fn record_late(&mut self, seg: &Segment, from: i64, len: u32, late: &Late, basis: Basis) {
        let place = Place {
            start: from,
            len,
            frame: seg.frame,
            proof_frame: seg.frame,
            at_ns: seg.ts_ns,
            sent_ns: seg.ts_ns,
        };
        self.collector.late(place, *late, late.label, basis);
    }

    /// What made the sender repeat what ends at the byte `to` and came at `now`, as far as the times of arrival tell.
    fn prompt(&self, now: i64, to: i64, cx: &Context) -> Prompt {
        let quiet_ns = now.saturating_sub(self.last_ns());
        let last = to >= self.order.next();
        let waited = Waited {
            quiet_ns,
            since_sent_ns: Some(quiet_ns).filter(|_| last && self.top_ns >= self.old_ns),
            rtt_ns: cx.to_sender_ns.map(|rtt| (rtt, rtt)),
            last,
            sack: cx.sack,
        };
        waited.prompt()
    }

    /// Counts a retransmission, as sure to be one as said; returns its recovery phase.
    fn count_copy(
        &mut self,
        seg: &Segment,
        (from, len): (i64, u32),
        (verdict, confidence): (Verdict, Confidence),
        cx: &Context,
    ) -> u32 {
        self.retransmissions += 1;
        self.resent_tsval = seg.tsval;
        let prompt = self.prompt(seg.ts_ns, from + i64::from(len), cx);
        let delay = cx.to_sender_ns.unwrap_or(0);
        let highest = self.order.next();
        let phase = self
            .recoveries
            .retransmitted(seg.ts_ns, from, highest, delay, prompt);
        if verdict == Verdict::Spurious {
            self.recoveries.resolve(phase, verdict, 1);
        }
        if self.keep {
            self.list.push(Retransmission {
                frame: seg.frame,
                at_ns: seg.ts_ns,
                seq_offset: from.max(0) as u64,
                len,
                verdict,
                confidence,
                cause: Cause::Unknown,
            });
        }
        phase
    }
}
