//! ESP (RFC 4303), whose numbers are in clear.

use super::{Context, Ends, Rest, be32};
use crate::numbered::Service;
use crate::{Other, Packet};

/// RFC 4303 section 2: SPI and sequence number in clear, the rest sealed.
pub(super) fn parse(ends: Ends, rest: Rest<'_>, context: Context) -> Result<Packet, Other> {
    rest.head::<8>()?;
    match (be32(rest.data, 0), be32(rest.data, 4)) {
        // SPI 0 never appears on the wire and 1-255 are reserved (RFC 4303 section 2.1).
        (Some(spi @ 256..), Some(seq)) => {
            Ok(context.numbered(Service::Esp, ends, spi, u64::from(seq), rest.wire - 8))
        }
        _ => Err(Other::Malformed),
    }
}
