//! Losses at the end of what had been sent, which leave no hole.

use inorder_wire::Segment;

use super::{Arrival, Context};

/// Missing identifications in a row that are taken for lost packets, at most.
const MAX_LOST_TAIL: usize = 64;

/// Data that may be a retransmission although nothing shows its original: where identifications are missing and
/// no hole accounts for them, as many packets may have been lost behind the highest data seen.
#[derive(Clone, Debug, Default)]
pub(super) struct LostTail {
    /// Since the highest data came, these were passed over and have not come, in the order of time: packets behind that
    /// data, or retransmissions.
    missing: Vec<Missing>,
    /// One past the highest data.
    from: i64,
    /// Payload of a full segment, bytes.
    mss: i64,
    /// The identification of the packet that showed the first gap: what was sent before is original.
    ip_id: u16,
}

heap!(LostTail: missing);

/// An identification that was passed over.
#[derive(Clone, Copy, Debug)]
struct Missing {
    ip_id: u16,
    shown_ns: i64,
}

impl LostTail {
    /// True if `seg`, first byte at `start`, may repeat what was lost so. Its sender takes as long as `pause_ns` at least to
    /// hear of a loss and to send again.
    pub(super) fn may_repeat(&self, seg: &Segment, start: i64, pause_ns: i64) -> bool {
        let heard = |m: &&Missing| seg.ts_ns.saturating_sub(m.shown_ns) >= pause_ns;
        let lost = self.missing.iter().take_while(heard).count() as i64;
        (self.from..self.from + lost * self.mss).contains(&start) && self.later(seg)
    }

    /// It was sent after the first gap showed.
    fn later(&self, seg: &Segment) -> bool {
        (seg.ip_id.wrapping_sub(self.ip_id) as i16) >= 0
    }

    /// The numbers of `missing` packets are missing before that of `seg`, which repeats data below `next`.
    fn passed_over(&mut self, seg: &Segment, next: i64, missing: u16, mss: u32) {
        if self.from != next || self.missing.is_empty() {
            self.missing.clear();
            (self.from, self.ip_id) = (next, seg.ip_id);
        }
        self.mss = mss.into();
        let room = MAX_LOST_TAIL - self.missing.len();
        let numbers = (1..=missing).rev().map(|back| Missing {
            ip_id: seg.ip_id.wrapping_sub(back),
            shown_ns: seg.ts_ns,
        });
        self.missing.extend(numbers.take(room));
    }

    /// `seg`, whose number may have been missing, has come.
    fn found(&mut self, seg: &Segment) {
        self.missing.retain(|missing| missing.ip_id != seg.ip_id);
    }
}

/// Few retransmissions come sooner after what they repeat than this where no round trip is known, nanoseconds.
const MIN_PAUSE_NS: i64 = 1_000_000;

impl Arrival {
    pub(super) fn note_pause(&mut self, cx: &Context) {
        self.times.pause_ns = cx.marks.rtt_ns().map_or(MIN_PAUSE_NS, |rtt| rtt - rtt / 8);
    }

    /// In-order data comes while a hole is open and the sender has had the time to hear of it: it may repeat what was
    /// lost behind the highest data seen, unless its identification follows on that.
    pub(super) fn may_repeat_a_tail(&self, seg: &Segment, cx: &Context) -> bool {
        let pause = seg.ts_ns.saturating_sub(self.times.top_ns);
        let follows = cx.marks.ip_id && cx.step == 1 && self.times.top_ns > self.times.old_ns;
        pause >= self.times.pause_ns && !self.order.holes().is_empty() && !follows
    }

    /// Records the distance of the identification of old data from the highest one. The identifications between them belong to
    /// data lost at the end of what had been sent, to lost retransmissions, or to packets that are late and still come.
    pub(super) fn note_step(&mut self, seg: &Segment, cx: &Context) {
        let next = self.order.next();
        let missing = u16::try_from(cx.step - 1).unwrap_or(0);
        if (1..=MAX_LOST_TAIL).contains(&usize::from(missing)) {
            self.tail.passed_over(seg, next, missing, cx.mss);
        }
    }

    /// A packet comes whose identification is lower than another's before it: it is not lost.
    #[cold]
    pub(crate) fn note_late_number(&mut self, seg: &Segment) {
        self.tail.found(seg);
    }
}
