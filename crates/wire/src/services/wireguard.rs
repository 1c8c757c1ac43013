//! WireGuard transport data (Donenfeld 2017, section 5.4.6).

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest};

pub(super) static SERVICE: Declared = Declared {
    name: "wireguard",
    bits: 64,
    carried: &[Carrier::Udp(parse)],
    // RFC 6479 with a bitmap of 2,048 bits and one of 8,192 bits, as programs have it: a word less is usable.
    windows: &[1984, 8128],
    ..Declared::USUAL
};

/// Type 4 and three zero bytes, the receiver's index and a counter, both little-endian, then at least the 16-byte tag. Only one peer has the keys.
fn parse(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = payload.data.first_chunk::<16>()?;
    let [4, 0, 0, 0, a, b, c, d, counter @ ..] = *head else {
        return None;
    };
    let counter = u64::from_le_bytes(counter);
    // A session is rekeyed long before it has sent this many messages (section 6.1).
    if payload.wire < 32 || counter >= 1 << 60 || ends.dst.is_group() {
        return None;
    }
    let index = u32::from_le_bytes([a, b, c, d]);
    let bytes = payload.wire - 32;
    Some(Ok(context.numbered(
        Service::WireGuard,
        ends,
        index,
        counter,
        bytes,
    )))
}
