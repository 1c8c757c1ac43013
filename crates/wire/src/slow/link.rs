//! Link layers, up to the first IP header.

use super::{ETHER_BRIDGED, ETHER_IPV4, ETHER_IPV6, ETHER_NSH, ip, tunnel};
use crate::layer::{Context, Parsed, Rest, be16};
use crate::services::{self, prp};
use crate::{LinkType, Other, frame_relay, llc, network};
use etherparse::{Ethernet2HeaderSlice, SingleVlanHeaderSlice};

pub(super) fn parse(link: LinkType, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match link {
        LinkType::ETHERNET => ethernet(rest, context),
        LinkType::RAW | LinkType::RAW_BSD | LinkType::RAW_OPENBSD => ip::either(rest, context),
        LinkType::IPV4 => ip::v4(rest, context),
        LinkType::IPV6 => ip::v6(rest, context),
        LinkType::NULL | LinkType::LOOP => loopback(rest, context),
        LinkType::PPP => ppp(rest, context),
        LinkType::PPP_HDLC if !network::is_cisco(rest) => ppp(rest, context),
        LinkType::FRAME_RELAY => match frame_relay::network(rest)? {
            (ETHER_BRIDGED, rest) => ethernet(rest, context.deeper()?),
            (kind, rest) => ether_type(kind, rest, context),
        },
        LinkType::LLC_SNAP => snap(rest, context),
        link => {
            let (kind, rest) = network::link_header(link, rest)?;
            ether_type(kind, rest, context)
        }
    }
}

/// Parses an Ethernet frame, starting with its destination address.
pub(super) fn ethernet(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let header =
        Ethernet2HeaderSlice::from_slice(rest.data).map_err(|e| rest.shortage(e.required_len))?;
    let context = context.on_ethernet([header.source(), header.destination()]);
    let parsed = ether_type(header.ether_type().0, rest.skip(14)?, context);
    match prp::trailer(rest, context) {
        Some((key, number)) => context.around(key, number, parsed),
        None => parsed,
    }
}

/// Parses what follows an EtherType, through any number of VLAN tags.
pub(super) fn ether_type(ether_type: u16, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let (mut ether_type, mut rest, mut context) = (ether_type, rest, context);
    // 802.1Q, 802.1ad and the two older numbers for stacked tags.
    while let 0x8100 | 0x88a8 | 0x9100 | 0x9200 = ether_type {
        let tag = SingleVlanHeaderSlice::from_slice(rest.data)
            .map_err(|e| rest.shortage(e.required_len))?;
        context.vlan = context.vlan.within(tag.vlan_identifier().value());
        ether_type = tag.ether_type().0;
        rest = rest.skip(4)?;
    }
    context.network_header(ether_type, rest);
    match ether_type {
        ETHER_IPV4 => ip::v4(rest, context),
        ETHER_IPV6 => ip::v6(rest, context),
        0x8847 | 0x8848 => tunnel::mpls(rest, context),
        0x8864 => ppp(rest.skip(6)?, context),
        ETHER_NSH => tunnel::nsh(rest, context),
        // Below 0x0600 the field is a length and an LLC header follows (IEEE 802.3 3.2.6).
        0..0x0600 => snap(rest, context),
        other => {
            services::in_ethernet(other, rest, context).unwrap_or(Err(Other::EtherType(other)))
        }
    }
}

/// LLC with a SNAP header that holds an EtherType (RFC 1042).
fn snap(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let (kind, rest) = llc::network(rest)?;
    ether_type(kind, rest, context.deeper()?)
}

/// BSD loopback. The address family contains no more information than the IP version, and its number for IPv6 and its
/// byte order vary between systems, so only families other than IP are refused.
fn loopback(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let family = rest.head::<4>()?;
    let low = match family {
        [0, 0, 0, low] | [low, 0, 0, 0] => *low,
        _ => return Err(Other::NotIp),
    };
    match low {
        2 => ip::v4(rest.skip(4)?, context),
        // The numbers of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
        10 | 23 | 24 | 28 | 30 => ip::v6(rest.skip(4)?, context),
        _ => Err(Other::NotIp),
    }
}

/// PPP; its address and control bytes and the high byte of the protocol are optional (RFC 1661 sections 6.5 and 6.6).
pub(super) fn ppp(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let rest = match rest.data {
        [0xff, 0x03, ..] => rest.skip(2)?,
        _ => rest,
    };
    let [first] = *rest.head::<1>()?;
    let (protocol, len) = match be16(rest.data, 0) {
        _ if first & 1 == 1 => (u16::from(first), 1),
        Some(protocol) => (protocol, 2),
        None => return Err(rest.shortage(2)),
    };
    match protocol {
        0x0021 => ip::v4(rest.skip(len)?, context),
        0x0057 => ip::v6(rest.skip(len)?, context),
        0x0281 | 0x0283 => tunnel::mpls(rest.skip(len)?, context),
        other => Err(Other::Ppp(other)),
    }
}
