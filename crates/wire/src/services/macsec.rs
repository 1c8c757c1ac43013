//! MACsec (IEEE 802.1AE): the packet number of the SecTAG.

use super::{Carrier, Declared, Service};
use crate::Other;
use crate::flow::Endpoint;
use crate::layer::{Context, Ends, Inner, Parsed, Rest, be16};

pub(super) static SERVICE: Declared = Declared {
    name: "macsec",
    bits: 32,
    carried: &[Carrier::Ethernet(0x88e5, in_ethernet)],
    // replayWindow 0 of section 10.6.5, strict order, accepts what a window of one packet accepts.
    windows: &[1, 64, 1024],
    ..Declared::USUAL
};

/// Bytes of the integrity check value behind the data, of every cipher suite there is.
const CHECK: usize = 16;

/// The SecTAG (section 9.3). The frame inside is parsed if it is only protected, not encrypted.
fn in_ethernet(rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(rest, context))
}

fn parse(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    const VERSION: u8 = 0x80;
    const HAS_CHANNEL: u8 = 0x20;
    const ENCRYPTED_OR_CHANGED: u8 = 0x0c;
    let [control, _, a, b, c, d] = *rest.head::<6>()?;
    if control & VERSION != 0 {
        return Err(Other::Malformed);
    }
    let seq = u64::from(u32::from_be_bytes([a, b, c, d]));
    // Without an explicit channel it is that of the source address and port 1 (section 9.9).
    let (len, mac, port) = if control & HAS_CHANNEL != 0 {
        let [.., m0, m1, m2, m3, m4, m5, high, low] = *rest.head::<14>()?;
        let port = u16::from_be_bytes([high, low]);
        (14, [m0, m1, m2, m3, m4, m5], port)
    } else {
        let [source, _] = context.macs.ok_or(Other::NotIp)?;
        (6, source, 1)
    };
    let ends = Ends {
        src: Endpoint::mac(mac),
        dst: Endpoint::ANY_MAC,
    };
    let id = u32::from(port) << 2 | u32::from(control & 3);
    let body = rest.skip(len)?;
    let key = context.key(Service::MacSec, ends, id);
    let number = context.number(seq, body.wire.saturating_sub(CHECK));
    let inner = match be16(body.data, 0) {
        Some(inner) if control & ENCRYPTED_OR_CHANGED == 0 => context
            .deeper()?
            .content(Inner::EtherType(inner), body.skip(2)?),
        _ => Err(Other::NotIp),
    };
    context.around(key, number, inner)
}
