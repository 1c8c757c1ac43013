//! Losses at the end of what had been sent, which leave no hole.

use inorder_wire::Segment;

use super::{Arrival, Context, NEVER_NS};

/// Missing identifications in a row that are taken for lost packets, at most.
const MAX_LOST_TAIL: i64 = 64;

/// Data that may be a retransmission although nothing shows its original: where identifications are missing and
/// no hole accounts for them, as many packets may have been lost behind the highest data seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostTail {
    from: i64,
    to: i64,
    /// The identification of the packet that showed the gap: what was sent before is original.
    ip_id: u16,
}

impl LostTail {
    pub(super) fn may_repeat(&self, seg: &Segment, start: i64) -> bool {
        (self.from..self.to).contains(&start) && self.later(seg)
    }

    /// It was sent after the gap showed.
    fn later(&self, seg: &Segment) -> bool {
        (seg.ip_id.wrapping_sub(self.ip_id) as i16) >= 0
    }
}

/// Few retransmissions come sooner after what they repeat than this where no round trip is known, nanoseconds.
const MIN_PAUSE_NS: i64 = 1_000_000;

impl Arrival {
    pub(super) fn note_pause(&mut self, cx: &Context) {
        self.pause_ns = cx.to_sender_ns.map_or(MIN_PAUSE_NS, |rtt| rtt - rtt / 8);
    }

    /// In-order data comes while a hole is open and the sender has had the time to hear of it: it may repeat what was
    /// lost behind the highest data seen, unless its identification follows on that.
    pub(super) fn may_repeat_a_tail(&self, seg: &Segment, cx: &Context) -> bool {
        let pause = seg.ts_ns.saturating_sub(self.top_ns);
        let follows = cx.ip_id && cx.step == 1 && self.top_ns > self.old_ns;
        pause >= self.pause_ns && !self.order.holes().is_empty() && !follows
    }

    /// Old data comes whose identification is so many steps from the highest: behind a gap, what is missing was
    /// lost at the end of what had been sent, or is retransmissions that were lost, or is late and comes yet.
    pub(super) fn note_step(&mut self, seg: &Segment, cx: &Context) {
        let (next, mss) = (self.order.next(), i64::from(cx.mss));
        let missing = i64::from(cx.step) - 1;
        if (1..=MAX_LOST_TAIL).contains(&missing) {
            self.tail = LostTail {
                from: next,
                to: next + missing * mss,
                ip_id: seg.ip_id,
            };
        } else if cx.step < 0 && !self.tail.later(seg) {
            self.tail.to -= mss;
        }
    }

    /// In-order data whose identification jumped after a pause of a round trip or more, no hole
    /// open: what vanished was the tail, and this is its retransmission.
    pub(super) fn tail_was_lost(&self, seg: &Segment, cx: &Context) -> bool {
        let pause = seg.ts_ns.saturating_sub(self.last_ns());
        let rtt = cx.to_sender_ns.unwrap_or(i64::MAX / 4);
        cx.ip_id && self.last_ns() != NEVER_NS && pause >= rtt && self.order.holes().is_empty()
    }
}
