//! What of a packet stays the same along a path.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use foldhash::quality::FixedState;
use inorder_base::named;
use inorder_wire::{Frame, Network, innermost, network};

use crate::diff::flow::Flow;

/// Longest header that is copied so that bytes in it can be cleared: IPv4 with options, and the start of TCP.
const HEAD: usize = 96;

named! {
    /// What of a packet both captures are expected to have in common.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Keep {
        /// All bytes but those that every path may change.
        Bytes = "bytes",
        /// Also without addresses and ports, which a device translates between the captures (RFC 3022).
        Translated = "translated",
        /// Also without the IPv4 identification, and of TCP without sequence and acknowledgement number: some devices
        /// rewrite these, too. Only packets with a payload of TCP or UDP have anything left to tell them by.
        Payload = "payload",
    }
}

/// Which packet of a frame is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layer {
    /// The one behind the link header.
    Outermost,
    /// The one in all tunnels.
    Innermost,
}

/// The range of bytes of its connection that a packet of TCP carries.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Range {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Bytes; 0 of a packet without payload, and of what is not TCP.
    pub len: u32,
}

/// Which bytes of which IPv4 datagram a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Its identification.
    pub id: u16,
    /// The first byte behind the IP header, of all that the datagram carries.
    pub first: u32,
    /// Bytes behind the IP header.
    pub len: u32,
    /// The packet is one of several fragments.
    pub is_part: bool,
}

/// The unchanging bytes of a packet, and where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fingerprint {
    /// A hash of 128 bits; two different packets of a capture of 10^9 have the same one with a probability of 10^-21.
    pub hash: u128,
    /// Source, destination, protocol.
    pub flow: Flow,
    /// Time to live or hop limit; 0 if the packet is not IP.
    pub ttl: u8,
    /// Bytes on the wire without the link header.
    pub bytes: u32,
    /// How many of them were captured.
    pub captured: u32,
    /// What it carries of TCP.
    pub range: Range,
    /// What it carries of an IPv4 datagram; `None` if it is none.
    pub datagram: Option<Datagram>,
    /// Bytes behind the header of TCP or UDP, by the lengths in the headers.
    pub payload: u32,
    /// The overlay network in which it was, where the innermost packet is wanted and in a tunnel ([`inorder_wire::Overlay`]).
    pub tunnel: Option<u32>,
}

/// The two halves of a hash, keyed anew in every run: who writes a packet cannot choose which others it is taken for.
pub(crate) static KEYED: LazyLock<[FixedState; 2]> = LazyLock::new(|| {
    let random = || RandomState::new().build_hasher().finish();
    [random(), random()].map(FixedState::with_seed)
});

/// Reads a frame. At most `limit` bytes from the network header on are compared, so that captures with different snap
/// lengths match.
///
/// Left out are, beside the link header: of IPv4 the type of service (which contains the ECN bits), time to live and
/// header checksum (RFC 1812 section 4.2.2.9 and 5.3); of IPv6 the traffic class and hop limit; the checksums of TCP and
/// UDP, which a card may fill in after the capture, and padding behind the packet.
pub fn fingerprint(frame: &Frame<'_>, layer: Layer, limit: usize, keep: Keep) -> Fingerprint {
    let inner = (layer == Layer::Innermost)
        .then(|| innermost(frame))
        .flatten();
    let tunnel = inner.map(|(_, overlay)| overlay);
    let Network { data, wire, kind } = inner.map_or_else(|| network(frame), |(inner, _)| inner);
    let length = ip_length(data).unwrap_or(wire);
    let data = data.get(..length).unwrap_or(data);
    let captured = data.len();
    let data = data.get(..limit).unwrap_or(data);
    let mut head = [0; HEAD];
    let copied = data.len().min(HEAD);
    let (flow, ttl) = {
        head[..copied].copy_from_slice(&data[..copied]);
        let flow = Flow::of(kind, data);
        (flow, clear(&mut head[..copied], keep))
    };
    let (range, payload) = carried(&flow, data, length);
    let datagram = datagram(data, length).filter(|_| keep == Keep::Bytes);
    let hash = |keyed: &FixedState| {
        let mut hasher = keyed.build_hasher();
        hasher.write_u16(kind);
        hasher.write_usize(length);
        hasher.write(&head[..copied]);
        hasher.write(data.get(HEAD..).unwrap_or_default());
        hasher.finish()
    };
    Fingerprint {
        hash: u128::from(hash(&KEYED[0])) << 64 | u128::from(hash(&KEYED[1])),
        flow,
        ttl,
        bytes: u32::try_from(length).unwrap_or(u32::MAX),
        captured: u32::try_from(captured).unwrap_or(u32::MAX),
        range,
        datagram,
        payload,
        tunnel,
    }
}

/// What a packet of this length carries of an IPv4 datagram (RFC 791 section 3.1).
fn datagram(data: &[u8], length: usize) -> Option<Datagram> {
    let head = data.first_chunk::<20>()?;
    let header = usize::from(head[0] & 0x0f) * 4;
    let len = length.checked_sub(header).filter(|_| head[0] >> 4 == 4)?;
    let flags = u16::from_be_bytes([head[6], head[7]]);
    Some(Datagram {
        id: u16::from_be_bytes([head[4], head[5]]),
        first: u32::from(flags & 0x1fff) * 8,
        len: u32::try_from(len).ok()?,
        is_part: flags & 0x3fff != 0,
    })
}

