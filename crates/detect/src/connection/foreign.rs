//! Packets that somebody else sends in the name of one of the hosts: a firewall that answers for a server, or a box that puts an answer of its own
//! before that of the server.
//!
//! Two hosts that have agreed on timestamps put them on every segment but a reset, and discard what lacks them (RFC 7323 section 3.2). Where such a
//! segment has also come another way than the SYN of its host, as its time to live shows, that host has not sent it.

use inorder_wire::{Dir, Has, Segment, TcpFlags};

use super::Connection;
use super::common::Common;
use crate::side::MAX_WSCALE;

/// No block is farther from what is acknowledged, bytes, where no window reaches as far: more than almost any path holds.
const MAX_FAR: u32 = 1 << 26;

/// The first SACK block of `seg` lies farther from what it acknowledges than any scale makes its window: a box on the way gives sequence numbers other
/// values, and leaves those in the blocks as they are.
#[inline]
pub(super) fn has_foreign_blocks(seg: &Segment) -> bool {
    let blocks = seg.sack_blocks();
    let far = blocks.first().map_or(0, |block| {
        let apart = block.0.wrapping_sub(seg.ack).cast_signed();
        apart.unsigned_abs()
    });
    far > MAX_FAR && far > u32::from(seg.window) << MAX_WSCALE
}

impl Common {
    /// A SYN was captured.
    pub(super) fn note_stamped(&mut self) {
        let offers = |at: usize| self.hellos[at].is_some_and(|h| h.timestamps == Some(true));
        self.stamped = offers(0) && offers(1);
    }

    /// `seg`, which lacks the timestamps that both hosts have agreed on, was not sent by the host in whose name it goes `dir`.
    #[cold]
    #[inline(never)]
    pub(super) fn is_foreign(&self, dir: Dir, seg: &Segment) -> bool {
        let other = seg.flags.any(TcpFlags::SYN | TcpFlags::RST) || seg.has(Has::OPTIONS_CUT);
        let from = self.hellos[dir.index()].map_or(0, |hello| hello.ttl);
        !other && from != 0 && seg.ttl != 0 && seg.ttl != from
    }
}

impl Connection {
    /// Packets in the name of the sender of the data that goes `dir`; and in that of its receiver, unless they count beside other data.
    pub(super) fn foreign_to(&self, dir: Dir) -> u64 {
        let common = &self.head.common;
        let foreign = common.foreign.map(u64::from);
        let other = dir.reverse().index();
        match common.followed[other] {
            true => foreign[dir.index()],
            false => foreign[dir.index()] + foreign[other],
        }
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

    use crate::{Config, Tracker};

    /// A server, with a time to live of 44 here, sends 1,000 bytes; before they come, a packet with `ttl` does that has other data, with timestamps or
    /// without. How many packets were foreign, and how often something was sent again.
    fn told(ttl: u8, stamped: bool) -> (u64, u64) {
        let (key, there) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
        let mut tracker = Tracker::new(Config::default().what_if(false));
        let mut frame = 0;
        let mut push = |dir: Dir, ms: i64, seg: Segment| {
            frame += 1;
            let ttl = match (seg.ttl, dir == there) {
                (0, true) => 64,
                (0, false) => 44,
                (ttl, _) => ttl,
            };
            let ack = if frame == 1 { 0 } else { TcpFlags::ACK };
            let flags = TcpFlags(seg.flags.0 | ack);
            let ts_ns = ms * 1_000_000;
            let seg = Segment {
                ts_ns,
                frame,
                ttl,
                flags,
                ..seg
            };
            tracker.push(&key, dir, &seg);
        };
        let stamps = |at: u32| segment!(tsval: at, has: Has::TIMESTAMPS);
        let syn =
            |seq| segment!(seq, flags: TcpFlags(TcpFlags::SYN), tsval: 1, has: Has::TIMESTAMPS);
        push(there, 0, syn(99));
        push(
            there.reverse(),
            100,
            Segment {
                ack: 100,
                ..syn(499)
            },
        );
        push(
            there,
            100,
            Segment {
                seq: 100,
                ack: 500,
                ..stamps(100)
            },
        );
        push(
            there,
            101,
            Segment {
                seq: 100,
                ack: 500,
                payload_len: 50,
                ..stamps(101)
            },
        );
        let has = if stamped { Has::TIMESTAMPS } else { 0 };
        push(
            there.reverse(),
            106,
            segment!(seq: 500, ack: 150, payload_len: 70, ttl, tsval: 106, has),
        );
        push(
            there.reverse(),
            201,
            Segment {
                seq: 500,
                ack: 150,
                payload_len: 1_000,
                ..stamps(201)
            },
        );
        push(
            there,
            201,
            Segment {
                seq: 150,
                ack: 1_500,
                ..stamps(201)
            },
        );
        let flows = tracker.finish();
        let answer = flows
            .iter()
            .find(|f| f.originals.packets > 0 && f.artefacts.foreign_packets > 0);
        let again = flows.iter().map(|f| f.retransmissions.total).sum();
        (answer.map_or(0, |f| f.artefacts.foreign_packets), again)
    }

    #[test]
    fn blocks_that_no_window_reaches_are_not_translated() {
        let far = |left: u32, window: u16| {
            let mut seg = segment!(ack: 1_000, window, sack_len: 1);
            seg.sack[0] = (left, left.wrapping_add(100));
            super::has_foreign_blocks(&seg)
        };
        assert!(far(387_000_000, 69) && far(0u32.wrapping_sub(387_000_000), 69));
        assert!(!far(387_000_000, 40_000), "a window of 655 MB");
        assert!(!far(500, 69) && !far(60_000_000, 0));
    }

    #[test]
    fn what_lacks_timestamps_and_came_another_way_is_of_no_host() {
        assert_eq!(told(189, false), (1, 0));
        assert_eq!(
            told(44, false).0,
            0,
            "a box on the way has taken the timestamps away"
        );
        assert_eq!(told(189, true).0, 0, "a packet that came another way");
    }
}
