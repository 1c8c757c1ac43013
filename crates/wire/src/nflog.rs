//! Packets that Linux's firewall logged (link type 239): a header with attributes, one of which is the packet.

use crate::Other;
use crate::layer::Rest;

/// The attribute with the packet, from its network header on (`NFULA_PAYLOAD` of Linux's `nfnetlink_log.h`).
const PAYLOAD: u16 = 9;
/// The attribute that begins with the packet's EtherType (`NFULA_PACKET_HDR`).
const PACKET_HEADER: u16 = 1;

/// EtherType and bytes of the network layer.
///
/// The header is an address family, a version and a number of 16 bits. Length and type of attributes are in the byte order of
/// the host that captured, which nothing tells; all types are below 256, so the byte of a type that is zero does.
pub(crate) fn network(rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    let [family, version, ..] = *rest.head::<4>()?;
    if version != 0 {
        return Err(Other::Malformed);
    }
    let mut kind = match family {
        2 => Some(0x0800),
        10 => Some(0x86dd),
        _ => None,
    };
    let mut rest = rest.skip(4)?;
    loop {
        let head = *rest.head::<4>()?;
        let (len, number) = match (head[2], head[3]) {
            (low, 0) => (u16::from_le_bytes([head[0], head[1]]), low),
            (0, low) => (u16::from_be_bytes([head[0], head[1]]), low),
            _ => return Err(Other::Malformed),
        };
        let len = usize::from(len);
        let content = len.checked_sub(4).ok_or(Other::Malformed)?;
        let body = rest.skip(4)?;
        match u16::from(number) {
            PAYLOAD => {
                let kind = kind.ok_or(Other::NotIp)?;
                return Ok((kind, body.with_wire_len(content)));
            }
            // In network byte order.
            PACKET_HEADER if kind.is_none() => {
                kind = Some(u16::from_be_bytes(*body.head::<2>()?));
            }
            _ => {}
        }
        // Attributes begin at multiples of four bytes.
        rest = rest.skip(len.next_multiple_of(4))?;
    }
}
