//! Frame Relay (link type 107): an address of two to four bytes, and what follows as RFC 2427 or as Cisco's routers have it.

use crate::Other;
use crate::layer::{Rest, be16};

/// EtherType of a whole Ethernet frame.
const BRIDGED_ETHERNET: u16 = 0x6558;

/// EtherType and bytes of the network layer.
pub(crate) fn network(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    // The last byte of the address has its lowest bit set (ITU-T Q.922 section 3.3.1).
    let address_len = match *rest.head::<2>()? {
        [_, second] if second & 1 == 1 => 2,
        _ => match *rest.head::<4>()? {
            [_, _, third, _] if third & 1 == 1 => 3,
            [_, _, _, fourth] if fourth & 1 == 1 => 4,
            _ => return Err(Other::Malformed),
        },
    };
    let rest = rest.skip(address_len)?;
    // Unnumbered information (RFC 2427 section 3), which is the beginning of no EtherType that Cisco's routers write there.
    let rest = match *rest.head::<2>()? {
        [0x03, 0] => rest.skip(2)?, // A pad.
        [0x03, _] => rest.skip(1)?,
        [high, low] => return Ok((u16::from_be_bytes([high, low]), rest.skip(2)?)),
    };
    let [protocol] = *rest.head::<1>()?;
    match protocol {
        0xcc => Ok((0x0800, rest.skip(1)?)),
        0x8e => Ok((0x86dd, rest.skip(1)?)),
        0x80 => snap(rest),
        _ => Err(Other::NotIp),
    }
}

/// Behind the protocol 0x80: an organisation and a number (RFC 2427 section 4). The one of 802.1 numbers bridged frames, of which 7 is Ethernet
/// without its check sequence and 1 with it.
fn snap(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    let head = *rest.head::<6>()?;
    let number = be16(&head, 4).unwrap_or(0);
    let rest = rest.skip(6)?;
    match [head[1], head[2], head[3]] {
        [0, 0, 0] => Ok((number, rest)),
        [0, 0x80, 0xc2] if number == 1 || number == 7 => Ok((BRIDGED_ETHERNET, rest)),
        _ => Err(Other::NotIp),
    }
}
