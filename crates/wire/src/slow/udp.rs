//! UDP: first tunnels, then the services that number their packets.

use super::tunnel;
use crate::layer::{Context, Network, Parsed, Rest};
use crate::{Aside, FlowKey, Other, Quic, quic, services};
use etherparse::UdpHeaderSlice;

pub(super) fn parse(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let header =
        UdpHeaderSlice::from_slice(rest.data).map_err(|e| rest.shortage(e.required_len))?;
    let body = rest.skip(8)?;
    let payload = match usize::from(header.length()) {
        // Zero: a jumbogram or an unfinished frame; the length follows from the IP header.
        0 => body,
        1..8 => return Err(Other::Malformed),
        // Longer than the IP packet: the first of several fragments.
        len if len > rest.wire => body,
        len => body.with_wire_len(len - 8),
    };
    let (src, dst) = (header.source_port(), header.destination_port());
    if let Some(parsed) = tunnel::in_udp(dst, payload, context) {
        return parsed;
    }
    let ends = network.with_ports(src, dst);
    // Long headers of QUIC are strict, and without their fixed bit they begin as RTP does.
    let quic = quic::parse(payload);
    if !matches!(quic, Some(Quic::Long { .. }))
        && let Some(parsed) = services::in_udp(ends, payload, context)
    {
        return parsed;
    }
    let (key, dir) = FlowKey::new(ends.src, ends.dst, context.overlay);
    if let Some(quic) = quic {
        context.aside(Aside::Quic(key, dir, quic));
    }
    Err(Other::Udp(key))
}
