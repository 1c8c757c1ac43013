//! UDP: first tunnels, then the services that number their packets.

use super::network::Network;
use super::{Context, Ends, Parsed, Rest, be16, be32, esp, tunnel};
use crate::numbered::Service;
use crate::{Other, Packet};
use etherparse::UdpHeaderSlice;

pub(super) fn parse(network: &Network, rest: Rest<'_>, context: Context) -> Parsed {
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
    service(network.with_ports(src, dst), payload, context).ok_or(Other::OtherProtocol)
}

fn service(ends: Ends, payload: Rest<'_>, context: Context) -> Option<Packet> {
    wireguard(ends, payload, context)
        .or_else(|| esp_in_udp(ends, payload, context))
        .or_else(|| rtp(ends, payload, context))
}

/// WireGuard transport data (Donenfeld 2017, section 5.4.6): type 4 and three zero bytes, the
/// receiver's index and a counter, both little-endian, then at least the 16-byte tag.
fn wireguard(ends: Ends, payload: Rest<'_>, context: Context) -> Option<Packet> {
    let head = payload.data.first_chunk::<16>()?;
    let [4, 0, 0, 0, a, b, c, d, counter @ ..] = *head else {
        return None;
    };
    let counter = u64::from_le_bytes(counter);
    // A session is rekeyed long before it has sent this many messages (section 6.1).
    if payload.wire < 32 || counter >= 1 << 60 {
        return None;
    }
    let index = u32::from_le_bytes([a, b, c, d]);
    Some(context.numbered(Service::WireGuard, ends, index, counter, payload.wire - 32))
}

/// ESP in UDP (RFC 3948 section 2): not a keepalive (one byte), not IKE (four zero bytes).
fn esp_in_udp(ends: Ends, payload: Rest<'_>, context: Context) -> Option<Packet> {
    if ends.src.port != 4500 && ends.dst.port != 4500 || payload.wire < 8 {
        return None;
    }
    esp::parse(ends, payload, context).ok()
}

/// Packets that may be RTP (RFC 3550 section 5.1); one packet is no proof, see [`crate::RtpGate`].
fn rtp(ends: Ends, payload: Rest<'_>, context: Context) -> Option<Packet> {
    let head = payload.data.first_chunk::<12>()?;
    let (version, kind) = (head[0] >> 6, head[1] & 0x7f);
    // Payload types 64-95 are RTCP on a shared port (RFC 5761 section 4).
    if version != 2 || (64..=95).contains(&kind) || ends.src.port.min(ends.dst.port) < 1024 {
        return None;
    }
    let mut header_len = 12 + 4 * usize::from(head[0] & 0x0f);
    if head[0] & 0x10 != 0 && header_len + 4 <= payload.wire {
        let words = be16(payload.data, header_len + 2).unwrap_or(0);
        header_len += 4 + 4 * usize::from(words);
    }
    let seq = u64::from(be16(head, 2)?);
    let ssrc = be32(head, 8)?;
    let len = payload.wire.checked_sub(header_len)?;
    Some(context.numbered(Service::Rtp, ends, ssrc, seq, len))
}
