//! Tunnels: the packet inside is returned, preferably TCP.

use super::network::Network;
use super::rest::field16;
use super::{Context, ETHER_IPV4, ETHER_IPV6, Inner, Parsed, Rest, be16, be32, inside};
use crate::numbered::Service;
use crate::{Other, Packet};

/// The overlay identifier of a tunnel that has none: high bits that no 24-bit VNI uses, and the IP protocol number.
pub(super) fn kind(protocol: u8) -> u32 {
    0xff00_0000 | u32::from(protocol)
}

/// As [`kind`], for tunnels in UDP: the port instead of the protocol number.
fn kind_udp(port: u16) -> u32 {
    0xff01_0000 | u32::from(port)
}

const GRE_PROTOCOL: u8 = 47;

/// A tunnel in UDP, recognised by the destination port; `None` if the bytes do not fit that tunnel.
pub(super) fn in_udp(port: u16, payload: Rest<'_>, context: Context) -> Option<Parsed> {
    match port {
        // IANA's port and the one Linux used before it.
        4789 | 8472 => vxlan(port, payload, context),
        6081 => geneve(payload, context),
        2152 => gtp_u(payload, context),
        _ => None,
    }
}

/// VXLAN (RFC 7348 section 5), also with the group policy bit that some switches set.
fn vxlan(port: u16, rest: Rest<'_>, context: Context) -> Option<Parsed> {
    let head = rest.data.first_chunk::<8>()?;
    if head[0] & 0x7f != 0x08 || head[7] != 0 {
        return None;
    }
    let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
    let inner = context.inside(vni, kind_udp(port));
    Some(inner.and_then(|context| inside(Inner::Ethernet, rest.skip(8)?, context)))
}

/// GENEVE (RFC 8926 section 3.4).
fn geneve(rest: Rest<'_>, context: Context) -> Option<Parsed> {
    let head = rest.data.first_chunk::<8>()?;
    if head[0] >> 6 != 0 || head[7] != 0 {
        return None;
    }
    let options = usize::from(head[0] & 0x3f) * 4;
    let protocol = u16::from_be_bytes([head[2], head[3]]);
    let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
    let inner = context.inside(vni, kind_udp(6081));
    Some(inner.and_then(|context| payload(protocol, rest.skip(8 + options)?, context)))
}

/// GTP-U (3GPP TS 29.281 section 5): only G-PDUs carry user packets. The tunnel endpoint identifiers differ by
/// direction, so they cannot identify a connection.
fn gtp_u(rest: Rest<'_>, context: Context) -> Option<Parsed> {
    const G_PDU: u8 = 255;
    let head = rest.data.first_chunk::<8>()?;
    // Version 1, protocol type GTP.
    if head[0] & 0xf0 != 0x30 || head[1] != G_PDU {
        return None;
    }
    let Some(len) = gtp_header_len(rest.data) else {
        // Cut by the snap length, or an extension header has length zero.
        let cut = rest.data.len() < rest.wire;
        return Some(Err(if cut {
            Other::Truncated
        } else {
            Other::Malformed
        }));
    };
    let inner = context.inside(0, kind_udp(2152));
    Some(inner.and_then(|context| inside(Inner::Ip, rest.skip(len)?, context)))
}

/// Length of a GTP-U header with its optional fields and extension headers.
fn gtp_header_len(data: &[u8]) -> Option<usize> {
    let flags = *data.first()?;
    if flags & 0x07 == 0 {
        return Some(8);
    }
    let mut next = *data.get(11)?;
    let mut len = 12;
    // The next-type byte is valid only if the extension flag is set.
    while flags & 0x04 != 0 && next != 0 {
        let words = usize::from(*data.get(len)?);
        if words == 0 {
            return None;
        }
        len += 4 * words;
        next = *data.get(len - 1)?;
    }
    Some(len)
}

/// Parses the payload that an EtherType in a tunnel header announces.
fn payload(protocol: u16, rest: Rest<'_>, context: Context) -> Parsed {
    match protocol {
        ETHER_IPV4 => inside(Inner::Ipv4, rest, context),
        ETHER_IPV6 => inside(Inner::Ipv6, rest, context),
        // Transparent Ethernet bridging.
        0x6558 => inside(Inner::Ethernet, rest, context),
        0x8847 | 0x8848 => mpls(rest, context),
        0x880b => inside(Inner::Ppp, rest, context),
        _ => Err(Other::OtherProtocol),
    }
}

