//! The common stack without loops: Ethernet (at most one VLAN tag), Linux cooked v1 or raw IP, then IPv4 without
//! options or IPv6 without extensions, then TCP.
//!
//! All other frames are left to the general path. Both paths must give exactly the same result for every frame; the
//! tests compare them.

use crate::flow::{Dir, Endpoint, FlowKey, Vlan};
use crate::layer::{be16, be32};
use crate::segment::{Has, MAX_SACK_BLOCKS, NO_WSCALE, Segment, TcpFlags};
use crate::services::prp;
use crate::{Frame, LinkType, Packet};

/// Length of the fixed TCP header.
const TCP_LEN: usize = 20;

/// The EtherType of IPv4 as it is on the wire.
const ETHER_IPV4: [u8; 2] = [0x08, 0x00];

/// Version 4, a header of five words.
const IPV4_WITHOUT_OPTIONS: u8 = 0x45;

/// NOP, NOP, timestamps of ten bytes: the options of nearly every segment (RFC 7323 appendix A).
const NOP_NOP_TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// The parts of the network header that a segment needs.
#[derive(Clone, Copy)]
struct Network {
    /// Length of TCP header and payload on the wire, bytes.
    tcp_len: usize,
    ip_id: u16,
    ttl: u8,
    ecn: u8,
    has: u8,
}

/// Parses the packet into `out` if it is of the common kind; otherwise leaves `out` unchanged.
#[inline(always)]
pub(crate) fn parse_into(frame: &Frame<'_>, out: &mut Packet) -> Option<()> {
    let ip = match frame.link {
        LinkType::ETHERNET => match frame.data.split_first_chunk::<14>() {
            Some((ether, ip)) if ether.last_chunk() == Some(&ETHER_IPV4) => Some(ip),
            _ => None,
        },
        LinkType::RAW if frame.data.first() == Some(&IPV4_WITHOUT_OPTIONS) => Some(frame.data),
        _ => None,
    };
    if let Some(ip) = ip {
        return ipv4(frame, ip, out);
    }
    // A copy, so that the compiler can keep the fields of the frame in registers.
    let frame = *frame;
    other_links(&frame, out)
}

/// Every case except IPv4 in untagged Ethernet or alone.
#[inline(never)]
fn other_links(frame: &Frame<'_>, out: &mut Packet) -> Option<()> {
    let (ether_type, vlan, ip) = network_layer(frame)?;
    match ether_type {
        0x0800 => ipv4(frame, ip, out),
        0x86dd => ipv6(frame, ip, out),
        _ => None,
    }?;
    if let (Packet::Tcp(key, ..), true) = (out, vlan != 0) {
        key.overlay = Vlan::default().within(vlan).overlay();
    }
    Some(())
}

/// EtherType, tag control information of the VLAN (0 without), and bytes of the network layer.
#[inline(always)]
fn network_layer<'a>(frame: &Frame<'a>) -> Option<(u16, u16, &'a [u8])> {
    let data = frame.data;
    match frame.link {
        LinkType::ETHERNET => match be16(data, 12)? {
            0x8100 => Some((be16(data, 16)?, be16(data, 14)?, data.get(18..)?)),
            ether_type => Some((ether_type, 0, data.get(14..)?)),
        },
        LinkType::LINUX_SLL => Some((be16(data, 14)?, 0, data.get(16..)?)),
        LinkType::RAW => match data.first()? >> 4 {
            4 => Some((0x0800, 0, data)),
            6 => Some((0x86dd, 0, data)),
            _ => None,
        },
        _ => None,
    }
}

/// Parses an IPv4 header of 20 bytes; the packet must be complete and contain TCP.
#[inline(always)]
fn ipv4(frame: &Frame<'_>, ip: &[u8], out: &mut Packet) -> Option<()> {
    // One length check for both headers.
    let h = ip.first_chunk::<{ 20 + TCP_LEN }>()?;
    let total_len = usize::from(u16::from_be_bytes([h[2], h[3]]));
    let fragment = u16::from_be_bytes([h[6], h[7]]);
    // Refuses fragments: the more-fragments bit or an offset is set. The top bit is reserved and ignored.
    if h[0] != IPV4_WITHOUT_OPTIONS || h[9] != 6 || fragment & 0x3fff != 0 || total_len < 40 {
        return None;
    }
    let network = Network {
        tcp_len: total_len - 20,
        ip_id: u16::from_be_bytes([h[4], h[5]]),
        ttl: h[8],
        ecn: h[1] & 3,
        // The don't-fragment bit is at the same position in both.
        has: Has::IP_ID | (h[6] & Has::DF),
    };
    if ip.len() >= total_len + prp::TRAILER && prp::may_end(ip) {
        return None;
    }
    let flow = FlowKey::v4((be32(h, 12)?, be16(h, 20)?), (be32(h, 16)?, be16(h, 22)?));
    segment(frame, network, ip.get(20..)?, flow, out)
}

