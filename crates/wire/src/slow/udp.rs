//! UDP: first tunnels, then the services that number their packets.

use super::tunnel;
use crate::layer::{Context, Network, Parsed, Rest};
use crate::{FlowKey, Other, services};
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
    services::in_udp(ends, payload, context).unwrap_or_else(|| {
        let (key, _) = FlowKey::new(ends.src, ends.dst, context.overlay);
        Err(Other::Udp(key))
    })
}