/// An MPLS label stack (RFC 3032). It is not an overlay identifier: labels differ by direction, and the last hop but
/// one removes them.
pub(super) fn mpls(rest: Rest<'_>, context: Context) -> Parsed {
    let context = context.deeper()?;
    let mut rest = rest;
    loop {
        let entry = *rest.head::<4>()?;
        rest = rest.skip(4)?;
        if entry[2] & 1 == 1 {
            break;
        }
    }
    // Only the first four bits indicate what follows (RFC 4928 section 3).
    match rest.head::<1>()?[0] >> 4 {
        4 => inside(Inner::Ipv4, rest, context),
        6 => inside(Inner::Ipv6, rest, context),
        // The control word of a pseudowire (RFC 4385).
        0 => inside(Inner::Ethernet, rest.skip(4)?, context),
        _ => Err(Other::OtherProtocol),
    }
}

/// Ethernet in IP (RFC 3378): version 3, twelve reserved bits.
pub(super) fn ether_ip(rest: Rest<'_>, context: Context) -> Parsed {
    match rest.head::<2>()? {
        [0x30, 0] => inside(Inner::Ethernet, rest.skip(2)?, context.inside(0, kind(97))?),
        _ => Err(Other::Malformed),
    }
}

/// The fields of a GRE header that are needed here.
struct Gre {
    protocol: u16,
    len: usize,
    /// The key, or 0.
    key: u32,
    seq: Option<u32>,
    /// The overlay identifier for packets inside.
    overlay: u32,
}

/// GRE (RFC 2784, 2890) and PPTP's variant of it (RFC 2637 section 4.1). A packet with a sequence number that does
/// not contain TCP is returned as a numbered packet.
pub(super) fn gre(network: &Network, rest: Rest<'_>, context: Context) -> Parsed {
    let header = gre_header(rest)?;
    let body = rest.skip(header.len)?;
    let inner = context
        .inside(header.overlay, kind(GRE_PROTOCOL))
        .and_then(|inside| gre_payload(&header, body, inside));
    match (inner, header.seq) {
        (Ok(tcp @ Packet::Tcp(..)), _) => Ok(tcp),
        (_, Some(seq)) => Ok(context.numbered(
            Service::Gre,
            network.ends,
            header.key,
            u64::from(seq),
            body.wire,
        )),
        (inner, None) => inner,
    }
}

fn gre_header(rest: Rest<'_>) -> Result<Gre, Other> {
    let flags = field16(rest, 0)?;
    let protocol = field16(rest, 2)?;
    let bit = |mask: u16| usize::from(flags & mask != 0);
    let (checksum, routing, key, seq) = (bit(0x8000), bit(0x4000), bit(0x2000), bit(0x1000));
    let version = flags & 7;
    // Source routing (RFC 1701) was withdrawn and is not used.
    if routing == 1 || version > 1 || (version == 1 && (key == 0 || checksum == 1)) {
        return Err(Other::OtherProtocol);
    }
    // The acknowledgement number of PPTP comes after the sequence number.
    let acknowledgement = if version == 1 { bit(0x0080) } else { 0 };
    let len = 4 + 4 * (checksum + key + seq + acknowledgement);
    rest.skip(len)?;
    let key_at = 4 + 4 * checksum;
    let key_value = if key == 1 {
        be32(rest.data, key_at)
    } else {
        None
    }
    .unwrap_or(0);
    let seq_value = if seq == 1 {
        be32(rest.data, key_at + 4 * key)
    } else {
        None
    };
    Ok(Gre {
        protocol,
        len,
        // PPTP splits the key field into the payload length and the call identifier of one direction.
        key: if version == 1 {
            key_value & 0xffff
        } else {
            key_value
        },
        overlay: if version == 1 { 0 } else { key_value },
        seq: seq_value,
    })
}

fn gre_payload(header: &Gre, body: Rest<'_>, context: Context) -> Parsed {
    match header.protocol {
        // ERSPAN type I has no header and no sequence number, type II has both.
        0x88be if header.seq.is_none() => inside(Inner::Ethernet, body, context),
        0x88be => {
            // The session number replaces the missing key.
            let session = u32::from(be16(body.data, 2).unwrap_or(0) & 0x03ff);
            let context = Context {
                overlay: context.overlay ^ session,
                ..context
            };
            inside(Inner::Ethernet, body.skip(8)?, context)
        }
        // ERSPAN type III, with an optional platform header.
        0x22eb => {
            let head = body.head::<12>()?;
            let len = if head[11] & 1 == 1 { 20 } else { 12 };
            inside(Inner::Ethernet, body.skip(len)?, context)
        }
        other => payload(other, body, context),
    }
}
