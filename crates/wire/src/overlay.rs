//! What the identifier of an overlay network in a [`FlowKey`](crate::FlowKey) stands for.
//!
//! The identifier has 32 bits. Its high byte says what the others are; only a VNI of VXLAN and long keys of GRE stand for
//! themselves.

use std::fmt;

use crate::flow::Vlan;
use crate::layer::GTP_U;

/// High bytes, and what the other 24 bits are. 0xfe is that of VLANs ([`Vlan::of_overlay`]).
mod block {
    /// The protocol number of IP, or the port of UDP (0xff01), of a tunnel without an identifier.
    pub(super) const KIND: u32 = 0xff;
    /// A mixture of the identifiers of several tunnels in one another.
    pub(super) const NESTED: u32 = 0xfd;
    /// The same, where one of them is a label or a TEID.
    pub(super) const NESTED_ONE_WAY: u32 = 0xfc;
    /// A key of GRE of at most 24 bits.
    pub(super) const GRE: u32 = 0xfb;
    /// The session of ERSPAN.
    pub(super) const ERSPAN: u32 = 0xfa;
    /// The VNI of GENEVE.
    pub(super) const GENEVE: u32 = 0xf9;
    /// The innermost label of MPLS.
    pub(super) const MPLS: u32 = 0xf8;
    /// A TEID of at most 24 bits.
    pub(super) const TEID: u32 = 0xf7;
    /// The last 24 bits of a longer one.
    pub(super) const TEID_TAIL: u32 = 0xf6;
}

/// Bits of an identifier beside the high byte.
const LOW: u32 = 0x00ff_ffff;

/// What an overlay identifier stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlay {
    /// No tunnel and no VLAN.
    None,
    /// VLANs outside of tunnels.
    Vlan(Vlan),
    /// The network identifier of VXLAN (RFC 7348 section 5).
    Vxlan(u32),
    /// The network identifier of GENEVE (RFC 8926 section 3.4).
    Geneve(u32),
    /// The key of GRE (RFC 2890 section 2.1), in which NVGRE has its subnet and a part that is each flow's own.
    Gre(u32),
    /// The session of ERSPAN.
    Erspan(u32),
    /// The innermost label of MPLS (RFC 3032 section 2.1). Each direction of a connection has its own.
    Mpls(u32),
    /// The tunnel endpoint identifier of GTP-U (3GPP TS 29.281 section 5.1), of each direction its own. Of one that has more than 24 bits only
    /// the last 24 are known, and the second field is false.
    Gtp(u32, bool),
    /// A tunnel without an identifier: a protocol number of IP.
    Protocol(u8),
    /// A tunnel without an identifier: a port of UDP.
    Port(u16),
    /// Several tunnels in one another, for which a number without a meaning of its own stands.
    Nested,
}

impl Overlay {
    /// What the overlay identifier of a key stands for.
    pub fn of(overlay: u32) -> Overlay {
        let low = overlay & LOW;
        if let Some(vlan) = Vlan::of_overlay(overlay) {
            return Overlay::Vlan(vlan);
        }
        match overlay >> 24 {
            0 if overlay == 0 => Overlay::None,
            0 => Overlay::Vxlan(overlay),
            block::KIND if low >> 16 == 1 => Overlay::Port(low as u16),
            block::KIND => Overlay::Protocol(low as u8),
            block::NESTED | block::NESTED_ONE_WAY => Overlay::Nested,
            block::GRE => Overlay::Gre(low),
            block::ERSPAN => Overlay::Erspan(low),
            block::GENEVE => Overlay::Geneve(low),
            block::MPLS => Overlay::Mpls(low),
            block::TEID => Overlay::Gtp(low, true),
            block::TEID_TAIL => Overlay::Gtp(low, false),
            _ => Overlay::Gre(overlay),
        }
    }

    /// The number by which the network goes: VNI, key, session, label or TEID; otherwise the overlay identifier itself.
    pub fn number(overlay: u32) -> u32 {
        match Overlay::of(overlay) {
            Overlay::Geneve(number)
            | Overlay::Gre(number)
            | Overlay::Erspan(number)
            | Overlay::Mpls(number)
            | Overlay::Gtp(number, _) => number,
            _ => overlay,
        }
    }

    /// The identifier of what stays the same all along a path and in both directions: without VLANs, labels and TEIDs.
    pub fn on_any_path(overlay: u32) -> u32 {
        match Overlay::of(overlay) {
            Overlay::Vlan(_) | Overlay::Mpls(_) => 0,
            Overlay::Gtp(..) => GTP_U,
            Overlay::Nested if Overlay::is_one_way(overlay) => block::NESTED_ONE_WAY << 24,
            _ => overlay,
        }
    }

    /// True if the two directions of a connection are found in different networks, as those of MPLS and GTP-U are.
    pub fn is_one_way(overlay: u32) -> bool {
        use block::{MPLS, NESTED_ONE_WAY, TEID, TEID_TAIL};
        matches!(overlay >> 24, NESTED_ONE_WAY | MPLS | TEID | TEID_TAIL)
    }
}

