//! Packets: a TCP segment or a probe, and what the simulator stores with it.

use inorder_path as path;
use inorder_sort::Meta;
use inorder_sort::classify::TcpFacts;
use inorder_tcp::{Ecn, Flags, Segment};

/// Bits of a tunnel's numbers, as of ESP (RFC 4303 section 2.2).
const TUNNEL_BITS: u32 = 32;

/// One direction of a flow, or a stream of probes: an index in the simulated world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel(pub u32);

/// The side of the network at which a packet starts or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The host that sends the data of forward flows.
    A,
    /// The host that receives it.
    B,
}

impl End {
    /// The opposite end.
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::A => End::B,
            End::B => End::A,
        }
    }
}

/// Index of a line in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineId(pub u16);

/// A packet in transit.
///
/// Many are in transit at once, and each is read when no cache holds it any more: it begins with a line of the cache, in which is all that
/// a packet without SACK blocks needs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Time of sending, nanoseconds.
    pub sent_ns: i64,
    /// Offset of its payload in the stream, bytes.
    pub offset: u64,
    /// Its channel.
    pub channel: Channel,
    /// Its number among the packets of its channel, from 0: identifies the transmission.
    pub id: u32,
    /// Its number among the originals of its channel, from 1; 0 for a retransmission or a packet without data.
    pub original: u32,
    /// Number of frames merged into it.
    pub frames: u16,
    /// Number of lines of its route that it has passed.
    pub passed: u8,
    /// True if it was damaged in transit.
    pub corrupted: bool,
    /// Its content.
    pub body: Body,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A segment.
    Tcp(Segment),
    /// A probe; its length in bytes, including the IP header.
    Probe(u32),
}

impl Packet {
    /// Payload length, bytes; 0 for a probe.
    pub fn payload(&self) -> u32 {
        self.segment().map_or(0, |segment| segment.payload)
    }

    /// The segment, if it is one.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Probe(_) => None,
        }
    }
}

/// The properties that decide whether a sorter may hold the segment. Options other than SACK, timestamps and accurate ECN
/// occur only in a SYN, which is never held.
fn sorting_facts(segment: &Segment) -> TcpFacts {
    TcpFacts {
        flags: (segment.flags.bits() & 0xff) as u8,
        payload_len: segment.payload,
        other_tcp_options: !segment.sack.is_empty() || segment.ecn_option.is_some(),
        ..TcpFacts::default()
    }
}

/// `held`, merged of `frames` frames, is not at its end yet, and `next` is no longer than they are.
fn may_go_on(held: &Segment, frames: u16, next: &Segment, next_frames: u16) -> bool {
    let full = held.payload / u32::from(frames.max(1));
    !held.flags.has(Flags::PSH)
        && held.payload == full * u32::from(frames)
        && next.payload <= full.saturating_mul(next_frames.into())
}

impl path::Packet for Packet {
    type Flow = u32;

    #[inline]
    fn wire_bytes(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.ip_bytes(),
            Body::Probe(bytes) => *bytes,
        }
    }

    #[inline]
    fn flow(&self) -> u32 {
        self.channel.0
    }

    #[inline]
    fn meta(&self) -> Meta<u32> {
        match &self.body {
            Body::Tcp(segment) => sorting_facts(segment).meta(self.channel.0, segment.seq),
            Body::Probe(_) => Meta::unsuitable(self.channel.0),
        }
    }

    /// As if each direction of a flow were a tunnel of its own, in which every packet has a number, acknowledgements and
    /// retransmissions included, so that none comes twice.
    fn tunnel_meta(&self) -> Meta<u32> {
        Meta::numbered(self.channel.0, self.id.into(), TUNNEL_BITS)
    }

    fn corrupt(&mut self, _random: u64) -> bool {
        self.corrupted = true;
        true
    }

    fn mark_congestion(&mut self) -> bool {
        let Body::Tcp(segment) = &mut self.body else {
            return false;
        };
        if segment.ecn != Ecn::NotCapable {
            segment.ecn = Ecn::Congestion;
        }
        segment.ecn == Ecn::Congestion
    }

    fn wants_low_latency(&self) -> bool {
        let ecn = self.segment().map(|segment| segment.ecn);
        matches!(ecn, Some(Ecn::Capable1 | Ecn::Congestion))
    }

    /// As in GRO: the following bytes with the same acknowledgement, window and timestamps. No packet is longer than the
    /// first, and one that is shorter or asks to be pushed is the last (Linux net/ipv4/tcp_offload.c, tcp_gro_receive).
    fn absorb(&mut self, next: &Self) -> bool {
        let (Body::Tcp(held), Body::Tcp(other)) = (&mut self.body, &next.body) else {
            return false;
        };
        let follows = other.seq == held.seq.wrapping_add(held.payload)
            && other.ack == held.ack
            && other.window == held.window
            && other.timestamps == held.timestamps
            && may_go_on(held, self.frames, other, next.frames)
            && !self.corrupted
            && !next.corrupted;
        if follows {
            held.payload = held.payload.saturating_add(other.payload);
            held.flags = held.flags.with(other.flags);
            self.frames = self.frames.saturating_add(next.frames);
        }
        follows
    }

    fn frames(&self) -> u32 {
        self.frames.into()
    }
}

#[cfg(test)]
mod tests {
    use inorder_path::Packet as _;

    use super::*;

    fn packet(seq: u32, payload: u32, flags: Flags) -> Packet {
        Packet {
            body: Body::Tcp(Segment {
                seq,
                payload,
                flags,
                ..Segment::default()
            }),
            sent_ns: 0,
            offset: 0,
            channel: Channel(0),
            id: 0,
            original: 1,
            frames: 1,
            passed: 0,
            corrupted: false,
        }
    }

    #[test]
    fn what_is_read_of_a_packet_without_sack_blocks_is_one_line_of_the_cache() {
        use std::mem::{align_of, offset_of};
        assert_eq!((size_of::<Packet>(), align_of::<Packet>()), (128, 64));
        // The kind of its content takes no room of its own.
        assert_eq!(size_of::<Body>(), size_of::<Segment>());
        assert!(offset_of!(Packet, body) + offset_of!(Segment, sack) < 64);
    }

    #[test]
    fn merging_ends_with_a_packet_that_is_shorter_or_pushed_and_takes_none_that_is_longer() {
        let pushed = Flags::ACK.with(Flags::PSH);
        let mut held = packet(0, 100, Flags::ACK);
        assert!(held.absorb(&packet(100, 100, Flags::ACK)));
        assert!(!held.absorb(&packet(200, 101, Flags::ACK)), "longer");
        assert!(held.absorb(&packet(200, 60, Flags::ACK)));
        assert!(!held.absorb(&packet(260, 60, Flags::ACK)), "at its end");
        let mut held = packet(0, 100, Flags::ACK);
        assert!(held.absorb(&packet(100, 100, pushed)));
        assert!(!held.absorb(&packet(200, 100, Flags::ACK)), "pushed");
        assert!(!packet(0, 100, pushed).absorb(&packet(100, 100, Flags::ACK)));
        assert_eq!((held.payload(), held.frames()), (200, 2));
    }
}
