//! ICMP (RFC 792) and ICMPv6 (RFC 4443): errors about TCP segments, and the numbered messages.

use super::ip;
use crate::complaint::{Complaint, ComplaintKind};
use crate::layer::{Context, Network, Parsed, Rest};
use crate::numbered::Aside;
use crate::segment::Has;
use crate::{Other, Packet, services};

/// Protocol number of ICMPv6.
pub(super) const V6: u8 = 58;

pub(super) fn parse(
    protocol: u8,
    network: &Network,
    rest: Rest<'_>,
    context: Context<'_>,
) -> Parsed {
    let [kind, code] = *rest.head::<2>()?;
    if let Some(kind) = error(protocol, kind, code) {
        return complain(kind, code, protocol, rest, context);
    }
    services::in_ip(protocol, network, rest, context).unwrap_or(Err(Other::Icmp))
}

/// The errors that quote the packet that they are about, except those that say nothing of its fate (redirections, and
/// requests to send more slowly, which RFC 6633 has withdrawn).
fn error(protocol: u8, kind: u8, code: u8) -> Option<ComplaintKind> {
    Some(match (protocol == V6, kind, code) {
        (false, 3, 4) | (true, 2, _) => ComplaintKind::TooLarge,
        (false, 3, _) | (true, 1, _) => ComplaintKind::Unreachable,
        (false, 11, _) | (true, 3, _) => ComplaintKind::TimeExceeded,
        (false, 12, _) | (true, 4, _) => ComplaintKind::ParameterProblem,
        _ => return None,
    })
}

/// The packet that is quoted is parsed as any other, through its tunnels, because what was too large for a link, or could
/// not be delivered, may be a tunnel's packet.
fn complain(
    kind: ComplaintKind,
    code: u8,
    protocol: u8,
    rest: Rest<'_>,
    context: Context<'_>,
) -> Parsed {
    let head = rest.head::<8>()?;
    let mtu = match (kind, protocol) {
        (ComplaintKind::TooLarge, V6) => u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
        (ComplaintKind::TooLarge, _) => u32::from(u16::from_be_bytes([head[6], head[7]])),
        _ => 0,
    };
    let quoted = context
        .quoted()
        .and_then(|quoted| ip::either(rest.skip(8)?, quoted));
    if let Ok(Packet::Tcp(key, dir, segment) | Packet::FirstFragment(key, dir, segment, _)) = quoted
    {
        let complaint = Complaint {
            ts_ns: context.ts_ns,
            frame: context.frame,
            kind,
            code,
            mtu: (mtu > 0).then_some(mtu),
            seq: segment.seq,
            // And in the acknowledgement, which is not quoted, which bits of the number there are.
            seq_known: segment.ack,
            ip_id: segment.has(Has::IP_ID).then_some(segment.ip_id),
            // The parser of quoted segments leaves the length of all of it there.
            tcp_len: (!segment.has(Has::LEN_FROM_FRAME)).then_some(segment.payload_len),
        };
        context.aside(Aside::Complaint(key, dir, complaint));
    } else if let (ComplaintKind::TimeExceeded, Ok(Packet::Numbered(key, _))) = (kind, quoted)
        && key.asker().is_some()
        && !key.is_reply()
    {
        context.aside(Aside::Expired(key));
    }
    Err(Other::Icmp)
}
