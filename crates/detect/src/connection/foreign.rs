//! Packets that somebody else sends in the name of one of the hosts: a firewall that answers for a server, or a box that puts an answer of its own
//! before that of the server.
//!
//! Two hosts that have agreed on timestamps put them on every segment but a reset, and discard what lacks them (RFC 7323 section 3.2). Where such a
//! segment has also come another way than the SYN of its host, as its time to live shows, that host has not sent it. Without timestamps this is known of
//! acknowledgements that came another way than all others of their host.

use inorder_vantage::Position;
use inorder_wire::{Dir, Has, Segment, TcpFlags};

use super::Connection;
use super::common::Common;
use super::waiting::Waiting;
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

fn is_bare_ack(seg: &Segment) -> bool {
    let other = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
    seg.payload_len == 0 && seg.flags.any(TcpFlags::ACK) && !seg.flags.any(other)
}

impl Common {
    /// A SYN was captured.
    pub(super) fn note_stamped(&mut self) {
        let offers = |at: usize| self.hellos[at].is_some_and(|h| h.timestamps == Some(true));
        let trusted = self.foreign.iter().all(|&foreign| foreign < MAX_UNPROVEN);
        self.stamped = offers(0) && offers(1) && trusted;
    }
}

/// Acknowledgements and resets that have passed this many routers more or fewer than other packets of a host came from elsewhere: a path that changes does so
/// by few, and so does a capture of both sides of a router.
pub(super) const MIN_HOPS_APART: u8 = 8;
/// The host's own packets are that many times as many.
const OWN_FOR_EACH_FOREIGN: usize = 3;
/// Number of packets without timestamps from which on their host has to have sent some with them: a proxy that answered the SYN may have promised what the
/// server behind it does not do.
const MAX_UNPROVEN: u32 = 8;

impl Connection {
    /// `seg`, which lacks the timestamps that both hosts have agreed on, was not sent by the host in whose name it goes `dir`.
    #[cold]
    #[inline(never)]
    pub(super) fn is_foreign(&mut self, dir: Dir, seg: &Segment) -> bool {
        let common = &self.head.common;
        let other = seg.flags.any(TcpFlags::SYN | TcpFlags::RST) || seg.has(Has::OPTIONS_CUT);
        let from = common.hellos[dir.index()].map_or(0, |hello| hello.ttl);
        if other || from == 0 || seg.ttl == 0 || seg.ttl == from {
            return false;
        }
        // Asked once: it takes a look at all packets that wait.
        if common.foreign[dir.index()] == MAX_UNPROVEN && !self.speaks_timestamps(dir) {
            self.head.common.stamped = false;
            return false;
        }
        true
    }

    /// The host has sent timestamps behind its SYN.
    fn speaks_timestamps(&self, dir: Dir) -> bool {
        let stamped = |(way, seg): (Dir, Segment)| {
            way == dir && seg.has(Has::TIMESTAMPS) && !seg.flags.any(TcpFlags::SYN)
        };
        match &self.sides {
            Some(sides) => sides[dir.index()].speaks_timestamps(),
            None => self.head.waiting.iter().any(stamped),
        }
    }

    /// `seg` goes `dir` and waits: may it be foreign, by its time to live alone?
    pub(super) fn may_be_foreign(&self, dir: Dir, seg: &Segment) -> bool {
        let own = self.head.common.hellos[dir.index()].map_or(0, |hello| hello.ttl);
        own != 0 && is_bare_ack(seg) && seg.ttl != 0 && seg.ttl.abs_diff(own) >= MIN_HOPS_APART
    }

    /// Leaves out the acknowledgements of those that wait which are foreign by their time to live alone: a firewall that answers for a server does
    /// so a few times, and the other packets of the host came the same way as its SYN.
    #[cold]
    pub(super) fn leave_foreign_out(&mut self) {
        let all: Vec<(Dir, Segment)> = self.head.waiting.iter().collect();
        let of = |dir: Dir, is: &dyn Fn(&Segment) -> bool| {
            all.iter()
                .filter(|(way, seg)| *way == dir && is(seg))
                .count()
        };
        let foreign = [Dir::LowToHigh, Dir::HighToLow].map(|dir| {
            let far = of(dir, &|seg| self.may_be_foreign(dir, seg));
            let syn_ttl = self.head.common.hellos[dir.index()].map_or(0, |hello| hello.ttl);
            let own = of(dir, &|seg| {
                !seg.flags.any(TcpFlags::SYN) && seg.ttl == syn_ttl
            });
            if own >= OWN_FOR_EACH_FOREIGN * far {
                far
            } else {
                0
            }
        });
        if foreign == [0, 0] {
            return;
        }
        self.head.common.position = Position::default();
        self.head.waiting = Waiting::default();
        for (dir, seg) in &all {
            if foreign[dir.index()] > 0 && self.may_be_foreign(*dir, seg) {
                self.head.common.foreign[dir.index()] += 1;
            } else {
                self.head.common.position.observe(*dir, seg);
                self.head.waiting.push(*dir, seg);
            }
        }
    }

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

