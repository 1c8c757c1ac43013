//! ESP (RFC 4303), whose sequence numbers are not encrypted.

use super::{Context, Ends, Rest, be32};
use crate::numbered::Service;
use crate::{Other, Packet};

/// RFC 4303 section 2: SPI and sequence number are in clear text, the rest is encrypted.
pub(super) fn parse(ends: Ends, rest: Rest<'_>, context: Context) -> Result<Packet, Other> {
    rest.head::<8>()?;
    match (be32(rest.data, 0), be32(rest.data, 4)) {
        // SPI 0 is never sent, and 1-255 are reserved (RFC 4303 section 2.1).
        (Some(spi @ 256..), Some(seq)) => {
            Ok(context.numbered(Service::Esp, ends, spi, u64::from(seq), rest.wire - 8))
        }
        _ => Err(Other::Malformed),
    }
}
