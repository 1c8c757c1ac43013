//! L2TPv3 data (RFC 3931) with the default sublayer, which has the sequence numbers.

use super::{Carrier, Declared, Service};
use crate::Other;
use crate::layer::{Context, Ends, Network, Parsed, Rest, be32};

/// Port of UDP.
const PORT: u16 = 1701;

pub(super) static SERVICE: Declared = Declared {
    name: "l2tpv3",
    bits: 24,
    carried: &[Carrier::Udp(in_udp), Carrier::Ip(115, in_ip)],
    // The length of the cookie is negotiated and not in the packet, so the place of the number is a guess.
    needs_proof: true,
    ..Declared::USUAL
};

/// Section 4.1.2.1: flags and version 3, then 16 reserved bits.
fn in_udp(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    if ends.src.port != PORT && ends.dst.port != PORT {
        return None;
    }
    let [0, 3, 0, 0] = *rest.data.first_chunk::<4>()? else {
        return None;
    };
    Some(data(ends, rest.skip(4).ok()?, context))
}

/// Section 4.1.1.1; session 0 is the control connection.
fn in_ip(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(data(network.ends, rest, context))
}

/// The session, a cookie of 0, 4 or 8 bytes, and the sublayer of section 4.6: the S bit alone, then 24 bits.
fn data(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    const NUMBERED: u32 = 0x40;
    let session = u32::from_be_bytes(*rest.head::<4>()?);
    let sublayer = [4, 8, 12].into_iter().find_map(|at| {
        let word = be32(rest.data, at)?;
        (word >> 24 == NUMBERED).then_some((at, word & 0x00ff_ffff))
    });
    match sublayer {
        Some((at, seq)) if session != 0 => {
            let bytes = rest.wire - at - 4;
            Ok(context.numbered(Service::L2tpV3, ends, session, u64::from(seq), bytes))
        }
        _ => Err(Other::Unnumbered),
    }
}
