//! IPv4 and IPv6 with their extension headers, down to the transport header.

use super::{ETHER_IPV4, ETHER_IPV6, icmp, tcp, tunnel, udp};
use crate::flow::Endpoint;
use crate::layer::{Context, Ends, Network, Parsed, Rest, kind};
use crate::numbered::Aside;
use crate::segment::Has;
use crate::{LaterPart, Other, Packet, services};
use etherparse::err::{ip_auth, ipv4, ipv6};
use etherparse::{
    IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice,
};

/// Protocol number of TCP.
const TCP: u8 = 6;

/// The position of a fragment.
#[derive(Clone, Copy)]
struct Part {
    id: u16,
    /// Offset from the start of the datagram, bytes.
    offset: u32,
    more: bool,
    /// Length on the wire, bytes.
    len: usize,
}

impl Part {
    /// What the table of fragments needs of it; `protocol` as the datagram's header names what it contains.
    fn of(self, protocol: u8, ends: Ends, context: Context<'_>) -> LaterPart {
        LaterPart {
            protocol,
            ts_ns: context.ts_ns,
            frame: context.frame,
            src: ends.src,
            dst: ends.dst,
            overlay: context.overlay_of_tcp(),
            id: self.id,
            offset: self.offset,
            len: u32::try_from(self.len).unwrap_or(u32::MAX),
            more: self.more,
        }
    }

    /// A fragment without a transport header.
    fn later(self, protocol: u8, ends: Ends, context: Context<'_>) -> Parsed {
        Ok(Packet::LaterFragment(self.of(protocol, ends, context)))
    }

    /// The first fragment of a datagram that is no TCP segment is a packet by itself; that it was there is noted.
    fn first(self, protocol: u8, ends: Ends, context: Context<'_>) {
        if protocol != TCP {
            context.aside(Aside::FirstPart(self.of(protocol, ends, context)));
        }
    }
}

/// Parses IPv4 or IPv6, depending on the version field.
pub(super) fn either(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let [first] = *rest.head::<1>()?;
    match first >> 4 {
        4 => v4(rest, context),
        6 => v6(rest, context),
        _ => Err(Other::Malformed),
    }
}

pub(super) fn v4(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    context.network_header(ETHER_IPV4, rest);
    let header = Ipv4HeaderSlice::from_slice(rest.data).map_err(|e| match e {
        ipv4::HeaderSliceError::Len(e) => rest.shortage(e.required_len),
        ipv4::HeaderSliceError::Content(_) => Other::Malformed,
    })?;
    let header_len = header.slice().len();
    let total_len = usize::from(header.total_len());
    let body = rest.skip(header_len)?;
    let mut has = Has::IP_ID;
    if header.dont_fragment() {
        has |= Has::DF;
    }
    if header_len > 20 || header.is_fragmenting_payload() {
        has |= Has::UNSUITABLE;
    }
    // TSO frames are captured before their length field is filled in.
    let body = if total_len == 0 {
        has |= Has::LEN_FROM_FRAME;
        body
    } else if total_len < header_len {
        return Err(Other::Malformed);
    } else {
        body.with_wire_len(total_len - header_len)
    };
    let ends = Ends {
        src: Endpoint::v4(u32::from_be_bytes(header.source()), 0),
        dst: Endpoint::v4(u32::from_be_bytes(header.destination()), 0),
    };
    let part = Part {
        id: header.identification(),
        offset: u32::from(header.fragments_offset().value()) * 8,
        more: header.more_fragments(),
        len: body.wire,
    };
    if part.offset != 0 {
        return part.later(header.protocol().0, ends, context);
    }
    if part.more {
        part.first(header.protocol().0, ends, context);
    }
    let network = Network {
        ends,
        ip_id: header.identification(),
        ttl: header.ttl(),
        ecn: header.ecn().value(),
        has,
        first_fragment: part.more,
    };
    extensions(header.protocol().0, network, body, context)
}

