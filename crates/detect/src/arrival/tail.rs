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
    /// The identification of the packet that showed the first gap: what was sent before is original.
    ip_id: u16,
    /// That of the packet that showed the last one: what is late of any gap was sent before.
    last_id: u16,
    /// When the first gap showed, nanoseconds.
    shown_ns: i64,
}

impl LostTail {
    pub(super) fn may_repeat(&self, seg: &Segment, start: i64) -> bool {
        (self.from..self.to).contains(&start) && self.later(seg)
    }

    /// It was sent after the first gap showed.
    fn later(&self, seg: &Segment) -> bool {
        (seg.ip_id.wrapping_sub(self.ip_id) as i16) >= 0
    }

    /// `missing` packets vanished just before `seg`, behind which data would go on at `next`, besides those that have
    /// vanished less than `recent_ns` before and have not come. (Retransmissions that were lost never come.)
    fn more(&self, seg: &Segment, next: i64, packets: (i64, i64), recent_ns: i64) -> Self {
        let (missing, mss) = packets;
        let open = (self.to - self.from.max(next)).max(0);
        let recent = open > 0 && seg.ts_ns.saturating_sub(self.shown_ns) < recent_ns;
        let (ip_id, shown_ns, open) = if recent {
            (self.ip_id, self.shown_ns, open)
        } else {
            (seg.ip_id, seg.ts_ns, 0)
        };
        LostTail {
            from: next,
            to: next + (missing * mss + open).min(MAX_LOST_TAIL * mss),
            ip_id,
            last_id: seg.ip_id,
            shown_ns,
        }
    }

    /// `seg`, whose number was missing, has come.
    fn found(&mut self, seg: &Segment, mss: i64) {
        if (seg.ip_id.wrapping_sub(self.last_id) as i16) < 0 {
            self.to -= mss;
        }
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
            let recent_ns = if cx.only_data { self.pause_ns / 4 } else { 0 };
            self.tail = self.tail.more(seg, next, (missing, mss), recent_ns);
        }
    }

    /// A packet comes whose identification is lower than another's before it: it is not lost.
    #[cold]
    pub(crate) fn note_late_number(&mut self, seg: &Segment, mss: u32) {
        self.tail.found(seg, i64::from(mss));
    }

    /// In-order data whose identification jumped after a pause of a round trip or more, no hole
    /// open: what vanished was the tail, and this is its retransmission.
    pub(super) fn tail_was_lost(&self, seg: &Segment, cx: &Context) -> bool {
        let pause = seg.ts_ns.saturating_sub(self.last_ns());
        let rtt = cx.to_sender_ns.unwrap_or(i64::MAX / 4);
        cx.ip_id && self.last_ns() != NEVER_NS && pause >= rtt && self.order.holes().is_empty()
    }
}
