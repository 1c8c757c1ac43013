//! A parsed expression and its evaluation.

use inorder_wire::{Endpoint, Overlay, Service, Vlan};

use crate::prefix::End;

/// What is known of a flow.
pub(crate) struct Facts {
    /// `None` for TCP.
    pub(crate) service: Option<Service>,
    /// The protocol of IP, where that is all that is known.
    pub(crate) protocol: Option<u8>,
    pub(crate) src: Endpoint,
    pub(crate) dst: Endpoint,
    pub(crate) overlay: u32,
}

impl Facts {
    #[inline]
    pub(crate) fn tcp(src: Endpoint, dst: Endpoint, overlay: u32) -> Self {
        Facts {
            service: None,
            protocol: None,
            src,
            dst,
            overlay,
        }
    }

    fn vlan(&self) -> Option<Vlan> {
        Vlan::of_overlay(self.overlay)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expr {
    Not(Box<Expr>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Term(Term),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    Protocol(Protocol),
    Overlay(u32),
    /// One of the VLAN tags.
    Vlan(u16),
    /// The source, the destination, or one of them.
    Src(End),
    Dst(End),
    Either(End),
    /// Source and destination.
    Directed(End, End),
    /// Packets between two ends, in both directions.
    Between(End, End),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Protocol {
    Tcp,
    /// Every numbered service that UDP carries.
    Udp,
    Service(Service),
    V4,
    V6,
}

impl Protocol {
    /// Every protocol with its name.
    pub(crate) fn all() -> impl Iterator<Item = (&'static str, Protocol)> {
        let services = Service::ALL.iter();
        [
            ("tcp", Protocol::Tcp),
            ("udp", Protocol::Udp),
            ("ipv4", Protocol::V4),
            ("ipv6", Protocol::V6),
        ]
        .into_iter()
        .chain(services.map(|service| (service.name(), Protocol::Service(*service))))
    }

    fn holds(self, facts: &Facts) -> bool {
        const TCP: u8 = 6;
        const UDP: u8 = 17;
        match self {
            Protocol::Tcp if facts.protocol.is_some() => facts.protocol == Some(TCP),
            Protocol::Udp if facts.protocol.is_some() => facts.protocol == Some(UDP),
            Protocol::Tcp => matches!(facts.service, None | Some(Service::Mptcp)),
            // Some services have no ports where IP carries them itself.
            Protocol::Udp => facts.service.is_some_and(Service::is_over_udp) && facts.dst.port != 0,
            Protocol::Service(service) => facts.service == Some(service),
            Protocol::V4 => facts.src.socket_addr().is_ipv4(),
            Protocol::V6 => facts.src.as_mac().is_none() && facts.src.socket_addr().is_ipv6(),
        }
    }
}

impl Expr {
    pub(crate) fn holds(&self, facts: &Facts) -> bool {
        match self {
            Expr::Not(inner) => !inner.holds(facts),
            Expr::All(parts) => parts.iter().all(|part| part.holds(facts)),
            Expr::Any(parts) => parts.iter().any(|part| part.holds(facts)),
            Expr::Term(term) => term.holds(facts),
        }
    }
}

impl Term {
    fn holds(&self, facts: &Facts) -> bool {
        let (src, dst) = (facts.src, facts.dst);
        match self {
            Term::Protocol(protocol) => protocol.holds(facts),
            // A VLAN is no tunnel.
            Term::Overlay(0) => facts.overlay == 0 || facts.vlan().is_some(),
            Term::Overlay(overlay) => {
                facts.overlay == *overlay || Overlay::number(facts.overlay) == *overlay
            }
            Term::Vlan(id) => facts
                .vlan()
                .is_some_and(|vlan| [vlan.inner, vlan.outer].contains(id)),
            Term::Src(end) => end.holds(src),
            Term::Dst(end) => end.holds(dst),
            Term::Either(end) => end.holds(src) || end.holds(dst),
            Term::Directed(from, to) => from.holds(src) && to.holds(dst),
            Term::Between(a, b) => (a.holds(src) && b.holds(dst)) || (a.holds(dst) && b.holds(src)),
        }
    }
}
