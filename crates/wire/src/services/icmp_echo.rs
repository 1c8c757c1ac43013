//! ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4) echo: the two share their layout.

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Network, Parsed, Rest};
use crate::{Endpoint, StreamKey};

/// In the identifier of a stream, above the 16 bits of its packets: they are replies.
const REPLY: u32 = 1 << 16;

/// Whose echo requests these are, or are answered by these replies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asker {
    /// The host that sends the requests.
    pub host: Endpoint,
    /// The identifier in them.
    pub id: u16,
    /// As in [`crate::FlowKey::overlay`].
    pub overlay: u32,
}

impl StreamKey {
    /// Whose echo requests or replies these are; `None` of other services.
    pub fn asker(&self) -> Option<Asker> {
        (self.service == Service::IcmpEcho).then(|| Asker {
            host: if self.is_reply() { self.dst } else { self.src },
            id: self.id as u16,
            overlay: self.overlay,
        })
    }

    /// True of echo replies.
    pub fn is_reply(&self) -> bool {
        self.service == Service::IcmpEcho && self.id & REPLY != 0
    }

    /// The stream of what answers these echo requests, or of what these replies answer; `None` of other services.
    pub fn echo_back(&self) -> Option<StreamKey> {
        (self.service == Service::IcmpEcho).then_some(StreamKey {
            src: self.dst,
            dst: self.src,
            id: self.id ^ REPLY,
            ..*self
        })
    }
}

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
        kind if kind == reply => REPLY,
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
