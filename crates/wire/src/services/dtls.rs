//! Records of DTLS 1.0 and 1.2 (RFC 6347 section 4.1). Version 1.3 encrypts its numbers.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest};
use crate::numbered::Aside;
use crate::{Numbered, Packet, StreamKey};

/// Bytes of a record's header.
const HEADER: usize = 13;
/// A datagram with more records is not looked at further.
const MAX_RECORDS: usize = 64;
/// Content types: change cipher spec, alert, handshake, data, heartbeat; then records with a connection identifier.
const FIRST_TYPE: u8 = 20;
const WITH_CID: u8 = 25;

pub(super) static SERVICE: Declared = Declared {
    name: "dtls",
    bits: 48,
    carried: &[Carrier::Udp(parse)],
    // The minimum and the preferred size of RFC 6347 section 4.1.2.6.
    windows: &[32, 64],
    ..Declared::USUAL
};

/// The first record is the packet, further ones are asides.
fn parse(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let (key, number, len) = record(ends, payload, context)?;
    let mut rest = payload;
    let mut len = len;
    for _ in 1..MAX_RECORDS {
        let Some(next) = len.and_then(|len| rest.skip(len).ok()) else {
            break;
        };
        let Some((key, number, next_len)) = record(ends, next, context) else {
            break;
        };
        context.aside(Aside::Numbered(key, number));
        (rest, len) = (next, next_len);
    }
    Some(Ok(Packet::Numbered(key, number)))
}

/// The record at the start of `rest`, and its length, which is unknown behind a connection identifier (RFC 9146).
fn record(
    ends: Ends,
    rest: Rest<'_>,
    context: Context<'_>,
) -> Option<(StreamKey, Numbered, Option<usize>)> {
    let head = rest.data.first_chunk::<HEADER>()?;
    let [
        kind @ FIRST_TYPE..=WITH_CID,
        0xfe,
        0xfd | 0xff,
        e0,
        e1,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        l0,
        l1,
    ] = *head
    else {
        return None;
    };
    let epoch = u32::from(u16::from_be_bytes([e0, e1]));
    let seq = u64::from_be_bytes([0, 0, s0, s1, s2, s3, s4, s5]);
    let body = match kind {
        WITH_CID => None,
        _ => Some(usize::from(u16::from_be_bytes([l0, l1]))),
    };
    let len = body.map(|body| HEADER + body);
    if len.is_some_and(|len| len > rest.wire) {
        return None;
    }
    let number = context.number(seq, body.unwrap_or(rest.wire - HEADER));
    Some((context.key(Service::Dtls, ends, epoch), number, len))
}
