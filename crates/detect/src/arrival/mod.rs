//! Data as it comes by the capture point: new, late, or again.
//!
//! At a receiver this is the whole analysis (the metrics of RFC 4737 section 4 on arrivals, with retransmissions
//! distinguished); in the middle it is the upstream half; at a sender it only says which transmissions
//! are originals.

mod again;
mod announced;
mod begun;
mod early;
mod finish;
mod judge;
mod lacking;
mod pieces;
mod refused;
mod resent;
mod run;
mod tail;
mod unanswered;

use inorder_wire::Segment;

use crate::acceptance::Acceptance;
use crate::collect::{Basis, Collector};
#[cfg(test)]
use crate::copies::RoundTrip;
use crate::copies::{Above, Marks};
use crate::explanation::{Explanation, Explanations};
use crate::kept::{Kept, KeptIds};
use crate::recovery::RecoveryTracker;
use crate::result::{Confidence, Half, Reason};
use again::{Fill, FirstToCome};
use announced::Announced;
use begun::Before;
use early::EarlyFills;
use inorder_metrics::by_bytes::Order;
use refused::{Refused, Suspect};
use resent::Resent;
use run::Run;
use tail::LostTail;
use unanswered::Unanswered;

/// When nothing has happened yet, nanoseconds.
const NEVER_NS: i64 = i64::MIN / 4;
/// What shows the end of the data, or of what has been sent, overtakes no more of it than this, bytes: one further ahead is taken for no part of
/// this connection.
const MAX_BEHIND_THE_END: i64 = 1 << 24;

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
    /// A segment without data opened it, of which `above` tells.
    announced: bool,
}

/// What a piece of data (one wire segment) is at the capture point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Highest data so far.
    New,
    /// An original behind higher data, as sure as said.
    Late(Basis),
    /// Bytes that came by before, or whose original was overtaken.
    Again(Repeat),
}

/// Which of two packets with the same bytes is the retransmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Repeat {
    /// How sure it is that it is the one that comes now.
    pub(crate) sure: Confidence,
    /// It is the one that came before, in this frame and at this time, nanoseconds.
    pub(crate) ahead: Option<(u64, i64)>,
}

/// What the caller knows of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// Wire payload of a full segment.
    pub(crate) mss: u32,
    pub(crate) sack: bool,
    pub(crate) marks: Marks,
    /// The sender's IPv4 identification counts, whatever it does with what it sends again.
    pub(crate) counts: bool,
    /// This one's identification is the highest so far.
    pub(crate) newest: bool,
    /// How many steps the identification is from the highest so far; 0 where a missing one may be another
    /// connection's.
    pub(crate) step: i16,
    /// How long behind all data before this was sent, as timestamps tell, nanoseconds; 0 if they tell nothing.
    pub(crate) sent_behind_ns: i64,
    /// Highest cumulative acknowledgement the receiver has sent.
    pub(crate) una: i64,
    /// Acknowledgements were captured before what they answer.
    pub(crate) disorder: bool,
    /// The first byte's number is known from the SYN.
    pub(crate) syn_seen: bool,
}

#[cfg(test)]
impl Context {
    /// Of a connection that was captured from its SYN on next to the receiver, 20 ms from the sender, with packets of 1,000 bytes.
    fn beside_receiver() -> Self {
        Context {
            mss: 1_000,
            sack: true,
            syn_seen: true,
            ..Context::default()
        }
        .away(20_000_000)
    }

    /// The sender is so far away, nanoseconds.
    fn away(mut self, ns: i64) -> Context {
        self.marks.to_sender = Some(RoundTrip::new(ns, false));
        self
    }

    /// Its identifications count, if `counts`.
    fn numbered(mut self, counts: bool) -> Context {
        self.marks.ip_id = counts;
        self
    }

    fn stamped(mut self) -> Context {
        self.marks.timestamps = true;
        self
    }
}

/// When something last came, nanoseconds.
#[derive(Debug)]
struct Times {
    /// The highest data so far.
    top_ns: i64,
    /// Data below the highest.
    old_ns: i64,
    /// Minimum pause after the highest data, nanoseconds, behind which in-order data may be a retransmission of lost data: the
    /// round trip from here to the sender.
    pause_ns: i64,
    /// An advance of the receiver's cumulative acknowledgement.
    una_ns: i64,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            top_ns: NEVER_NS,
            old_ns: NEVER_NS,
            pause_ns: 0,
            una_ns: NEVER_NS,
        }
    }
}

