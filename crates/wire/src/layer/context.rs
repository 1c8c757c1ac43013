//! What is known of the frame and of the tunnels around a header.

use super::Rest;
use crate::flow::{Endpoint, Vlan};
use crate::numbered::{Aside, InnerTcp, Numbered, StreamKey};
use crate::{Frame, Other, Packet, Service, overlay};
use std::cell::Cell;

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
    /// The label of MPLS or the TEID of GTP-U in which this is, if that is what is nearest; 0 for none.
    label: u32,
    tunnels: u8,
    /// This is a packet that an ICMP message quotes: it did not pass here, and what is left of it may end within the
    /// header of TCP.
    pub(crate) is_quoted: bool,
    /// Source and destination of the Ethernet header around, if there is one.
    pub(crate) macs: Option<[[u8; 6]; 2]>,
    /// The VLANs of the frame, or of the innermost Ethernet header in a tunnel.
    pub(crate) vlan: Vlan,
    /// IPv4 identification of the nearest IP header around; 0 if it has none.
    ip_id: u16,
    /// What was found beside the packet so far.
    asides: &'a Cell<Vec<Aside>>,
    /// Where the innermost network header so far is, if somebody wants to know.
    innermost: Option<&'a Cell<Option<Header>>>,
    layers: Layers,
}

/// Where a network header is.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    /// Address of its first byte in memory.
    pub(crate) at: usize,
    /// Captured bytes from there on.
    pub(crate) captured: usize,
    /// Their length on the wire.
    pub(crate) wire: usize,
    pub(crate) kind: u16,
    pub(crate) overlay: u32,
}

/// Parses what a header says that it contains. A packet may contain any other: the reader of one header gets this function, and
/// need not know all others.
type Layers = fn(Inner, Rest<'_>, Context<'_>) -> Parsed;

impl<'a> Context<'a> {
    /// The context of a whole frame, whose contents `layers` parses.
    pub(crate) fn of_frame(
        frame: &Frame<'_>,
        asides: &'a Cell<Vec<Aside>>,
        layers: Layers,
    ) -> Self {
        Context {
            ts_ns: frame.ts_ns,
            frame: frame.number,
            overlay: 0,
            label: 0,
            tunnels: 0,
            is_quoted: false,
            macs: None,
            vlan: Vlan::default(),
            ip_id: 0,
            asides,
            innermost: None,
            layers,
        }
    }

    /// The same, which notes where the innermost network header is.
    pub(crate) fn noting(self, innermost: &'a Cell<Option<Header>>) -> Context<'a> {
        Context {
            innermost: Some(innermost),
            ..self
        }
    }

    /// Here a network header of this EtherType begins. One that is only quoted did not pass here.
    pub(crate) fn network_header(&self, kind: u16, rest: Rest<'_>) {
        if let Some(innermost) = self.innermost.filter(|_| !self.is_quoted) {
            innermost.set(Some(Header {
                at: rest.data.as_ptr().addr(),
                captured: rest.data.len(),
                wire: rest.wire,
                kind,
                overlay: self.overlay_of_tcp(),
            }));
        }
    }

    /// The context behind an Ethernet header with this source and destination.
    pub(crate) fn on_ethernet(self, macs: [[u8; 6]; 2]) -> Context<'a> {
        Context {
            macs: Some(macs),
            vlan: Vlan::default(),
            ..self
        }
    }

