//! HSR (IEC 62439-3 clause 5): the tag of frames in a ring.

use super::{Carrier, Declared, Service};
use crate::Other;
use crate::flow::Endpoint;
use crate::layer::{Context, Ends, Inner, Parsed, Rest};

pub(super) static SERVICE: Declared = Declared {
    name: "hsr",
    bits: 16,
    carried: &[Carrier::Ethernet(0x892f, in_ethernet)],
    ..Declared::USUAL
};

/// Path (4 bits) and size (12 bits), sequence number, EtherType of the frame. A node numbers all frames that it sends,
/// whatever their destination; the two copies of a frame differ in their path.
fn in_ethernet(rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(rest, context))
}

fn parse(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let [path, _, s0, s1, e0, e1] = *rest.head::<6>()?;
    let [source, _] = context.macs.ok_or(Other::NotIp)?;
    let ends = Ends {
        src: Endpoint::mac(source),
        dst: Endpoint::ANY_MAC,
    };
    let body = rest.skip(6)?;
    let key = context.key(Service::Hsr, ends, u32::from(path >> 4));
    let number = context.number(u64::from(u16::from_be_bytes([s0, s1])), body.wire);
    let inner = context
        .deeper()?
        .content(Inner::EtherType(u16::from_be_bytes([e0, e1])), body);
    context.around(key, number, inner)
}
