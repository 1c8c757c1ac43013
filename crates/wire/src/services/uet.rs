//! Ultra Ethernet Transport, packet delivery sublayer (Ultra Ethernet Specification 1.0, section 3.5.10).

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest};
use crate::numbered::Sending;
use crate::{Numbered, Other, Packet};

/// Port of UDP.
const PORT: u16 = 4793;

pub(super) static SERVICE: Declared = Declared {
    name: "uet",
    bits: 32,
    carried: &[Carrier::Udp(parse)],
    ..Declared::USUAL
};

/// Requests for reliable delivery, in any order or in order, with and without congestion state (table 3-32).
const REQUESTS: [u16; 4] = [2, 3, 13, 14];
/// Flag of a retransmission (table 3-33).
const RETRANSMISSION: u16 = 0x10;

/// Prologue, clear offset, packet sequence number, the two contexts. The source port is entropy. The destination's
/// context is unknown in the first packets, so the source's identifies the stream.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    if ends.dst.port != PORT {
        return None;
    }
    let head = rest.data.first_chunk::<12>()?;
    let prologue = u16::from_be_bytes([head[0], head[1]]);
    if !REQUESTS.contains(&(prologue >> 11)) {
        return Some(Err(Other::Unnumbered));
    }
    let seq = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let number = Numbered {
        sending: if prologue & RETRANSMISSION != 0 {
            Sending::Again
        } else {
            Sending::Once
        },
        ..context.number(u64::from(seq), rest.wire - 12)
    };
    let id = u32::from(u16::from_be_bytes([head[8], head[9]]));
    let key = context.key(Service::Uet, ends.without_source_port(), id);
    Some(Ok(Packet::Numbered(key, number)))
}