    const SYN: u8 = TcpFlags::SYN;
    /// What a SYN and what follows it has with timestamps.
    const STAMPED: u8 = Has::TIMESTAMPS;

    /// Packets of a connection as they come by: which way, when (ms), with which time to live.
    struct Packets {
        tracker: Tracker,
        key: FlowKey,
        there: Dir,
        frame: u64,
    }

    impl Packets {
        fn new() -> Self {
            let (key, there) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
            let tracker = Tracker::new(Config::default().what_if(false));
            let frame = 0;
            Packets {
                tracker,
                key,
                there,
                frame,
            }
        }

        /// From the client, which sends with a time to live of 64.
        fn there(&mut self, ms: i64, seg: Segment) {
            self.push(self.there, ms, Segment { ttl: 64, ..seg });
        }

        /// In the name of the server.
        fn back(&mut self, ms: i64, ttl: u8, seg: Segment) {
            self.push(self.there.reverse(), ms, Segment { ttl, ..seg });
        }

        fn push(&mut self, dir: Dir, ms: i64, seg: Segment) {
            let ack = if self.frame == 0 { 0 } else { TcpFlags::ACK };
            self.frame += 1;
            let seg = Segment {
                ts_ns: ms * 1_000_000,
                frame: self.frame,
                flags: TcpFlags(seg.flags.0 | ack),
                ..seg
            };
            self.tracker.push(&self.key, dir, &seg);
        }

        /// The SYN, and its answer after 100 ms.
        fn opened(ttl: u8, has: u8) -> Self {
            let mut packets = Self::new();
            let flags = TcpFlags(SYN);
            packets.there(0, segment!(seq: 99, flags, tsval: 1, has));
            packets.back(100, ttl, segment!(seq: 499, ack: 100, flags, tsval: 1, has));
            packets
        }
    }

    /// A server, with a time to live of 44 here, sends 1,000 bytes; before they come, a packet with `ttl` does that has other data, with timestamps or
    /// without. How many packets were foreign, and how often something was sent again.
    fn told(ttl: u8, stamped: bool) -> (u64, u64) {
        let mut packets = Packets::opened(44, STAMPED);
        let stamps = |at: u32| segment!(tsval: at, has: STAMPED);
        packets.there(
            100,
            Segment {
                seq: 100,
                ack: 500,
                ..stamps(100)
            },
        );
        packets.there(
            101,
            Segment {
                seq: 100,
                ack: 500,
                payload_len: 50,
                ..stamps(101)
            },
        );
        let has = if stamped { STAMPED } else { 0 };
        packets.back(
            106,
            ttl,
            segment!(seq: 500, ack: 150, payload_len: 70, tsval: 106, has),
        );
        packets.back(
            201,
            44,
            Segment {
                seq: 500,
                ack: 150,
                payload_len: 1_000,
                ..stamps(201)
            },
        );
        packets.there(
            201,
            Segment {
                seq: 150,
                ack: 1_500,
                ..stamps(201)
            },
        );
        let flows = packets.tracker.finish();
        let foreign = flows.iter().map(|f| f.artefacts.foreign_packets);
        let again = flows.iter().map(|f| f.retransmissions.total).sum();
        (foreign.max().unwrap_or(0), again)
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

    /// A server answers after 100 ms, with a time to live of 249; after 4 ms a firewall acknowledges the request, with 63. How many packets were foreign, and
    /// the shortest round trip, ms.
    fn answered_nearby(own: u32) -> (u64, Option<i64>) {
        let mut packets = Packets::opened(249, 0);
        packets.there(100, segment!(seq: 100, ack: 500));
        for n in 0..own {
            let at = 101 + i64::from(n) * 200;
            let seq = 100 + n * 50;
            packets.there(at, segment!(seq, ack: 500, payload_len: 50));
            if n == 0 {
                packets.back(at + 4, 63, segment!(seq: 500, ack: 150));
            }
            packets.back(at + 100, 249, segment!(seq: 500, ack: seq + 50));
        }
        let flows = packets.tracker.finish();
        let rtt_ms = flows[0].min_rtt_ns.map(|ns| ns / 1_000_000);
        (flows[0].artefacts.foreign_packets, rtt_ms)
    }

    #[test]
    fn an_acknowledgement_that_came_another_way_than_all_others_is_of_no_host() {
        assert_eq!(answered_nearby(6), (1, Some(100)));
        assert_eq!(answered_nearby(2).0, 0, "hardly any others");
    }

    #[test]
    fn a_server_behind_a_proxy_that_answered_its_syn_is_followed() {
        let mut packets = Packets::opened(64, STAMPED);
        for n in 0..40 {
            let data = segment!(seq: 500 + n * 100, ack: 100, payload_len: 100);
            packets.back(101 + i64::from(n), 50, data);
        }
        let flows = packets.tracker.finish();
        assert_eq!(flows[0].originals.packets, 40 - 8);
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
