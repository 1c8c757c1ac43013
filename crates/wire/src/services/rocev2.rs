//! RoCEv2: InfiniBand's transport in UDP (InfiniBand Architecture Specification, volume 1, section 9.2 and annex A17).

use super::{Carrier, Declared, Service};
use crate::layer::{Context, Ends, Parsed, Rest};
use crate::numbered::Sending;
use crate::{Numbered, Other, Packet};

/// Port of UDP.
const PORT: u16 = 4791;
/// The base transport header, and the check sequence behind the payload.
const HEADER: usize = 12;
const CHECK: usize = 4;
/// Bit of the identifier for responses, above the 24 bits of a queue pair.
const RESPONSE: u32 = 1 << 24;

pub(super) static SERVICE: Declared = Declared {
    name: "rocev2",
    bits: 24,
    carried: &[Carrier::Udp(parse)],
    ..Declared::USUAL
};

/// The base transport header. The source port is entropy for load balancing, so it does not belong to the stream.
fn parse(ends: Ends, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    if ends.dst.port != PORT {
        return None;
    }
    let head = rest.data.first_chunk::<HEADER>()?;
    // Transport header version 0 (section 9.2.5).
    if head[1] & 0x0f != 0 {
        return None;
    }
    let queue_pair = u32::from_be_bytes([0, head[5], head[6], head[7]]);
    let seq = u64::from(u32::from_be_bytes([0, head[9], head[10], head[11]]));
    let Some((response, sending)) = numbered(head[0]) else {
        return Some(Err(Other::Unnumbered));
    };
    let number = Numbered {
        sending,
        ..context.number(seq, rest.wire.saturating_sub(HEADER + CHECK))
    };
    let id = queue_pair | if response { RESPONSE } else { 0 };
    let key = context.key(Service::RoceV2, ends.without_source_port(), id);
    Some(Ok(Packet::Numbered(key, number)))
}

/// Whether a packet with this operation code has a number of its own: if it is a response, and whether the numbers that
/// follow may belong to other packets. `None` for acknowledgements, which repeat the number of a request.
///
/// The upper three bits are the transport service, the lower five the operation (section 9.2.1, table 38). Responses use
/// the numbers that their READ request reserved among those of the other direction (section 9.7.3.3).
fn numbered(opcode: u8) -> Option<(bool, Sending)> {
    // Only connections that are reliable (0) and extended reliable (5) have responses.
    match (opcode >> 5, opcode & 0x1f) {
        // Congestion notifications (annex A17.9.3) are not numbered.
        (4, _) => None,
        (0 | 5, 17) => None,
        (0 | 5, 12) => Some((false, Sending::Reserving)),
        // First and middle parts of a response, then last part, only part, and the response to an atomic operation.
        (0 | 5, 13 | 14) => Some((true, Sending::Once)),
        (0 | 5, 15 | 16 | 18) => Some((true, Sending::Reserving)),
        _ => Some((false, Sending::Once)),
    }
}
