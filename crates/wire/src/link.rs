//! Link-layer types, numbered as in the pcap registry.

use std::fmt;

/// A pcap LINKTYPE number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: a 4-byte address family in the byte order of the capturing host.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet, with or without VLAN tags.
    pub const ETHERNET: LinkType = LinkType(1);
    /// PPP, with or without the address and control bytes.
    pub const PPP: LinkType = LinkType(9);
    /// Raw IP as some BSDs number it.
    pub const RAW_BSD: LinkType = LinkType(12);
    /// Raw IP as OpenBSD numbers it.
    pub const RAW_OPENBSD: LinkType = LinkType(14);
    /// PPP in HDLC-like framing (RFC 1662).
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// Raw IPv4 or IPv6.
    pub const RAW: LinkType = LinkType(101);
    /// OpenBSD loopback: a 4-byte address family in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux cooked capture, version 1 (the `any` device).
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// Raw IPv4.
    pub const IPV4: LinkType = LinkType(228);
    /// Raw IPv6.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// The name of a link type that [`crate::parse`] reads, or of some other well-known ones.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "BSD loopback",
            1 => "Ethernet",
            9 => "PPP",
            12 | 14 | 101 => "raw IP",
            50 => "PPP in HDLC-like framing",
            108 => "OpenBSD loopback",
            113 => "Linux cooked v1",
            228 => "raw IPv4",
            229 => "raw IPv6",
            276 => "Linux cooked v2",
            6 => "Token Ring",
            8 => "SLIP",
            10 => "FDDI",
            105 => "IEEE 802.11",
            119 => "IEEE 802.11 with Prism header",
            127 => "IEEE 802.11 with radiotap header",
            187 | 201 => "Bluetooth HCI",
            189 | 220 => "USB",
            195 | 230 => "IEEE 802.15.4",
            227 => "SocketCAN",
            239 => "Linux netfilter log",
            251 => "Bluetooth Low Energy",
            252 => "Wireshark exported PDU",
            253 => "Linux netlink",
            _ => return None,
        })
    }

    /// True if [`crate::parse`] can read frames of this type.
    pub fn is_supported(self) -> bool {
        matches!(
            self.0,
            0 | 1 | 9 | 12 | 14 | 50 | 101 | 108 | 113 | 228 | 229 | 276
        )
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "link type {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_include_the_number() {
        assert_eq!(LinkType::ETHERNET.to_string(), "Ethernet (1)");
        assert_eq!(LinkType(9999).to_string(), "link type 9999");
    }

    #[test]
    fn every_supported_type_has_a_name() {
        for number in 0..=u16::MAX {
            let link = LinkType(number);
            assert!(!link.is_supported() || link.name().is_some(), "{number}");
        }
    }
}