impl fmt::Display for Overlay {
    /// `VXLAN VNI 42`, `VLAN 10`, `GTP-U TEID 0x00001001`, `GRE`; nothing outside of tunnels and VLANs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Overlay::None => Ok(()),
            Overlay::Vlan(vlan) => write!(f, "VLAN {vlan}"),
            Overlay::Vxlan(vni) => write!(f, "VXLAN VNI {vni}"),
            Overlay::Geneve(vni) => write!(f, "GENEVE VNI {vni}"),
            Overlay::Gre(key) => write!(f, "GRE key {key}"),
            Overlay::Erspan(session) => write!(f, "ERSPAN session {session}"),
            Overlay::Mpls(label) => write!(f, "MPLS label {label}"),
            Overlay::Gtp(teid, true) => write!(f, "GTP-U TEID {teid:#010x}"),
            Overlay::Gtp(tail, false) => write!(f, "GTP-U TEID 0x..{tail:06x}"),
            Overlay::Protocol(4) => f.write_str("IP-in-IP"),
            Overlay::Protocol(41) => f.write_str("IPv6-in-IP"),
            Overlay::Protocol(47) => f.write_str("GRE"),
            Overlay::Protocol(97) => f.write_str("EtherIP"),
            Overlay::Protocol(137) => f.write_str("MPLS in IP"),
            Overlay::Protocol(number) => write!(f, "IP protocol {number}"),
            Overlay::Port(4789 | 8472) => f.write_str("VXLAN"),
            Overlay::Port(4790) => f.write_str("VXLAN-GPE"),
            Overlay::Port(6081) => f.write_str("GENEVE"),
            Overlay::Port(2152) => f.write_str("GTP-U"),
            Overlay::Port(4754) => f.write_str("GRE in UDP"),
            Overlay::Port(port) => write!(f, "UDP port {port}"),
            Overlay::Nested => f.write_str("nested tunnels"),
        }
    }
}

/// The identifier of a tunnel of GENEVE; 0 for the network 0.
pub(crate) fn geneve(vni: u32) -> u32 {
    numbered(block::GENEVE, vni)
}

/// That of a tunnel of GRE; 0 without a key. Keys that would look like another identifier lose their first bit.
pub(crate) fn gre(key: u32) -> u32 {
    match key >> 24 {
        0 => numbered(block::GRE, key),
        0xf0.. => key & 0x7fff_ffff,
        _ => key,
    }
}

/// That of a session of ERSPAN.
pub(crate) fn erspan(session: u32) -> u32 {
    block::ERSPAN << 24 | session & LOW
}

/// That of the innermost label of MPLS.
pub(crate) fn mpls(label: u32) -> u32 {
    block::MPLS << 24 | label & LOW
}

/// That of a tunnel of GTP-U.
pub(crate) fn gtp(teid: u32) -> u32 {
    let kind = if teid <= LOW {
        block::TEID
    } else {
        block::TEID_TAIL
    };
    kind << 24 | teid & LOW
}

fn numbered(kind: u32, number: u32) -> u32 {
    match number & LOW {
        0 => 0,
        low => kind << 24 | low,
    }
}

/// The overlay `own` in a tunnel whose overlay is `outer`: combined with an odd multiplier (2^32 / golden ratio).
pub(crate) fn within(outer: u32, own: u32) -> u32 {
    let mixed = outer.wrapping_mul(0x9e37_79b1) ^ own;
    let kind = match Overlay::is_one_way(own) || Overlay::is_one_way(outer) {
        true => block::NESTED_ONE_WAY,
        false => block::NESTED,
    };
    kind << 24 | (mixed ^ mixed >> 24) & LOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_network_has_its_name_and_its_number() {
        let named = |overlay| (Overlay::of(overlay).to_string(), Overlay::number(overlay));
        let is = |name: &str, number| (name.to_owned(), number);
        assert_eq!(named(42), is("VXLAN VNI 42", 42));
        assert_eq!(named(geneve(42)), is("GENEVE VNI 42", 42));
        assert_eq!(named(gre(7)), is("GRE key 7", 7));
        assert_eq!(
            named(gre(0x1234_5678)),
            is("GRE key 305419896", 0x1234_5678)
        );
        assert_eq!(named(mpls(16)), is("MPLS label 16", 16));
        assert_eq!(named(gtp(0x1001)), is("GTP-U TEID 0x00001001", 0x1001));
        assert_eq!(named(gtp(0xab00_1001)), is("GTP-U TEID 0x..001001", 0x1001));
        assert_eq!(named(erspan(5)), is("ERSPAN session 5", 5));
        assert_eq!(named(0xff00_0004), is("IP-in-IP", 0xff00_0004));
        assert_eq!(named(0xff01_0868), is("GTP-U", 0xff01_0868));
        assert_eq!(named(0), is("", 0));
        let nested = within(42, geneve(7));
        assert_eq!(named(nested), is("nested tunnels", nested));
    }

    #[test]
    fn what_differs_along_a_path_is_left_out() {
        let left = [mpls(9), gtp(9), 0xfe00_000a, 42].map(Overlay::on_any_path);
        assert_eq!(left, [0, GTP_U, 0, 42]);
        let (there, back) = (within(42, mpls(16)), within(42, mpls(17)));
        assert_eq!(Overlay::on_any_path(there), Overlay::on_any_path(back));
    }

    #[test]
    fn labels_and_endpoint_identifiers_are_of_one_direction_also_in_another_tunnel() {
        assert!(Overlay::is_one_way(mpls(3)) && Overlay::is_one_way(gtp(u32::MAX)));
        assert!(Overlay::is_one_way(within(42, gtp(1))));
        let others = [0, 42, gre(u32::MAX), geneve(9), within(7, 42)];
        assert!(!others.into_iter().any(Overlay::is_one_way));
    }
}
