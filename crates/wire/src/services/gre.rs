//! GRE with its tunnels: RFC 2784 and 2890, PPTP's variant (RFC 2637), ERSPAN.

use super::{Carrier, Declared, Service};
use crate::layer::{
    Context, Ends, Inner, Network, Parsed, Rest, be16, be32, field16, kind, kind_udp,
};
use crate::{Other, overlay};

/// Protocol number of IP.
const PROTOCOL: u8 = 47;

/// Port of GRE in UDP (RFC 8086).
const PORT: u16 = 4754;

pub(super) static SERVICE: Declared = Declared {
    name: "gre",
    carried: &[Carrier::Ip(PROTOCOL, in_ip), Carrier::Udp(in_udp)],
    ..Declared::USUAL
};

fn in_ip(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(network.ends, kind(PROTOCOL), rest, context))
}

/// The source port spreads flows over paths (RFC 8086 section 3.2.1), so it does not belong to the tunnel.
fn in_udp(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let ends_here = ends.dst.port == PORT;
    ends_here.then(|| parse(ends.without_source_port(), kind_udp(PORT), rest, context))
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

/// The packet inside; the number, if there is one, goes with it.
fn parse(ends: Ends, tunnel: u32, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let header = header(rest)?;
    let body = rest.skip(header.len)?;
    let inner = context
        .inside(header.overlay, tunnel)
        .and_then(|inside| inner(&header, body, inside));
    let Some(seq) = header.seq else {
        return inner;
    };
    let key = context.key(Service::Gre, ends, header.key);
    context.around(key, context.number(u64::from(seq), body.wire), inner)
}

fn header(rest: Rest<'_>) -> Result<Gre, Other> {
    let flags = field16(rest, 0)?;
    let protocol = field16(rest, 2)?;
    let bit = |mask: u16| usize::from(flags & mask != 0);
    let (checksum, routing, key, seq) = (bit(0x8000), bit(0x4000), bit(0x2000), bit(0x1000));
    let version = flags & 7;
    // Source routing (RFC 1701) was withdrawn and is not used.
    if routing == 1 || version > 1 || (version == 1 && (key == 0 || checksum == 1)) {
        return Err(Other::Protocol(PROTOCOL));
    }
    // Without a number a packet of PPTP has no payload and only acknowledges (RFC 2637 section 4.1).
    if version == 1 && seq == 0 {
        return Err(Other::Unnumbered);
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
        overlay: if version == 1 {
            0
        } else {
            overlay::gre(key_value)
        },
        seq: seq_value,
    })
}

fn inner(header: &Gre, body: Rest<'_>, context: Context<'_>) -> Parsed {
    match header.protocol {
        // ERSPAN type I has no header and no sequence number, type II has both.
        0x88be if header.seq.is_none() => context.content(Inner::Ethernet, body),
        0x88be => {
            // The session number replaces the missing key.
            let session = u32::from(be16(body.data, 2).unwrap_or(0) & 0x03ff);
            context
                .session(session)
                .content(Inner::Ethernet, body.skip(8)?)
        }
        // ERSPAN type III, with an optional platform header.
        0x22eb => {
            let head = body.head::<12>()?;
            let len = if head[11] & 1 == 1 { 20 } else { 12 };
            context.content(Inner::Ethernet, body.skip(len)?)
        }
        other => context.content(Inner::Tunnelled(other), body),
    }
}