pub(super) fn v6(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    context.network_header(ETHER_IPV6, rest);
    let header = Ipv6HeaderSlice::from_slice(rest.data).map_err(|e| match e {
        ipv6::HeaderSliceError::Len(e) => rest.shortage(e.required_len),
        ipv6::HeaderSliceError::Content(_) => Other::Malformed,
    })?;
    let body = rest.skip(40)?;
    // Zero marks a jumbogram (RFC 2675) or a TSO frame; for both the length follows from the frame.
    let (has, body) = match header.payload_length() {
        0 => (Has::LEN_FROM_FRAME, body),
        len => (0, body.with_wire_len(usize::from(len))),
    };
    let network = Network {
        ends: Ends {
            src: Endpoint::v6(u128::from_be_bytes(header.source()), 0),
            dst: Endpoint::v6(u128::from_be_bytes(header.destination()), 0),
        },
        ip_id: 0,
        ttl: header.hop_limit(),
        ecn: header.ecn().value(),
        has,
        first_fragment: false,
    };
    extensions(header.next_header().0, network, body, context)
}

/// Walks extension headers (RFC 8200 section 4) and AH (RFC 4302) to the transport header.
fn extensions(protocol: u8, mut network: Network, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let (mut protocol, mut rest) = (protocol, rest);
    let v6 = network.has & Has::IP_ID == 0;
    loop {
        let (next, len) = match protocol {
            // Hop-by-hop, routing, destination options.
            0 | 43 | 60 if v6 => {
                let header = Ipv6RawExtHeaderSlice::from_slice(rest.data)
                    .map_err(|e| rest.shortage(e.required_len))?;
                (header.next_header(), header.slice().len())
            }
            44 if v6 => {
                let header = Ipv6FragmentHeaderSlice::from_slice(rest.data)
                    .map_err(|e| rest.shortage(e.required_len))?;
                let behind = rest.skip(header.slice().len())?;
                let part = Part {
                    // The lower half is enough to distinguish datagrams that are in flight at the same time.
                    id: header.identification() as u16,
                    offset: u32::from(header.fragment_offset().value()) * 8,
                    more: header.more_fragments(),
                    len: behind.wire,
                };
                if part.offset != 0 {
                    return part.later(header.next_header().0, network.ends, context);
                }
                if part.more {
                    part.first(header.next_header().0, network.ends, context);
                    network.first_fragment = true;
                    network.ip_id = part.id;
                }
                (header.next_header(), header.slice().len())
            }
            51 => {
                let header = IpAuthHeaderSlice::from_slice(rest.data).map_err(|e| match e {
                    ip_auth::HeaderSliceError::Len(e) => rest.shortage(e.required_len),
                    ip_auth::HeaderSliceError::Content(_) => Other::Malformed,
                })?;
                (header.next_header(), header.slice().len())
            }
            _ => break,
        };
        network.has |= Has::UNSUITABLE;
        protocol = next.0;
        rest = rest.skip(len)?;
    }
    let parsed = transport(protocol, &network, rest, context.in_packet(network.ip_id));
    if !network.first_fragment {
        return parsed;
    }
    match parsed {
        // A first fragment that is too short for its headers is unusual, but not malformed.
        Err(Other::Malformed) => Err(Other::Fragment),
        // For a tunnelled packet, the inner lengths count.
        Ok(Packet::Tcp(key, dir, segment)) if protocol == TCP => {
            let header_len = rest.wire.saturating_sub(segment.payload_len as usize);
            let header_len = u8::try_from(header_len).unwrap_or(u8::MAX);
            Ok(Packet::FirstFragment(key, dir, segment, header_len))
        }
        parsed => parsed,
    }
}

fn transport(protocol: u8, network: &Network, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match protocol {
        TCP => tcp::parse(network, rest, context),
        17 => udp::parse(network, rest, context),
        4 | 41 => {
            let inner = context.inside(0, kind(protocol))?;
            if protocol == 4 {
                v4(rest, inner)
            } else {
                v6(rest, inner)
            }
        }
        1 | icmp::V6 => icmp::parse(protocol, network, rest, context),
        // MPLS in IP (RFC 4023), EtherIP (RFC 3378).
        137 => tunnel::mpls(rest, context.inside(0, kind(protocol))?),
        97 => tunnel::ether_ip(rest, context),
        _ => services::in_ip(protocol, network, rest, context)
            .unwrap_or(Err(Other::Protocol(protocol))),
    }
}
