//! What a receiver discards on arrival although it lacks the bytes, as a capture beside it shows:
//! segments with a timestamp older than the one it keeps (PAWS, RFC 7323 section 5), and segments that
//! begin beyond the window it has offered (RFC 9293 section 3.10.7.4).
//!
//! The receiver's state is rebuilt from what came by. A receiver need not follow these rules (PAWS
//! may be off, and Linux lets a timestamp pass that is one tick too old), so what this says is a
//! suspicion until the receiver's acknowledgements have gone on without the bytes.

use inorder_wire::{Has, NO_WSCALE, Segment, TcpFlags};

use crate::result::Evidence;

/// One receiver's TS.Recent and window, from the packets of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acceptance {
    /// TS.Recent of RFC 7323 section 4.3.
    ts_recent: Option<u32>,
    /// Last.ACK.sent: the highest cumulative acknowledgement.
    last_ack: Option<u32>,
    /// Right edge of the window; it never moves back (RFC 9293 section 3.8.6).
    right_edge: Option<u32>,
    /// The window scale options of the receiver's SYN and the sender's; [`NO_WSCALE`] without one; `None` where it was not
    /// captured.
    offered: [Option<u8>; 2],
}

/// True when `a` is before `b`, both modulo 2^32.
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Acceptance {
    /// A packet that the receiver sends.
    pub fn answers(&mut self, seg: &Segment) {
        if seg.flags.any(TcpFlags::SYN) {
            self.offered[0] = seg.window_scale();
        }
        if !seg.flags.any(TcpFlags::ACK) || seg.flags.any(TcpFlags::RST) {
            return;
        }
        self.acknowledged(seg.ack);
        let shift = match self.scale() {
            // The window of a SYN is never scaled (RFC 7323 section 2.2).
            _ if seg.flags.any(TcpFlags::SYN) => 0,
            Some(scale) => scale,
            None => return,
        };
        if self.right_edge.is_none() && seg.window == 0 {
            return; // Nothing has been offered yet.
        }
        let edge = seg.ack.wrapping_add(u32::from(seg.window) << shift);
        if self.right_edge.is_none_or(|old| before(old, edge)) {
            self.right_edge = Some(edge);
        }
    }

    /// The receiver has acknowledged everything below `ack`.
    pub(crate) fn acknowledged(&mut self, ack: u32) {
        if self.last_ack.is_none_or(|old| before(old, ack)) {
            self.last_ack = Some(ack);
        }
    }

    /// How far the receiver's windows are shifted: not at all unless both SYNs have the option
    /// (RFC 7323 section 2.2). `None` when a SYN was not seen.
    fn scale(&self) -> Option<u8> {
        match (self.offered[0]?, self.offered[1]?) {
            (NO_WSCALE, _) | (_, NO_WSCALE) => Some(0),
            (scale, _) => Some(scale.min(14)),
        }
    }

    /// A packet that reaches the receiver: `None` if it takes it, what speaks against it otherwise.
    /// What was taken may move TS.Recent.
    pub fn arrives(&mut self, seg: &Segment) -> Option<Evidence> {
        if seg.flags.any(TcpFlags::SYN) {
            self.offered[1] = seg.window_scale();
        }
        if seg.flags.any(TcpFlags::RST) {
            return None;
        }
        let stamped = seg.has(Has::TIMESTAMPS);
        if stamped && self.ts_recent.is_some_and(|ts| before(seg.tsval, ts)) {
            return Some(Evidence::Paws);
        }
        if seg.payload_len > 0 && self.right_edge.is_some_and(|edge| !before(seg.seq, edge)) {
            return Some(Evidence::Window);
        }
        let due = self.last_ack.is_some_and(|ack| !before(ack, seg.seq));
        if stamped && (due || seg.flags.any(TcpFlags::SYN)) {
            self.ts_recent = Some(seg.tsval);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32, tsval: u32) -> Segment {
        segment!(
            seq, tsval, payload_len: 100, flags: TcpFlags(TcpFlags::ACK), has: Has::TIMESTAMPS,
            wscale: NO_WSCALE
        )
    }

    fn ack(number: u32, window: u16) -> Segment {
        segment!(ack: number, window, flags: TcpFlags(TcpFlags::ACK), wscale: NO_WSCALE)
    }

    fn syn(wscale: u8, flags: u8) -> Segment {
        segment!(flags: TcpFlags(flags), wscale)
    }

    #[test]
    fn a_retransmission_at_the_left_edge_makes_the_original_of_another_hole_too_old() {
        let mut receiver = Acceptance::default();
        receiver.acknowledged(0);
        assert_eq!(receiver.arrives(&data(0, 10)), None);
        receiver.acknowledged(100);
        // 100 and 200 are late; 300 comes, then the retransmission of 100.
        assert_eq!(receiver.arrives(&data(300, 13)), None);
        assert_eq!(
            receiver.arrives(&data(200, 12)),
            None,
            "TS.Recent is 10 yet"
        );
        assert_eq!(receiver.arrives(&data(100, 40)), None);
        receiver.acknowledged(200);
        assert_eq!(receiver.arrives(&data(200, 12)), Some(Evidence::Paws));
        assert_eq!(receiver.arrives(&data(200, 41)), None);
    }

    #[test]
    fn data_above_the_left_edge_does_not_move_ts_recent() {
        let mut receiver = Acceptance::default();
        receiver.acknowledged(0);
        receiver.arrives(&data(0, 10));
        receiver.acknowledged(100);
        receiver.arrives(&data(500, 90));
        assert_eq!(receiver.arrives(&data(100, 11)), None);
    }

    #[test]
    fn what_begins_beyond_the_scaled_window_is_refused() {
        let mut receiver = Acceptance::default();
        receiver.arrives(&syn(7, TcpFlags::SYN));
        receiver.answers(&syn(2, TcpFlags::SYN | TcpFlags::ACK));
        receiver.arrives(&data(1, 1));
        receiver.answers(&ack(101, 100));
        assert_eq!(receiver.arrives(&data(500, 1)), None);
        assert_eq!(receiver.arrives(&data(501, 1)), Some(Evidence::Window));
        receiver.answers(&ack(101, 0));
        assert_eq!(
            receiver.arrives(&data(400, 1)),
            None,
            "the edge never moves back"
        );
    }
}
