//! SCTP (RFC 9260): every DATA chunk has a transmission sequence number; SACK chunks report those that arrived.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Network, Parsed, Rest, be16, be32};
use crate::numbered::{Aside, Report};
use crate::{Other, Packet};

/// Port of SCTP in UDP (RFC 6951).
const UDP_PORT: u16 = 9899;
/// Bytes of the common header.
const COMMON: usize = 12;
/// Chunk types: DATA, SACK, I-DATA (RFC 8260).
const DATA: u8 = 0;
const SACK: u8 = 3;
const I_DATA: u8 = 64;

pub(super) static SERVICE: Declared = Declared {
    name: "sctp",
    bits: 32,
    carried: &[Carrier::Udp(in_udp), Carrier::Ip(132, in_ip)],
    is_reported: true,
    ..Declared::USUAL
};

fn in_udp(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    if ends.src.port != UDP_PORT && ends.dst.port != UDP_PORT {
        return None;
    }
    Some(parse(ends, rest, context))
}

fn in_ip(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(network.ends, rest, context))
}

/// The first number is the packet, further ones and the report are asides.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let head = rest.head::<COMMON>()?;
    let mut ends = ends;
    (ends.src.port, ends.dst.port) = (
        u16::from_be_bytes([head[0], head[1]]),
        u16::from_be_bytes([head[2], head[3]]),
    );
    let tag = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let mut packet = Err(Other::Unnumbered);
    let mut rest = rest.skip(COMMON)?;
    while let Some(&[kind, _, high, low]) = rest.data.first_chunk::<4>() {
        let len = usize::from(u16::from_be_bytes([high, low]));
        if len < 4 || len > rest.wire {
            return packet.or(Err(Other::Malformed));
        }
        if let DATA | I_DATA = kind
            && let Some(tsn) = be32(rest.data, 4)
        {
            let header = if kind == DATA { 16 } else { 20 };
            let number = context.number(u64::from(tsn), len.saturating_sub(header));
            let key = context.key(Service::Sctp, ends, tag);
            match packet {
                Ok(_) => context.aside(Aside::Numbered(key, number)),
                Err(_) => packet = Ok(Packet::Numbered(key, number)),
            }
        } else if kind == SACK
            && let Some(report) = sack(rest.data.get(..len).unwrap_or(rest.data), context)
        {
            let back = Ends {
                src: ends.dst,
                dst: ends.src,
            };
            context.aside(Aside::Report(context.key(Service::Sctp, back, 0), report));
        }
        // Chunks are padded to four bytes.
        match rest.skip(len.next_multiple_of(4).min(rest.wire)) {
            Ok(next) => rest = next,
            // The snap length cut the rest.
            Err(_) => break,
        }
    }
    packet
}

/// A SACK chunk (section 3.3.4): gap blocks are offsets from the cumulative number. `None` if it was cut.
fn sack(chunk: &[u8], context: Context<'_>) -> Option<Report> {
    let cumulative = be32(chunk, 4)?;
    let (blocks, duplicates) = (be16(chunk, 12)?, be16(chunk, 14)?);
    let from = |offset: u16| u64::from(cumulative.wrapping_add(u32::from(offset)));
    let ranges = (0..usize::from(blocks)).map(|block| {
        let (first, last) = (be16(chunk, 16 + 4 * block)?, be16(chunk, 18 + 4 * block)?);
        (first > 0 && first <= last).then(|| (from(first), from(last)))
    });
    Some(Report {
        ts_ns: context.ts_ns,
        cumulative: u64::from(cumulative),
        ranges: ranges.collect::<Option<_>>()?,
        duplicates: u32::from(duplicates),
    })
}
