//! The general path: every supported link type, header chain and tunnel, with one small function for each layer.
//! `etherparse` reads the headers it supports; the fast path is written by hand, so the two are independent and can
//! check each other.

mod icmp;
mod ip;
mod link;
mod tcp;
mod tunnel;
mod udp;

use crate::layer::{Context, Header, Inner, Parsed, Rest};
use crate::numbered::Aside;
use crate::{Frame, Packet};
use std::cell::Cell;

/// EtherType of IPv4.
const ETHER_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
const ETHER_IPV6: u16 = 0x86dd;
/// EtherType of a whole Ethernet frame.
const ETHER_BRIDGED: u16 = 0x6558;
/// EtherType of a service chain's header (RFC 8300).
const ETHER_NSH: u16 = 0x894f;

/// Parses a frame without the fast path; appends what it tells beside its packet to `asides`.
pub(crate) fn parse(frame: &Frame<'_>, asides: &mut Vec<Aside>) -> Packet {
    let found = Cell::new(std::mem::take(asides));
    let context = Context::of_frame(frame, &found, inside);
    let packet = link::parse(frame.link, Rest::of_frame(frame), context);
    *asides = found.into_inner();
    packet.unwrap_or_else(Packet::Other)
}

/// The innermost network header of a frame.
pub(crate) fn innermost(frame: &Frame<'_>) -> Option<Header> {
    let (asides, header) = (Cell::new(Vec::new()), Cell::new(None));
    let context = Context::of_frame(frame, &asides, inside).noting(&header);
    // What the packet is does not matter here.
    let _packet = link::parse(frame.link, Rest::of_frame(frame), context);
    header.get()
}

/// Parses what a header says that it contains.
fn inside(inner: Inner, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match inner {
        Inner::Ethernet => link::ethernet(rest, context),
        Inner::Ppp => link::ppp(rest, context),
        Inner::Ip => ip::either(rest, context),
        Inner::Ipv4 => ip::v4(rest, context),
        Inner::Ipv6 => ip::v6(rest, context),
        Inner::EtherType(number) => link::ether_type(number, rest, context),
        Inner::Tunnelled(number) => tunnel::payload(number, rest, context),
    }
}