/// Parses an IPv6 header that is directly followed by TCP.
#[inline(always)]
fn ipv6(frame: &Frame<'_>, ip: &[u8], out: &mut Packet) -> Option<()> {
    let h = ip.first_chunk::<{ 40 + TCP_LEN }>()?;
    let tcp_len = usize::from(u16::from_be_bytes([h[4], h[5]]));
    if h[0] >> 4 != 6 || h[6] != 6 || tcp_len < TCP_LEN {
        return None;
    }
    if ip.len() >= 40 + tcp_len + prp::TRAILER && prp::may_end(ip) {
        return None;
    }
    let network = Network {
        tcp_len,
        ip_id: 0,
        ttl: h[7],
        // The traffic class is spread over the first two bytes.
        ecn: h[1] >> 4 & 3,
        has: 0,
    };
    let address = |at: usize| Some(u128::from_be_bytes(*h.get(at..)?.first_chunk()?));
    let src = Endpoint::v6(address(8)?, be16(h, 40)?);
    let dst = Endpoint::v6(address(24)?, be16(h, 42)?);
    segment(
        frame,
        network,
        ip.get(40..)?,
        FlowKey::new(src, dst, 0),
        out,
    )
}

/// Parses a complete TCP header whose options have one of the usual layouts.
///
/// The result is written in place, word by word: building it elsewhere and moving it would cost more than all the
/// parsing.
#[inline(always)]
fn segment(
    frame: &Frame<'_>,
    network: Network,
    tcp: &[u8],
    flow: (FlowKey, Dir),
    out: &mut Packet,
) -> Option<()> {
    let h = tcp.first_chunk::<TCP_LEN>()?;
    let header_len = usize::from(h[12] >> 4) * 4;
    let payload_len = network.tcp_len.checked_sub(header_len)?;
    // This also refuses header lengths below 20.
    let options = usual_options(tcp.get(TCP_LEN..header_len)?)?;
    let (key, dir, segment) = tcp_of(out)?;
    (*key, *dir) = flow;
    segment.ts_ns = frame.ts_ns;
    segment.frame = frame.number;
    segment.seq = u32::from_be_bytes([h[4], h[5], h[6], h[7]]);
    segment.ack = u32::from_be_bytes([h[8], h[9], h[10], h[11]]);
    segment.payload_len = payload_len as u32;
    segment.tsval = options.tsval;
    segment.tsecr = options.tsecr;
    segment.window = u16::from_be_bytes([h[14], h[15]]);
    segment.ip_id = network.ip_id;
    segment.mss = 0;
    segment.flags = TcpFlags(h[13]);
    segment.has = network.has | options.has;
    segment.ttl = network.ttl;
    segment.wscale = NO_WSCALE;
    segment.ecn = network.ecn;
    segment.sack_len = 0;
    segment.sack = [(0, 0); MAX_SACK_BLOCKS];
    if !options.sack.is_empty() {
        sack(segment, options.sack);
    }
    Some(())
}

/// Reads the blocks of a SACK option, at most four.
#[inline(never)]
fn sack(segment: &mut Segment, blocks: &[u8]) {
    let (blocks, _) = blocks.as_chunks::<8>();
    let count = blocks.len().min(segment.sack.len());
    for (nth, &[a, b, c, d, e, f, g, h]) in blocks.iter().take(count).enumerate() {
        let edges = (
            u32::from_be_bytes([a, b, c, d]),
            u32::from_be_bytes([e, f, g, h]),
        );
        segment.sack[nth] = edges;
    }
    segment.sack_len = count as u8;
}

/// Makes `out` a TCP packet, whatever it was before, and returns its parts.
#[inline(always)]
fn tcp_of(out: &mut Packet) -> Option<(&mut FlowKey, &mut Dir, &mut Segment)> {
    if !matches!(out, Packet::Tcp(..)) {
        *out = Packet::Tcp(FlowKey::default(), Dir::LowToHigh, Segment::default());
    }
    match out {
        Packet::Tcp(key, dir, segment) => Some((key, dir, segment)),
        _ => None,
    }
}

/// The values of the usual options.
#[derive(Default)]
struct Options<'a> {
    tsval: u32,
    tsecr: u32,
    has: u8,
    /// The SACK blocks.
    sack: &'a [u8],
}

/// Parses the layouts of established connections: no options, timestamps, SACK, or both.
#[inline(always)]
fn usual_options(options: &[u8]) -> Option<Options<'_>> {
    let mut read = Options::default();
    let mut rest = options;
    if let Some((head, behind)) = rest.split_first_chunk::<12>()
        && head.first_chunk() == Some(&NOP_NOP_TIMESTAMPS)
    {
        read.tsval = be32(head, 4)?;
        read.tsecr = be32(head, 8)?;
        read.has = Has::TIMESTAMPS;
        rest = behind;
    }
    if !rest.is_empty() {
        read.sack = usual_sack(rest)?;
        read.has |= Has::UNSUITABLE;
    }
    Some(read)
}

/// The blocks of a NOP, NOP, SACK that fills the rest of the header.
#[inline(always)]
fn usual_sack(options: &[u8]) -> Option<&[u8]> {
    let ([1, 1, 5, len], blocks) = options.split_first_chunk::<4>()? else {
        return None;
    };
    let fills = usize::from(*len) == blocks.len() + 2;
    (fills && matches!(blocks.len(), 8 | 16 | 24 | 32)).then_some(blocks)
}