impl Times {
    /// Any data.
    fn last_ns(&self) -> i64 {
        self.top_ns.max(self.old_ns)
    }
}

/// The arrivals of one direction at the capture point.
#[derive(Debug)]
#[repr(C)] // First what every segment needs: see `Engines`.
pub(crate) struct Arrival {
    run: Run,
    times: Times,
    /// Holes in which an original lies that the receiver should have discarded, until it asks for the
    /// bytes again or takes them after all.
    suspects: Vec<Suspect>,
    early: EarlyFills,
    recoveries: RecoveryTracker,
    order: Order<Note>,
    collector: Box<Collector>,
    resent: Resent,
    /// Retransmissions of bytes that came by before and have not been acknowledged.
    unanswered: Unanswered,
    /// One past what the receiver's window allows, bytes.
    edge: i64,
    tail: LostTail,
    /// The receiver beside this capture point; `None` elsewhere, where nothing is known of its state.
    receiver: Option<Acceptance>,
    /// A retransmission has come, and no original that was sent after it: in-order data may be too old.
    watchful: bool,
    before: Before,
    /// How many originals had arrived when something came that may have been one or a retransmission, and why
    /// that is not known: the extents across it may be one off.
    doubtful: Option<(u64, Reason)>,
    /// The end of the data has come.
    ended: bool,
    /// Below this it is known what the capture lacks.
    looked_up_to: i64,
    /// What came first of its bytes and may have been a retransmission.
    brought: Option<Box<FirstToCome>>,
    /// What its sender has shown to have sent before it came by, ascending.
    announced: Vec<Announced>,
    kept_ids: KeptIds,
    explanations: Explanations,
}

heap!(Arrival: suspects, recoveries, order, collector, resent, unanswered, tail, brought, announced);

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
            resent: Resent::new(keep),
            unanswered: Unanswered::default(),
            edge: i64::MAX,
            tail: LostTail::default(),
            times: Times::default(),
            receiver: at_receiver.then(Acceptance::default),
            suspects: Vec::new(),
            early: EarlyFills::default(),
            watchful: false,
            before: Before::NOTHING,
            doubtful: None,
            ended: false,
            looked_up_to: 0,
            brought: None,
            announced: Vec::new(),
            kept_ids: KeptIds::default(),
            explanations,
        }
    }

    /// Some data was late or sent again with its old identification.
    pub(crate) fn perhaps_kept(&self) -> bool {
        self.kept_ids.is_suspected()
    }

    /// Whether the sender keeps identifications, as far as its data has shown.
    pub(crate) fn kept(&self) -> Kept {
        self.kept_ids.is()
    }

    /// See [`crate::side::Side::troubles`].
    pub(crate) fn troubles(&self) -> u64 {
        self.collector.troubles() + self.resent.total
    }

    /// The receiver has acknowledged everything below `una`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, una: i64, now: i64) {
        self.times.una_ns = now;
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
        if start >= self.order.next() && self.is_announced(start) {
            self.note_announced(seg, start, cx);
        }
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
                self.times.top_ns = seg.ts_ns;
            } else {
                self.times.old_ns = seg.ts_ns;
            }
        }
    }

    /// The FIN comes by as a packet of its own, `above` all data, which ends before the byte `at`. It takes a number of its own (RFC 9293
    /// section 3.4): what it has overtaken is late, or was lost, as if data had come. Another is a copy.
    #[cold]
    pub(crate) fn end_arrives(&mut self, above: Above, at: i64) {
        self.book_run();
        let next = self.order.next();
        let within = at <= self.edge && at - next <= MAX_BEHIND_THE_END;
        if self.ended || !within {
            return;
        }
        self.ended = true;
        let note = Note {
            above,
            ..Note::default()
        };
        self.order.end_arrives(at, above.at_ns, note);
        if at > next {
            self.times.top_ns = above.at_ns;
        }
    }

    /// The extents of packets that arrive from now on may be one off if they were overtaken before `position` originals had
    /// arrived.
    fn doubt_from(&mut self, position: u64, reason: Reason) {
        if self.doubtful.is_none_or(|(known, _)| known <= position) {
            self.doubtful = Some((position, reason));
        }
    }
}
