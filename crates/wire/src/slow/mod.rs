//! The general path: every supported link type, header chain and tunnel, with one small function for each layer.
//! `etherparse` reads the headers it supports; the fast path is written by hand, so the two are independent and can
//! check each other.

mod esp;
mod ip;
mod link;
mod network;
mod rest;
mod tcp;
mod tunnel;
mod udp;

pub(crate) use rest::{Rest, be16, be32};

use crate::flow::Endpoint;
use crate::numbered::{Numbered, Service, StreamKey};
use crate::{Frame, Other, Packet};

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
pub(crate) struct Context {
    ts_ns: i64,
    frame: u64,
    overlay: u32,
    tunnels: u8,
}

impl Context {
    /// The context inside one more tunnel. `id` distinguishes tenants. Tunnels without an identifier use `kind`
    /// instead, so that the inner and the outer packet never have the same key.
    fn inside(self, id: u32, kind: u32) -> Result<Context, Other> {
        let own = if id == 0 { kind } else { id };
        // Identifiers of nested tunnels are combined with an odd multiplier (2^32 / golden ratio).
        let overlay = match self.overlay {
            0 => own,
            outer => outer.wrapping_mul(0x9e37_79b1) ^ own,
        };
        Context { overlay, ..self }.deeper()
    }

    /// The context one level deeper in a nesting that has no overlay of its own. Every return to an earlier layer
    /// goes through this function, so no frame can exhaust the stack.
    fn deeper(self) -> Result<Context, Other> {
        if self.tunnels == MAX_TUNNELS {
            return Err(Other::OtherProtocol);
        }
        Ok(Context {
            tunnels: self.tunnels + 1,
            ..self
        })
    }

    fn numbered(self, service: Service, ends: Ends, id: u32, seq: u64, payload: usize) -> Packet {
        Packet::Numbered(
            StreamKey {
                service,
                src: ends.src,
                dst: ends.dst,
                id,
                overlay: self.overlay,
            },
            Numbered {
                ts_ns: self.ts_ns,
                frame: self.frame,
                seq,
                payload_len: u32::try_from(payload).unwrap_or(u32::MAX),
            },
        )
    }
}

/// Source and destination of a packet.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    src: Endpoint,
    dst: Endpoint,
}

/// Parses a frame without the fast path.
pub(crate) fn parse(frame: &Frame<'_>) -> Packet {
    let context = Context {
        ts_ns: frame.ts_ns,
        frame: frame.number,
        overlay: 0,
        tunnels: 0,
    };
    link::parse(frame.link, Rest::of_frame(frame), context).unwrap_or_else(Packet::Other)
}

/// The content of a tunnel.
#[derive(Clone, Copy)]
enum Inner {
    Ethernet,
    Ppp,
    /// IPv4 or IPv6, depending on the first four bits.
    Ip,
    Ipv4,
    Ipv6,
}

/// Parses the content of a tunnel with the layers above.
fn inside(inner: Inner, rest: Rest<'_>, context: Context) -> Parsed {
    match inner {
        Inner::Ethernet => link::ethernet(rest, context),
        Inner::Ppp => link::ppp(rest, context),
        Inner::Ip => ip::either(rest, context),
        Inner::Ipv4 => ip::v4(rest, context),
        Inner::Ipv6 => ip::v6(rest, context),
    }
}