    /// The context in an IP packet with this identification.
    pub(crate) fn in_packet(self, ip_id: u16) -> Context<'a> {
        Context { ip_id, ..self }
    }

    /// Parses what comes next.
    pub(crate) fn content(self, inner: Inner, rest: Rest<'_>) -> Parsed {
        (self.layers)(inner, rest, self)
    }

    /// The context inside one more tunnel. `id` distinguishes tenants. Tunnels without an identifier use `kind`
    /// instead, so that the inner and the outer packet never have the same key.
    pub(crate) fn inside(self, id: u32, kind: u32) -> Result<Context<'a>, Other> {
        let own = if id == 0 { kind } else { id };
        let overlay = match self.overlay {
            0 => own,
            outer => overlay::within(outer, own),
        };
        // The VLANs and labels around a tunnel are those of its ends.
        Context {
            overlay,
            label: 0,
            vlan: Vlan::default(),
            ..self
        }
        .deeper()
    }

    /// The context behind a label or TEID that stands for `label`. Each direction of a connection has its own, and the one of streams
    /// changes with the path, so that only what can join connections again tells networks apart by it.
    pub(crate) fn labelled(self, label: u32) -> Context<'a> {
        Context {
            label,
            vlan: Vlan::default(),
            ..self
        }
    }

    /// The overlay network that the key of a TCP connection names: that of the tunnels, of the label and of the VLANs within, or one of
    /// them alone.
    pub(crate) fn overlay_of_tcp(&self) -> u32 {
        let both = |outer, own| match (outer, own) {
            (outer, 0) => outer,
            (0, own) => own,
            (outer, own) => overlay::within(outer, own),
        };
        // The label of GTP-U says all that the tunnel does.
        let tunnels = match (self.overlay, self.label) {
            (GTP_U, label @ 1..) => label,
            (tunnels, label) => both(tunnels, label),
        };
        both(tunnels, self.vlan.overlay())
    }

    /// The context in one of several sessions of a tunnel.
    pub(crate) fn session(self, session: u32) -> Context<'a> {
        let overlay = match self.overlay {
            GRE => overlay::erspan(session),
            overlay => overlay::within(overlay, overlay::erspan(session)),
        };
        Context { overlay, ..self }
    }

    /// The context one level deeper in a nesting that has no overlay of its own. Every return to an earlier layer
    /// goes through this function, so no frame can exhaust the stack.
    pub(crate) fn deeper(self) -> Result<Context<'a>, Other> {
        if self.tunnels == MAX_TUNNELS {
            return Err(Other::TooDeep);
        }
        Ok(Context {
            tunnels: self.tunnels + 1,
            ..self
        })
    }

    /// The context of a packet that is quoted here. Errors are not sent about errors (RFC 1122 section 3.2.2), so nothing
    /// is quoted in a quotation.
    pub(crate) fn quoted(self) -> Result<Context<'a>, Other> {
        if self.is_quoted {
            return Err(Other::Icmp);
        }
        Context {
            is_quoted: true,
            ..self
        }
        .deeper()
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
            ip_id: self.ip_id,
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
    pub(crate) fn around(self, key: StreamKey, mut number: Numbered, inner: Parsed) -> Parsed {
        match inner {
            Err(_) => {}
            Ok(Packet::Numbered(key, number)) => self.aside(Aside::Numbered(key, number)),
            Ok(packet) => {
                number.inner = inner_tcp(&packet);
                self.aside(Aside::Numbered(key, number));
                return Ok(packet);
            }
        }
        Ok(Packet::Numbered(key, number))
    }

    /// Notes what is found beside the packet; of one that is only quoted nothing is.
    pub(crate) fn aside(self, aside: Aside) {
        if self.is_quoted {
            return;
        }
        let mut all = self.asides.take();
        all.push(aside);
        self.asides.set(all);
    }
}

/// The segment that a packet of a tunnel carries.
fn inner_tcp(packet: &Packet) -> Option<InnerTcp> {
    match packet {
        Packet::Tcp(key, dir, segment) | Packet::FirstFragment(key, dir, segment, _) => {
            Some(InnerTcp {
                connection: InnerTcp::name(key, *dir),
                has_data: segment.payload_len > 0,
            })
        }
        _ => None,
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

/// What comes next in a packet.
#[derive(Clone, Copy)]
pub(crate) enum Inner {
    Ethernet,
    Ppp,
    /// IPv4 or IPv6, depending on the first four bits.
    Ip,
    Ipv4,
    Ipv6,
    /// What an EtherType announces behind an Ethernet header.
    EtherType(u16),
    /// What an EtherType announces in the header of a tunnel.
    Tunnelled(u16),
}

/// The overlay identifier of a tunnel that has none: high bits that no 24-bit VNI uses, and the IP protocol number.
pub(crate) const fn kind(protocol: u8) -> u32 {
    0xff00_0000 | protocol as u32
}

/// As [`kind`], for tunnels in UDP: the port instead of the protocol number.
pub(crate) const fn kind_udp(port: u16) -> u32 {
    0xff01_0000 | port as u32
}

/// The overlay identifiers of GRE without a key, and of GTP-U.
const GRE: u32 = kind(47);
pub(crate) const GTP_U: u32 = kind_udp(2152);
