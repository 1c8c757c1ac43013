//! RTP (RFC 3550).

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest, be16, be32};
use crate::{Numbered, Packet};

pub(super) static SERVICE: Declared = Declared {
    name: "rtp",
    bits: 16,
    carried: &[Carrier::Udp(parse)],
    needs_proof: true,
    has_clock: true,
    ..Declared::USUAL
};

/// Packets that may be RTP (section 5.1).
fn parse(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = payload.data.first_chunk::<12>()?;
    let (version, kind) = (head[0] >> 6, head[1] & 0x7f);
    if version != 2 || !is_payload_type(kind) || ends.src.port.min(ends.dst.port) < 1024 {
        return None;
    }
    let mut header_len = 12 + 4 * usize::from(head[0] & 0x0f);
    if head[0] & 0x10 != 0 && header_len + 4 <= payload.wire {
        let words = be16(payload.data, header_len + 2).unwrap_or(0);
        header_len += 4 + 4 * usize::from(words);
    }
    let number = Numbered {
        stamp: be32(head, 4)?,
        kind,
        ..context.number(
            u64::from(be16(head, 2)?),
            payload.wire.checked_sub(header_len)?,
        )
    };
    let key = context.key(Service::Rtp, ends, be32(head, 8)?);
    Some(Ok(Packet::Numbered(key, number)))
}

/// True for the static payload types of RFC 3551 section 6 (tables 4 and 5) and for those that are assigned by
/// negotiation: 96-127, and 35-63 where these do not suffice (RFC 5761 section 4). The others are unassigned, or RTCP
/// on a shared port (64-95).
fn is_payload_type(kind: u8) -> bool {
    matches!(kind, 0 | 3..=18 | 25 | 26 | 28 | 31..=63 | 96..=127)
}
