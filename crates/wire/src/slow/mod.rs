//! The general path: every supported link type, header chain and tunnel, with one small function for each layer.
//! `etherparse` reads the headers it supports; the fast path is written by hand, so the two are independent and can
//! check each other.

mod ip;
mod link;
mod network;
mod rest;
mod tcp;
mod tunnel;
mod udp;

pub(crate) use link::ether_type;
pub(crate) use network::Network;
pub(crate) use rest::{Rest, be16, be32, field16};
pub(crate) use tunnel::{kind, kind_udp, payload};

use crate::flow::Endpoint;
use crate::numbered::{Aside, Numbered, StreamKey};
use crate::{Frame, Other, Packet, Service};
use std::cell::Cell;

/// EtherType of IPv4.
const ETHER_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
const ETHER_IPV6: u16 = 0x86dd;

/// Maximum nesting depth of tunnels; a frame with more is hostile.
const MAX_TUNNELS: u8 = 6;

/// The parsed packet, or why it cannot be analysed.
pub(crate) type Parsed = Result<Packet, Other>;

/// The information about the frame and the tunnels around it that every layer needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) ts_ns: i64,
    pub(crate) frame: u64,
    pub(crate) overlay: u32,
    tunnels: u8,
    /// Source and destination of the Ethernet header around, if there is one.
    pub(crate) macs: Option<[[u8; 6]; 2]>,
    /// The innermost VLAN of that header, 0 for none.
    pub(crate) vlan: u16,
    /// What was found beside the packet so far.
    asides: &'a Cell<Vec<Aside>>,
}

impl<'a> Context<'a> {
    /// The context inside one more tunnel. `id` distinguishes tenants. Tunnels without an identifier use `kind`
    /// instead, so that the inner and the outer packet never have the same key.
    pub(crate) fn inside(self, id: u32, kind: u32) -> Result<Context<'a>, Other> {
        let own = if id == 0 { kind } else { id };
        // Identifiers of nested tunnels are combined with an odd multiplier (2^32 / golden ratio).
        let overlay = match self.overlay {
            0 => own,
            outer => outer.wrapping_mul(0x9e37_79b1) ^ own,
        };
        Context { overlay, ..self }.deeper()
    }

    /// The context in one of several sessions of a tunnel.
    pub(crate) fn session(self, session: u32) -> Context<'a> {
        let overlay = self.overlay ^ session;
        Context { overlay, ..self }
    }

    /// The context one level deeper in a nesting that has no overlay of its own. Every return to an earlier layer
    /// goes through this function, so no frame can exhaust the stack.
    pub(crate) fn deeper(self) -> Result<Context<'a>, Other> {
        if self.tunnels == MAX_TUNNELS {
            return Err(Other::OtherProtocol);
        }
        Ok(Context {
            tunnels: self.tunnels + 1,
            ..self
        })
    }

    /// The key of a stream.
    pub(crate) fn key(self, service: Service, ends: Ends, id: u32) -> StreamKey {
        StreamKey {
            service,
            src: ends.src,
            dst: ends.dst,
            id,
            overlay: self.overlay,
        }
    }

    /// A number with `payload` bytes.
    pub(crate) fn number(self, seq: u64, payload: usize) -> Numbered {
        Numbered {
            ts_ns: self.ts_ns,
            frame: self.frame,
            seq,
            payload_len: u32::try_from(payload).unwrap_or(u32::MAX),
            ..Numbered::default()
        }
    }

    /// The packet of a service.
    pub(crate) fn numbered(
        self,
        service: Service,
        ends: Ends,
        id: u32,
        seq: u64,
        payload: usize,
    ) -> Packet {
        Packet::Numbered(self.key(service, ends, id), self.number(seq, payload))
    }

    /// The packet of a frame in which a numbered tag or tunnel surrounds `inner`: TCP inside, otherwise the number
    /// around. The other one is an aside.
    pub(crate) fn around(self, key: StreamKey, number: Numbered, inner: Parsed) -> Parsed {
        match inner {
            Err(_) => {}
            Ok(Packet::Numbered(key, number)) => self.aside(Aside::Numbered(key, number)),
            Ok(packet) => {
                self.aside(Aside::Numbered(key, number));
                return Ok(packet);
            }
        }
        Ok(Packet::Numbered(key, number))
    }

    /// Notes what is found beside the packet.
    pub(crate) fn aside(self, aside: Aside) {
        let mut all = self.asides.take();
        all.push(aside);
        self.asides.set(all);
    }
}

/// Source and destination of a packet.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) src: Endpoint,
    pub(crate) dst: Endpoint,
}

impl Ends {
    /// The ends of a service that spreads one stream over many source ports.
    pub(crate) fn without_source_port(self) -> Ends {
        let src = Endpoint {
            port: 0,
            ..self.src
        };
        Ends { src, ..self }
    }
}

/// Parses a frame without the fast path; appends what it tells beside its packet to `asides`.
pub(crate) fn parse(frame: &Frame<'_>, asides: &mut Vec<Aside>) -> Packet {
    let found = Cell::new(std::mem::take(asides));
    let context = Context {
        ts_ns: frame.ts_ns,
        frame: frame.number,
        overlay: 0,
        tunnels: 0,
        macs: None,
        vlan: 0,
        asides: &found,
    };
    let packet = link::parse(frame.link, Rest::of_frame(frame), context);
    *asides = found.into_inner();
    packet.unwrap_or_else(Packet::Other)
}

/// The content of a tunnel.
#[derive(Clone, Copy)]
pub(crate) enum Inner {
    Ethernet,
    Ppp,
    /// IPv4 or IPv6, depending on the first four bits.
    Ip,
    Ipv4,
    Ipv6,
}

/// Parses the content of a tunnel with the layers above.
pub(crate) fn inside(inner: Inner, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    match inner {
        Inner::Ethernet => link::ethernet(rest, context),
        Inner::Ppp => link::ppp(rest, context),
        Inner::Ip => ip::either(rest, context),
        Inner::Ipv4 => ip::v4(rest, context),
        Inner::Ipv6 => ip::v6(rest, context),
    }
}
