//! ESP (RFC 4303), whose sequence numbers are not encrypted, also in UDP (RFC 3948).

use super::{Carrier, Declared, Service};
use crate::Other;
use crate::layer::{Context, Ends, Network, Parsed, Rest, be32};

pub(super) static SERVICE: Declared = Declared {
    name: "esp",
    carried: &[Carrier::Udp(in_udp), Carrier::Ip(50, in_ip)],
    // The minimum and the default of RFC 4303 section 3.4.3, and the largest windows of Linux (4,096 packets).
    windows: &[32, 64, 1024, 4096],
    ..Declared::USUAL
};

fn in_ip(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(network.ends, rest, context))
}

/// RFC 3948 section 2: not a keepalive (one byte), not IKE (four zero bytes).
fn in_udp(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    if ends.src.port != 4500 && ends.dst.port != 4500 || payload.wire < 8 {
        return None;
    }
    parse(ends, payload, context).ok().map(Ok)
}

/// RFC 4303 section 2: SPI and sequence number are in clear text, the rest is encrypted.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    rest.head::<8>()?;
    match (be32(rest.data, 0), be32(rest.data, 4)) {
        // SPI 0 is never sent, and 1-255 are reserved (RFC 4303 section 2.1).
        (Some(spi @ 256..), Some(seq)) => {
            Ok(context.numbered(Service::Esp, ends, spi, u64::from(seq), rest.wire - 8))
        }
        _ => Err(Other::Malformed),
    }
}
