//! LLC with a SNAP header, and the link layers that carry nothing else: FDDI and Token Ring.

use crate::Other;
use crate::layer::Rest;

/// EtherType and bytes behind LLC and SNAP, where the header holds an EtherType (RFC 1042).
pub(crate) fn network(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    match rest.data {
        [0xaa, 0xaa, 0x03, 0, 0, 0, high, low, ..] => {
            Ok((u16::from_be_bytes([*high, *low]), rest.skip(8)?))
        }
        _ => Err(Other::NotIp),
    }
}

/// FDDI: frame control and two addresses. Of its frames those of LLC have a control of 0x50 to 0x57 (ISO 9314-2).
pub(crate) fn in_fddi(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    let [control] = *rest.head::<1>()?;
    match control & 0xf8 {
        0x50 => network(rest.skip(13)?),
        _ => Err(Other::NotIp),
    }
}

/// Token Ring: access and frame control, two addresses, and the route, if the first bit of the source says that there is one (IEEE 802.5).
pub(crate) fn in_token_ring(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    let head = *rest.head::<14>()?;
    let rest = rest.skip(14)?;
    if head[1] & 0xc0 != 0x40 {
        return Err(Other::NotIp); // Of the ring itself.
    }
    let route_len = match head[8] & 0x80 {
        0 => 0,
        _ => usize::from(rest.head::<1>()?[0] & 0x1f),
    };
    network(rest.skip(route_len)?)
}
