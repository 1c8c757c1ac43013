//! The common stack in straight lines: Ethernet (one VLAN tag at most), Linux cooked v1 or raw
//! IP, then IPv4 without options or IPv6 without extensions, then TCP.
//!
//! Everything out of the ordinary is left to the general path, whose results these must equal
//! bit for bit; the tests hold one against the other.

use crate::flow::{Endpoint, FlowKey};
use crate::segment::{Has, MAX_SACK_BLOCKS, NO_WSCALE, Segment, TcpFlags};
use crate::slow::{be16, be32};
use crate::{Frame, LinkType, Packet};

/// Length of the fixed TCP header.
const TCP_LEN: usize = 20;

/// NOP, NOP, timestamps of ten bytes: what nearly every segment carries (RFC 7323 appendix A).
const NOP_NOP_TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// The network header, as far as a segment wants it.
#[derive(Clone, Copy)]
struct Network {
    src: u128,
    dst: u128,
    /// TCP header and payload, bytes on the wire.
    tcp_len: usize,
    ip_id: u16,
    ttl: u8,
    ecn: u8,
    has: u8,
}

/// Puts the packet into `out`, if it is of the common kind; otherwise leaves `out` as it was.
#[inline(always)]
pub(crate) fn parse_into(frame: &Frame<'_>, out: &mut Packet) -> Option<()> {
    let (ether_type, ip) = network_layer(frame)?;
    let (network, tcp) = match ether_type {
        0x0800 => ipv4(ip)?,
        0x86dd => ipv6(ip)?,
        _ => return None,
    };
    segment(frame, network, tcp, out)
}

/// EtherType and bytes of the network layer.
#[inline(always)]
fn network_layer<'a>(frame: &Frame<'a>) -> Option<(u16, &'a [u8])> {
    let data = frame.data;
    match frame.link {
        LinkType::ETHERNET => match be16(data, 12)? {
            0x8100 => Some((be16(data, 16)?, data.get(18..)?)),
            ether_type => Some((ether_type, data.get(14..)?)),
        },
        LinkType::LINUX_SLL => Some((be16(data, 14)?, data.get(16..)?)),
        LinkType::RAW => match data.first()? >> 4 {
            4 => Some((0x0800, data)),
            6 => Some((0x86dd, data)),
            _ => None,
        },
        _ => None,
    }
}

/// An IPv4 header of 20 bytes, whole packet, TCP inside.
#[inline(always)]
fn ipv4(ip: &[u8]) -> Option<(Network, &[u8])> {
    let (h, tcp) = ip.split_first_chunk::<20>()?;
    let total_len = usize::from(u16::from_be_bytes([h[2], h[3]]));
    let fragment = u16::from_be_bytes([h[6], h[7]]);
    // More fragments, or an offset; the top bit is reserved and means nothing.
    if h[0] != 0x45 || h[9] != 6 || fragment & 0x3fff != 0 || total_len < 40 {
        return None;
    }
    let mapped = |a, b, c, d| Endpoint::v4(u32::from_be_bytes([a, b, c, d]), 0).addr;
    let network = Network {
        src: mapped(h[12], h[13], h[14], h[15]),
        dst: mapped(h[16], h[17], h[18], h[19]),
        tcp_len: total_len - 20,
        ip_id: u16::from_be_bytes([h[4], h[5]]),
        ttl: h[8],
        ecn: h[1] & 3,
        has: Has::IP_ID | if h[6] & 0x40 == 0 { 0 } else { Has::DF },
    };
    Some((network, tcp))
}

/// An IPv6 header with TCP right behind it.
#[inline(always)]
fn ipv6(ip: &[u8]) -> Option<(Network, &[u8])> {
    let (h, tcp) = ip.split_first_chunk::<40>()?;
    let tcp_len = usize::from(u16::from_be_bytes([h[4], h[5]]));
    if h[0] >> 4 != 6 || h[6] != 6 || tcp_len < TCP_LEN {
        return None;
    }
    let (_, addresses) = h.split_first_chunk::<8>()?;
    let (src, dst) = addresses.split_first_chunk::<16>()?;
    let network = Network {
        src: u128::from_be_bytes(*src),
        dst: u128::from_be_bytes(*dst.first_chunk()?),
        tcp_len,
        ip_id: 0,
        ttl: h[7],
        // The traffic class straddles the first two bytes.
        ecn: h[1] >> 4 & 3,
        has: 0,
    };
    Some((network, tcp))
}

/// A TCP header that is whole, its options in one of the usual layouts.
///
/// The segment is put together in one expression from values in registers: a struct filled
/// field by field and then moved costs more than all the reading.
#[inline(always)]
fn segment(frame: &Frame<'_>, network: Network, tcp: &[u8], out: &mut Packet) -> Option<()> {
    let h = tcp.first_chunk::<TCP_LEN>()?;
    let header_len = usize::from(h[12] >> 4) * 4;
    let payload_len = network.tcp_len.checked_sub(header_len)?;
    // Also refuses header lengths below 20.
    let options = usual_options(tcp.get(TCP_LEN..header_len)?)?;
    let src = Endpoint {
        addr: network.src,
        port: u16::from_be_bytes([h[0], h[1]]),
    };
    let dst = Endpoint {
        addr: network.dst,
        port: u16::from_be_bytes([h[2], h[3]]),
    };
    let (key, dir) = FlowKey::new(src, dst, 0);
    *out = Packet::Tcp(
        key,
        dir,
        Segment {
            ts_ns: frame.ts_ns,
            frame: frame.number,
            seq: u32::from_be_bytes([h[4], h[5], h[6], h[7]]),
            ack: u32::from_be_bytes([h[8], h[9], h[10], h[11]]),
            payload_len: payload_len as u32,
            tsval: options.tsval,
            tsecr: options.tsecr,
            window: u16::from_be_bytes([h[14], h[15]]),
            ip_id: network.ip_id,
            mss: 0,
            flags: TcpFlags(h[13]),
            has: network.has | options.has,
            ttl: network.ttl,
            wscale: NO_WSCALE,
            ecn: network.ecn,
            sack_len: options.sack_len,
            sack: options.sack,
        },
    );
    Some(())
}

/// What the usual options say.
#[derive(Default)]
struct Options {
    tsval: u32,
    tsecr: u32,
    has: u8,
    sack_len: u8,
    sack: [(u32, u32); MAX_SACK_BLOCKS],
}

/// Reads the layouts of established connections: nothing, timestamps, SACK, or both.
#[inline(always)]
fn usual_options(options: &[u8]) -> Option<Options> {
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
        let blocks = usual_sack(rest)?;
        let block = |at| Some((be32(blocks, at)?, be32(blocks, at + 4)?));
        read.sack_len = (blocks.len() / 8) as u8;
        read.sack = [8, 16, 24, 32].map(|end| match blocks.len() >= end {
            true => block(end - 8).unwrap_or_default(),
            false => (0, 0),
        });
        read.has |= Has::UNSUITABLE;
    }
    Some(read)
}

/// The blocks of NOP, NOP, SACK that fills the rest of the header.
#[inline(always)]
fn usual_sack(options: &[u8]) -> Option<&[u8]> {
    let ([1, 1, 5, len], blocks) = options.split_first_chunk::<4>()? else {
        return None;
    };
    let fills = usize::from(*len) == blocks.len() + 2;
    (fills && matches!(blocks.len(), 8 | 16 | 24 | 32)).then_some(blocks)
}
