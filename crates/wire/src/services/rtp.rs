//! RTP (RFC 3550).

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest, be16, be32};

pub(super) static SERVICE: Declared = Declared {
    name: "rtp",
    about: "RTP (RFC 3550)",
    bits: 16,
    id: "SSRC",
    carried: &[Carrier::Udp(parse)],
    needs_proof: true,
    ..Declared::USUAL
};

/// Packets that may be RTP (section 5.1).
fn parse(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = payload.data.first_chunk::<12>()?;
    let (version, kind) = (head[0] >> 6, head[1] & 0x7f);
    // Payload types 64-95 are RTCP on a shared port (RFC 5761 section 4).
    if version != 2 || (64..=95).contains(&kind) || ends.src.port.min(ends.dst.port) < 1024 {
        return None;
    }
    let mut header_len = 12 + 4 * usize::from(head[0] & 0x0f);
    if head[0] & 0x10 != 0 && header_len + 4 <= payload.wire {
        let words = be16(payload.data, header_len + 2).unwrap_or(0);
        header_len += 4 + 4 * usize::from(words);
    }
    let seq = u64::from(be16(head, 2)?);
    let ssrc = be32(head, 8)?;
    let len = payload.wire.checked_sub(header_len)?;
    Some(Ok(context.numbered(Service::Rtp, ends, ssrc, seq, len)))
}
