//! What the receiver's packets say of the data.

use inorder_base::sequence::Offsets;
use inorder_limits::Answer;
use inorder_wire::Segment;

use super::Side;
use super::engines::Engines;
use crate::result::{PointKind, Vantage};

/// One duplicate is no longer than this, bytes: a super-segment.
const MAX_REPEATED: i64 = 65_536;

/// Bytes that the first SACK block of `seg`, which acknowledges `ack`, reports as duplicates: it lies below, or within the
/// second block (RFC 2883 section 4).
#[inline]
fn repeated_by(seg: &Segment, unwrap: &Offsets, ack: i64) -> i64 {
    let Some((&(left, right), more)) = seg.sack_blocks().split_first() else {
        return 0;
    };
    let (left, right) = (unwrap.offset(left), unwrap.offset(right));
    let within =
        |&(from, to): &(u32, u32)| unwrap.offset(from) <= left && right <= unwrap.offset(to);
    let repeated = right <= ack || more.first().is_some_and(within);
    if repeated && left < right {
        (right - left).min(MAX_REPEATED)
    } else {
        0
    }
}

impl Engines {
    /// The receiver, which is `from`, sends `seg`, an acknowledgement; `to_receiver_ns` says how soon it answers at best.
    #[inline(always)]
    pub(super) fn answered(
        &mut self,
        seg: &Segment,
        from: &Side,
        to_receiver_ns: impl FnOnce() -> Option<i64>,
    ) {
        let ack = self.unwrap.offset(seg.ack);
        if self.sender.is_none() && self.arrival.has_just_begun(seg.ts_ns) {
            self.answered_at_once(seg, ack);
        }
        if self.arrival.suspects_refusal() {
            self.answered_with_suspects(seg, ack);
        }
        if self.choice.vantage != Vantage::Sender && repeated_by(seg, &self.unwrap, ack) > 0 {
            self.note_reported_twice(seg);
        }
        let advances = ack > self.una;
        if advances {
            self.una = ack;
        }
        self.offered(seg, advances);
        let mut unseen = None;
        if self.arrival.has_holes() {
            let blocks = seg.sack_blocks().iter();
            let blocks = blocks.map(|b| (self.unwrap.offset(b.0), self.unwrap.offset(b.1)));
            unseen = self.arrival.lacks(self.una, blocks);
        }
        if advances {
            self.arrival.acknowledged(ack, seg.ts_ns);
            self.rtts.acknowledged(ack, seg.ts_ns);
            if let Some(points) = &mut self.points {
                points.push(seg.ts_ns, ack, PointKind::Ack);
            }
        }
        if let Some(sender) = &mut self.sender {
            if let Some(rtt) = to_receiver_ns() {
                sender.note_rtt(rtt);
            }
            if let Some(start) = unseen {
                sender.note_unseen_arrival(seg.frame, start);
            }
            sender.acknowledged(seg, from.ids_dense());
        }
        self.record_answer(seg, ack);
    }

    /// `seg` comes where the first data has just come, and nothing was captured before.
    #[cold]
    fn answered_at_once(&mut self, seg: &Segment, ack: i64) {
        let edges = seg.sack_blocks().iter();
        let edges = edges.map(|block| self.unwrap.offset(block.1));
        self.arrival.reported(edges.fold(ack, i64::max));
        self.arrival.lacks_from_before(ack);
    }

    /// `seg` may say of what the receiver should have discarded whether it has.
    #[inline(never)]
    fn answered_with_suspects(&mut self, seg: &Segment, ack: i64) {
        let unwrap = &self.unwrap;
        let sacked = |from, to| {
            let mut blocks = seg.sack_blocks().iter();
            blocks.any(|&(a, b)| unwrap.offset(a) < to && from < unwrap.offset(b))
        };
        let above = |block: &&(u32, u32)| unwrap.offset(block.1) > ack;
        let listed = seg.sack_blocks().iter().filter(above).count();
        self.arrival.answered(ack, listed, sacked);
    }

    /// The first block of `seg` reports bytes that came twice.
    #[inline(never)]
    fn note_reported_twice(&mut self, seg: &Segment) {
        let Some(&(left, right)) = seg.sack_blocks().first() else {
            return;
        };
        let (left, right) = (self.unwrap.offset(left), self.unwrap.offset(right));
        self.arrival.reported_twice(left, right);
        self.reported_twice += 1;
    }

    /// What the window of `seg` allows to be sent.
    #[inline(always)]
    fn offered(&mut self, seg: &Segment, advances: bool) {
        let edge = self.window_edge(seg);
        match &mut self.sender {
            None => self.arrival.offered(edge, seg.window == 0),
            Some(sender) if self.choice.vantage == Vantage::Sender => {
                sender.offered(edge, seg.ts_ns);
            }
            Some(_) => {}
        }
        if self.closed || seg.window == 0 || self.probe.is_some() {
            self.window_told(seg, advances);
        }
    }

    /// Records what limits the transfer.
    #[inline(always)]
    fn record_answer(&mut self, seg: &Segment, ack: i64) {
        let mut answer = Answer {
            now: seg.ts_ns,
            una: self.una,
            delivered: self.una,
            repeated: 0,
            edge: self.window_edge(seg),
            rtt_ns: None,
            carries: seg.payload_len > 0,
            sacks: seg.sack_len > 0,
            stamp: seg.tsval,
        };
        match self.sender.as_deref() {
            None => self.recorder.acknowledged_at_receiver(&answer),
            Some(sender) => {
                answer.delivered = sender.delivered().max(self.una);
                answer.repeated = repeated_by(seg, &self.unwrap, ack);
                answer.rtt_ns = sender.usual_rtt();
                self.recorder.acknowledged(&answer);
            }
        }
    }
}