/// The length of an IP packet by its header; `None` if there is none or it is not filled in.
fn ip_length(data: &[u8]) -> Option<usize> {
    let field = |at: usize| {
        Some(usize::from(u16::from_be_bytes(
            *data.get(at..)?.first_chunk()?,
        )))
    };
    let length = match data.first()? >> 4 {
        4 => field(2)?,
        6 => field(4).filter(|length| *length > 0)? + 40,
        _ => return None,
    };
    (length >= 20).then_some(length)
}

/// What a packet of TCP or UDP carries; nothing of fragments, whose flow has no ports.
fn carried(flow: &Flow, data: &[u8], length: usize) -> (Range, u32) {
    let transport = match data.first().map(|first| first >> 4) {
        Some(4) => usize::from(data[0] & 0x0f) * 4,
        _ => 40,
    };
    let header = match (flow.is_ip && flow.src.port != 0, flow.protocol) {
        (true, 6) => data
            .get(transport + 12)
            .map(|offset| usize::from(offset >> 4) * 4),
        (true, 17) => Some(8),
        _ => None,
    };
    let Some(payload) = header.and_then(|header| length.checked_sub(transport + header)) else {
        return Default::default();
    };
    let len = u32::try_from(payload).unwrap_or(0);
    let seq = data
        .get(transport + 4..)
        .and_then(|rest| rest.first_chunk());
    let range = match seq.filter(|_| flow.protocol == 6) {
        Some(seq) => Range {
            seq: u32::from_be_bytes(*seq),
            len,
        },
        None => Range::default(),
    };
    (range, len)
}

/// Clears what a path changes and what the captures do not have in common; returns the time to live.
fn clear(head: &mut [u8], keep: Keep) -> u8 {
    let version = head.first().map_or(0, |first| first >> 4);
    let zero = |head: &mut [u8], at: usize, len: usize| {
        if let Some(bytes) = head.get_mut(at..at + len) {
            bytes.fill(0);
        }
    };
    let (ttl, protocol, transport, first) = match version {
        4 if head.len() >= 20 => {
            let (ttl, protocol) = (head[8], head[9]);
            let first = u16::from_be_bytes([head[6], head[7]]) & 0x1fff == 0;
            let transport = usize::from(head[0] & 0x0f) * 4;
            zero(head, 1, 1);
            zero(head, 8, 1);
            zero(head, 10, 2);
            if keep >= Keep::Translated {
                zero(head, 12, 8);
            }
            if keep >= Keep::Payload {
                zero(head, 4, 2);
            }
            (ttl, protocol, transport, first)
        }
        6 if head.len() >= 40 => {
            let (ttl, protocol) = (head[7], head[6]);
            head[0] &= 0xf0;
            head[1] &= 0x0f;
            zero(head, 7, 1);
            if keep >= Keep::Translated {
                zero(head, 8, 32);
            }
            (ttl, protocol, 40, true)
        }
        _ => return 0,
    };
    if keep >= Keep::Translated && first && matches!(protocol, 6 | 17) {
        zero(head, transport, 4);
    }
    if keep >= Keep::Payload && first && protocol == 6 {
        zero(head, transport + 4, 8);
    }
    match protocol {
        6 if first => zero(head, transport + 16, 2),
        17 if first => zero(head, transport + 6, 2),
        _ => {}
    }
    ttl
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_wire::LinkType;

    fn of(bytes: &[u8], limit: usize) -> Fingerprint {
        let frame = Frame {
            ts_ns: 0,
            number: 1,
            link: LinkType::RAW,
            orig_len: bytes.len() as u32,
            data: bytes,
        };
        fingerprint(&frame, Layer::Outermost, limit, Keep::Bytes)
    }

    const UDP: [u8; 32] = [
        0x45, 0, 0, 32, 0, 1, 0, 0, 64, 17, 1, 2, 10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0, 7, 0, 12, 3,
        4, 1, 2, 3, 4,
    ];

    #[test]
    fn what_a_router_changes_is_left_out() {
        let mut routed = UDP;
        for (at, value) in [(1, 3), (8, 63), (10, 9), (11, 8), (26, 0), (27, 0)] {
            routed[at] = value;
        }
        let (before, after) = (of(&UDP, 200), of(&routed, 200));
        assert_eq!(before.hash, after.hash);
        assert_eq!((before.ttl, after.ttl), (64, 63));
        assert_eq!(before.flow.to_string(), "udp 10.0.0.1:9->10.0.0.2:7");
        for at in [2, 4, 12, 19, 21, 31] {
            let mut other = UDP;
            other[at] ^= 1;
            assert_ne!(of(&other, 200).hash, before.hash, "byte {at}");
        }
    }

    #[test]
    fn bytes_beyond_the_limit_and_padding_are_left_out() {
        let mut other = UDP;
        other[31] ^= 1;
        assert_eq!(of(&UDP, 31).hash, of(&other, 31).hash);
        let padded = [&UDP[..], &[0; 14]].concat();
        assert_eq!(of(&padded, 200).hash, of(&UDP, 200).hash);
    }
}
