//! A capture that begins in the middle of its connection: what may have been sent, or have arrived, before.

use inorder_wire::Segment;

use super::{Arrival, NEVER_NS, Note};
use crate::copies::Above;
use inorder_metrics::by_bytes::{Hole, Order};

/// Minimum round trip assumed at the beginning, where it is unknown or measured on few packets, nanoseconds.
const MIN_SETTLING_NS: i64 = 100_000_000;
/// Segments of a hole that reordering at the start of a capture explains as well as anything.
const MAX_NARROW_HOLE: i64 = 4;

/// What may have been sent before the capture began.
#[derive(Debug)]
pub(super) struct Before {
    /// No SYN was captured, and until now may come what was sent again of data from before the capture, nanoseconds;
    /// `NEVER_NS` otherwise.
    settled_ns: i64,
    /// Data below may be from before the capture.
    old_top: i64,
    /// Data below was sent before the capture began: whatever brings it is no first transmission.
    pub(super) first: i64,
    /// When the capture began, nanoseconds.
    began_ns: i64,
    /// The capture was made next to the sender, which sends nothing below `first` but what it repeats.
    at_sender: bool,
    /// The receiver has said since the capture began that it lacks data below `first`: before, an acknowledgement of that may have been due.
    denied: bool,
}

impl Before {
    /// The capture has the SYN.
    pub(super) const NOTHING: Before = Before {
        settled_ns: NEVER_NS,
        old_top: 0,
        first: 0,
        began_ns: NEVER_NS,
        at_sender: false,
        denied: false,
    };
}

/// What data is that was sent first before the capture began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FromBefore {
    /// The receiver has it, as far as is known, or what it has is not known: it says nothing.
    Nothing,
    /// The receiver beside this capture point lacked it.
    Lacked,
    /// Its sender repeats it.
    Repeated,
}

impl Arrival {
    /// The capture begins with `seg` in the middle of the connection; what lies below `first` was sent before.
    pub(crate) fn begins_without_syn(
        &mut self,
        seg: &Segment,
        first: i64,
        to_sender_ns: Option<i64>,
        at_sender: bool,
    ) {
        self.before.first = first;
        self.before.began_ns = seg.ts_ns;
        self.before.at_sender = at_sender;
        self.order = Order::new(first);
        let rtt = to_sender_ns.unwrap_or(0).max(MIN_SETTLING_NS);
        self.before.settled_ns = seg.ts_ns.saturating_add(rtt).saturating_add(rtt / 2);
    }

    /// In a capture at the receiver that begins within a recovery: the receiver reported `blocks`, ascending, at `since_ns`,
    /// and lacked what lies between the byte `una` and them; without blocks, what lies above.
    pub(crate) fn begins_with_holes(&mut self, una: i64, blocks: &[(i64, i64)], since_ns: i64) {
        self.before.first = una;
        self.before.old_top = blocks.last().map_or(0, |block| block.1);
        self.order = Order::new(una);
        for &(left, right) in blocks {
            self.order.skip_to(left, since_ns, Note::default());
            self.order.had(right);
        }
    }

    /// What the data of `[start, end)` is, which lies below all that the capture began with. What the receiver, which has acknowledged what
    /// is below `una`, lacked until now is missing from here on.
    #[cold]
    pub(super) fn sent_before(&mut self, start: i64, end: i64, una: i64) -> FromBefore {
        if una >= end {
            return FromBefore::Nothing;
        }
        if self.before.at_sender {
            return FromBefore::Repeated;
        }
        let first = self.before.first;
        if self.receiver.is_none() || end > first || !self.before.denied {
            return FromBefore::Nothing;
        }
        let from = start.min(una);
        let began_ns = self.before.began_ns;
        self.order
            .lacked_from_the_start((from, first), began_ns, Note::default());
        self.before.old_top = self.before.old_top.max(first);
        self.before.first = from;
        FromBefore::Lacked
    }

    /// The hole was there when the capture began: nothing is known of what opened it.
    pub(super) fn was_open(&self, hole: &Hole<Note>) -> bool {
        self.began_with(hole) && hole.note.above == Above::default()
    }

    /// In a capture at the receiver that begins in the middle: it has reported what lies below `edge`. If that was
    /// not captured, it arrived before.
    #[cold]
    pub(crate) fn reported(&mut self, edge: i64) {
        self.book_run();
        // The FIN takes one number.
        if edge > self.order.next() + 1 {
            self.before.first = edge;
            self.order.go_on_at(edge);
        }
    }

    /// The receiver, behind the first data that was captured, acknowledges no more than what is below `ack`.
    pub(crate) fn lacks_from_before(&mut self, ack: i64) {
        self.before.denied |= ack < self.before.first;
    }

    /// No SYN was captured, and at `now` what was sent before the capture may still come.
    #[inline]
    pub(crate) fn has_just_begun(&self, now: i64) -> bool {
        now < self.before.settled_ns
    }

    /// Was the hole there when the capture began, or soon after, as far as can be known? What now comes to it may
    /// have been sent before.
    pub(super) fn began_with(&self, hole: &Hole<Note>) -> bool {
        hole.opened_ns < self.before.settled_ns && hole.end <= self.before.old_top
    }

    /// Data begins behind a hole before the start of the capture is forgotten. A first hole and a wide one may hold
    /// what was sent before the capture; a narrow one comes of reordering.
    pub(super) fn note_old(&mut self, seg: &Segment, start: i64, mss: u32) {
        let next = self.order.next();
        let wide = start - next > MAX_NARROW_HOLE * i64::from(mss.max(1));
        if seg.ts_ns < self.before.settled_ns && start > next && (wide || self.before.old_top == 0)
        {
            self.before.old_top = start;
        }
    }
}
