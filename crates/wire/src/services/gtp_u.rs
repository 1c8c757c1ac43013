//! GTP-U (3GPP TS 29.281 section 5): user packets in tunnels, numbered if the tunnel keeps their order.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Inner, Parsed, Rest, kind_udp};
use crate::{Other, overlay};

/// Port of UDP.
const PORT: u16 = 2152;

pub(super) static SERVICE: Declared = Declared {
    name: "gtp-u",
    bits: 16,
    carried: &[Carrier::Udp(parse)],
    ..Declared::USUAL
};

/// Only G-PDUs carry user packets. The tunnel endpoint identifiers differ by direction, so they alone cannot identify a
/// connection inside.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    const G_PDU: u8 = 255;
    if ends.dst.port != PORT {
        return None;
    }
    let head = rest.data.first_chunk::<8>()?;
    // Version 1, protocol type GTP.
    if head[0] & 0xf0 != 0x30 || head[1] != G_PDU {
        return None;
    }
    let Some(len) = header_len(rest.data) else {
        // Cut by the snap length, or an extension header has length zero.
        let cut = rest.data.len() < rest.wire;
        return Some(Err(if cut {
            Other::Truncated
        } else {
            Other::Malformed
        }));
    };
    let id = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let inner = context.inside(0, kind_udp(PORT)).and_then(|context| {
        context
            .labelled(overlay::gtp(id))
            .content(Inner::Ip, rest.skip(len)?)
    });
    let Some(seq) = number(rest.data) else {
        return Some(inner);
    };
    // The source port is free, and may differ from packet to packet (section 4.4.2.0).
    let key = context.key(Service::GtpU, ends.without_source_port(), id);
    let number = context.number(u64::from(seq), rest.wire.saturating_sub(len));
    Some(context.around(key, number, inner))
}

/// The sequence number, if its flag is set.
fn number(data: &[u8]) -> Option<u16> {
    let head = data.first_chunk::<10>()?;
    (head[0] & 0x02 != 0).then(|| u16::from_be_bytes([head[8], head[9]]))
}

/// Length of the header with its optional fields and extension headers.
fn header_len(data: &[u8]) -> Option<usize> {
    let flags = *data.first()?;
    if flags & 0x07 == 0 {
        return Some(8);
    }
    let mut next = *data.get(11)?;
    let mut len = 12;
    // The next-type byte is valid only if the extension flag is set.
    while flags & 0x04 != 0 && next != 0 {
        let words = usize::from(*data.get(len)?);
        if words == 0 {
            return None;
        }
        len += 4 * words;
        next = *data.get(len - 1)?;
    }
    Some(len)
}
