//! Test packets of STAMP (RFC 8762), TWAMP (RFC 5357) and OWAMP (RFC 4656), unauthenticated; they begin alike.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest, be32};

/// STAMP's port; TWAMP and OWAMP negotiate theirs.
const PORT: u16 = 862;
/// Number, timestamp, error estimate: the shortest packet (RFC 4656 section 4.1.2).
const SHORTEST: usize = 14;
/// On other ports a packet is recognised by a time of sending that is this close to the capture's, seconds.
const MAX_CLOCK_DIFFERENCE_S: u32 = 60;
/// From 1900 to 1970, seconds.
const NTP_EPOCH: u32 = 2_208_988_800;

pub(super) static SERVICE: Declared = Declared {
    name: "stamp",
    bits: 32,
    carried: &[Carrier::Udp(parse)],
    needs_proof: true,
    ..Declared::USUAL
};

/// The number of the sender or of the reflector, depending on the direction.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = rest.data.first_chunk::<SHORTEST>()?;
    // The multiplier of an error estimate is never 0 (RFC 4656 section 4.1.2).
    if head[13] == 0 {
        return None;
    }
    let by_port = ends.src.port == PORT || ends.dst.port == PORT;
    if !by_port && !sent_now(be32(head, 4)?, head[12], context.ts_ns) {
        return None;
    }
    let seq = u64::from(be32(head, 0)?);
    Some(Ok(context.numbered(
        Service::Stamp,
        ends,
        0,
        seq,
        rest.wire,
    )))
}

/// True if the seconds of a timestamp are near the time of capture. The Z bit of the error estimate distinguishes PTP's
/// format, seconds since 1970, from NTP's (RFC 8186 section 2.1).
fn sent_now(seconds: u32, estimate: u8, ts_ns: i64) -> bool {
    const Z: u8 = 0x40;
    let now = ts_ns.div_euclid(1_000_000_000) as u32;
    let now = match estimate & Z {
        0 => now.wrapping_add(NTP_EPOCH),
        _ => now,
    };
    let ahead = seconds.wrapping_sub(now);
    ahead.min(ahead.wrapping_neg()) <= MAX_CLOCK_DIFFERENCE_S
}
