//! The redundancy tag of frame replication and elimination (IEEE 802.1CB section 7.8).

use super::{Carrier, Declared, Service};
use crate::Other;
use crate::flow::Endpoint;
use crate::layer::{Context, Ends, Inner, Parsed, Rest};

pub(super) static SERVICE: Declared = Declared {
    name: "r-tag",
    bits: 16,
    carried: &[Carrier::Ethernet(0xf1c1, in_ethernet)],
    ..Declared::USUAL
};

/// Two reserved bytes, sequence number, EtherType of the frame. Streams are identified by their addresses and VLAN (section 6.4).
fn in_ethernet(rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    Some(parse(rest, context))
}

fn parse(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let [_, _, s0, s1, e0, e1] = *rest.head::<6>()?;
    let [source, destination] = context.macs.ok_or(Other::NotIp)?;
    let ends = Ends {
        src: Endpoint::mac(source),
        dst: Endpoint::mac(destination),
    };
    let body = rest.skip(6)?;
    let key = context.key(Service::RTag, ends, u32::from(context.vlan.inner));
    let number = context.number(u64::from(u16::from_be_bytes([s0, s1])), body.wire);
    let inner = context
        .deeper()?
        .content(Inner::EtherType(u16::from_be_bytes([e0, e1])), body);
    context.around(key, number, inner)
}
