//! Tunnels: the packet inside is returned, preferably TCP.

use super::{ETHER_IPV4, ETHER_IPV6, ETHER_NSH};
use crate::layer::{Context, Inner, Parsed, Rest, kind, kind_udp};
use crate::{Other, overlay};

/// A tunnel in UDP, recognised by the destination port; `None` if the bytes do not fit that tunnel.
pub(super) fn in_udp(port: u16, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    match port {
        // IANA's port and the one Linux used before it.
        4789 | 8472 => vxlan(port, payload, context),
        4790 => vxlan_gpe(payload, context),
        6081 => geneve(payload, context),
        _ => None,
    }
}

/// VXLAN (RFC 7348 section 5), also with the group policy bit that some switches set.
fn vxlan(port: u16, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = rest.data.first_chunk::<8>()?;
    if head[0] & 0x7f != 0x08 || head[7] != 0 {
        return None;
    }
    let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
    let inner = context.inside(vni, kind_udp(port));
    Some(inner.and_then(|context| context.content(Inner::Ethernet, rest.skip(8)?)))
}

/// VXLAN with a field for the protocol inside (draft-ietf-nvo3-vxlan-gpe section 3): versions and flags in the first byte, of
/// which P says that the field is there, and O that the payload is for the tunnel's own maintenance.
fn vxlan_gpe(rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = rest.data.first_chunk::<8>()?;
    let (version, has_vni) = (head[0] >> 4 & 3, head[0] & 0x08 != 0);
    if version != 0 || head[7] != 0 {
        return None;
    }
    let inner = match (head[0] & 0x04 != 0, head[3]) {
        (false, 0) => NEXT_ETHERNET,
        (true, next) => next,
        (false, _) => return None,
    };
    if head[0] & 0x01 != 0 {
        return Some(Err(Other::Unnumbered));
    }
    let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
    let vni = if has_vni { vni } else { 0 };
    let context = context.inside(vni, kind_udp(4790));
    Some(context.and_then(|context| next(inner, rest.skip(8)?, context)))
}

/// Ethernet, in the numbers that VXLAN-GPE and NSH share for what they contain.
const NEXT_ETHERNET: u8 = 3;

/// What these numbers stand for (RFC 8300 section 2.2).
fn next(number: u8, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match number {
        1 => context.content(Inner::Ipv4, rest),
        2 => context.content(Inner::Ipv6, rest),
        NEXT_ETHERNET => context.content(Inner::Ethernet, rest),
        4 => nsh(rest, context),
        5 => mpls(rest, context),
        _ => Err(Other::EtherType(ETHER_NSH)),
    }
}

/// The header of a service chain (RFC 8300 section 2.2): its length in words in the low six bits of the second byte, what it
/// contains in the fourth.
pub(super) fn nsh(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let head = *rest.head::<4>()?;
    let len = usize::from(head[1] & 0x3f) * 4;
    if head[0] >> 6 != 0 || len < 8 {
        return Err(Other::Malformed);
    }
    next(head[3], rest.skip(len)?, context.deeper()?)
}

/// GENEVE (RFC 8926 section 3.4).
fn geneve(rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    let head = rest.data.first_chunk::<8>()?;
    if head[0] >> 6 != 0 || head[7] != 0 {
        return None;
    }
    let options = usize::from(head[0] & 0x3f) * 4;
    let protocol = u16::from_be_bytes([head[2], head[3]]);
    let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
    let inner = context.inside(overlay::geneve(vni), kind_udp(6081));
    Some(inner.and_then(|context| payload(protocol, rest.skip(8 + options)?, context)))
}

/// Parses the payload that an EtherType in a tunnel header announces.
pub(super) fn payload(protocol: u16, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match protocol {
        ETHER_IPV4 => context.content(Inner::Ipv4, rest),
        ETHER_IPV6 => context.content(Inner::Ipv6, rest),
        // Transparent Ethernet bridging.
        0x6558 => context.content(Inner::Ethernet, rest),
        0x8847 | 0x8848 => mpls(rest, context),
        0x880b => context.content(Inner::Ppp, rest),
        ETHER_NSH => nsh(rest, context),
        other => Err(Other::EtherType(other)),
    }
}

/// An MPLS label stack (RFC 3032). The innermost label tells networks apart (RFC 4364 section 4.3.2), but it alone cannot identify a
/// connection: labels differ by direction, and the last hop but one removes them.
pub(super) fn mpls(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let context = context.deeper()?;
    let mut rest = rest;
    let label = loop {
        let entry = *rest.head::<4>()?;
        rest = rest.skip(4)?;
        if entry[2] & 1 == 1 {
            break u32::from_be_bytes(entry) >> 12;
        }
    };
    let context = context.labelled(overlay::mpls(label));
    // Only the first four bits indicate what follows (RFC 4928 section 3).
    match rest.head::<1>()?[0] >> 4 {
        4 => context.content(Inner::Ipv4, rest),
        6 => context.content(Inner::Ipv6, rest),
        // The control word of a pseudowire (RFC 4385).
        0 => context.content(Inner::Ethernet, rest.skip(4)?),
        _ => Err(Other::EtherType(0x8847)),
    }
}

/// Ethernet in IP (RFC 3378): version 3, twelve reserved bits.
pub(super) fn ether_ip(rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match rest.head::<2>()? {
        [0x30, 0] => context
            .inside(0, kind(97))?
            .content(Inner::Ethernet, rest.skip(2)?),
        _ => Err(Other::Malformed),
    }
}
