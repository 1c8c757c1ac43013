//! ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4) echo: the two share their layout.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Network, Parsed, Rest};

pub(super) static SERVICE: Declared = Declared {
    name: "icmp-echo",
    bits: 16,
    carried: &[Carrier::Ip(1, v4), Carrier::Ip(58, v6)],
    ..Declared::USUAL
};

fn v4(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    echo(network, rest, context, 8, 0)
}

fn v6(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    echo(network, rest, context, 128, 129)
}

/// `None` if the message is neither.
fn echo(
    network: &Network,
    rest: Rest<'_>,
    context: Context<'_>,
    request: u8,
    reply: u8,
) -> Option<Parsed> {
    let reply_bit = match *rest.data.first()? {
        kind if kind == request => 0,
        kind if kind == reply => 1 << 16,
        _ => return None,
    };
    let head = match rest.head::<8>() {
        Ok(head) => head,
        Err(why) => return Some(Err(why)),
    };
    let id = u32::from(u16::from_be_bytes([head[4], head[5]])) | reply_bit;
    let seq = u64::from(u16::from_be_bytes([head[6], head[7]]));
    Some(Ok(context.numbered(
        Service::IcmpEcho,
        network.ends,
        id,
        seq,
        rest.wire - 8,
    )))
}
