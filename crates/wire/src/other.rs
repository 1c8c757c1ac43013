//! Frames that cannot be analysed, and what they are, with the names of the registries.

use std::fmt;

use crate::flow::FlowKey;
use crate::link::LinkType;

/// Why a frame cannot be analysed.
///
/// Prints what follows the number of such frames in messages: `not IP: ARP (EtherType 0x0806)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Other {
    /// Not IP, and nothing says what it is by a number (LLC, an address family other than IP).
    NotIp,
    /// Not IP but what this EtherType stands for.
    EtherType(u16),
    /// Not IP but what this protocol number of PPP stands for.
    Ppp(u16),
    /// IP with this protocol number, which is neither TCP nor that of a numbered service.
    Protocol(u8),
    /// UDP in which no numbered service was recognised, between these two ends.
    Udp(FlowKey),
    /// A packet of a numbered service that carries no number itself.
    Unnumbered,
    /// ICMP or ICMPv6, but no echo; what an error says of a TCP segment comes as
    /// [`Aside::Complaint`](crate::Aside::Complaint).
    Icmp,
    /// A first fragment that is too short for the headers that it begins with.
    Fragment,
    /// A fragment of a datagram with this protocol number, of which the capture lacks a fragment; of other protocols than
    /// TCP only the fragments behind the first, which counts for itself. Counted by [`Fragments`](crate::Fragments).
    Incomplete(u8),
    /// A fragment behind the first of a whole datagram with this protocol number, which is not TCP. Counted by
    /// [`Fragments`](crate::Fragments).
    Further(u8),
    /// In more tunnels than are followed.
    TooDeep,
    /// The capture's snap length cut the headers.
    Truncated,
    /// A length or version field is inconsistent with the packet.
    Malformed,
    /// Of a link type that this crate cannot read.
    UnknownLink(LinkType),
    /// Encrypted by the link layer.
    Encrypted,
    /// A frame of IEEE 802.11 without data: management, control, or empty.
    WithoutData,
    /// A frame of IEEE 802.11 that holds several packets (A-MSDU), which are not read.
    Aggregate,
    /// A later fragment of IEEE 802.11, which are not put together.
    WirelessFragment,
    /// Not selected itself: only something in it is, a tunnel around or an acknowledgement.
    Unselected,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbered = |f: &mut fmt::Formatter<'_>, name: Option<&str>, number: String| match name {
            Some(name) => write!(f, "{name} ({number})"),
            None => f.write_str(&number),
        };
        match *self {
            Other::NotIp => f.write_str("not IP"),
            Other::EtherType(number) => {
                f.write_str("not IP: ")?;
                numbered(f, ether_type(number), format!("EtherType {number:#06x}"))
            }
            Other::Ppp(number) => {
                f.write_str("not IP: ")?;
                numbered(f, ppp(number), format!("PPP protocol {number:#06x}"))
            }
            Other::Protocol(number) => {
                f.write_str("neither TCP nor a numbered service: ")?;
                numbered(f, protocol(number), format!("IP protocol {number}"))
            }
            Other::Udp(_) => f.write_str("UDP of no numbered service"),
            Other::Unnumbered => f.write_str("of a numbered service, without a number"),
            Other::Icmp => f.write_str("ICMP other than echo"),
            Other::Fragment => f.write_str("in fragments too short for their headers"),
            Other::Incomplete(6) => {
                f.write_str("in fragments of TCP segments of which others are missing")
            }
            Other::Incomplete(number) => write!(
                f,
                "in further fragments of {} datagrams of which others are missing",
                Numbered(number)
            ),
            Other::Further(number) => {
                write!(
                    f,
                    "in further fragments of whole {} datagrams",
                    Numbered(number)
                )
            }
            Other::TooDeep => f.write_str("in too many tunnels"),
            Other::Truncated => f.write_str("cut before the end of the headers"),
            Other::Malformed => f.write_str("malformed"),
            Other::UnknownLink(link) => write!(f, "of a link type that is not read: {link}"),
            Other::Encrypted => f.write_str("encrypted by the link layer"),
            Other::WithoutData => f.write_str("IEEE 802.11 without data (management, control)"),
            Other::Aggregate => f.write_str("several packets in one frame of IEEE 802.11 (A-MSDU)"),
            Other::WirelessFragment => f.write_str("further fragments of IEEE 802.11"),
            Other::Unselected => f.write_str("selected only in part"),
        }
    }
}

/// The name of a protocol of IP, or its number.
struct Numbered(u8);

impl fmt::Display for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match protocol(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "IP protocol {}", self.0),
        }
    }
}

/// Names of IANA's registry "Assigned Internet Protocol Numbers", of the protocols that captures have.
fn protocol(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "ICMP",
        2 => "IGMP",
        6 => "TCP",
        8 => "EGP",
        9 => "IGP",
        17 => "UDP",
        27 => "RDP",
        33 => "DCCP",
        46 => "RSVP",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        55 => "minimal IP encapsulation",
        58 => "ICMPv6",
        59 => "no next header",
        88 => "EIGRP",
        89 => "OSPF",
        94 => "IPIP",
        98 => "ENCAP",
        103 => "PIM",
        108 => "IPComp",
        112 => "VRRP",
        115 => "L2TPv3",
        124 => "IS-IS over IPv4",
        132 => "SCTP",
        135 => "Mobility Header",
        136 => "UDP-Lite",
        139 => "HIP",
        140 => "Shim6",
        143 => "Ethernet",
        _ => return None,
    })
}

/// Names of IANA's registry "IEEE 802 Numbers", of the EtherTypes that captures have.
fn ether_type(number: u16) -> Option<&'static str> {
    Some(match number {
        0x0806 => "ARP",
        0x0842 => "Wake-on-LAN",
        0x2000 => "CDP",
        0x22f0 => "AVTP",
        0x22f3 => "TRILL",
        0x6558 => "Ethernet",
        0x8035 => "RARP or Cisco's keep-alive",
        0x809b => "AppleTalk",
        0x80f3 => "AppleTalk ARP",
        0x8137 => "IPX",
        0x8808 => "Ethernet flow control",
        0x8809 => "slow protocols, as LACP",
        0x880b => "PPP",
        0x8847 | 0x8848 => "MPLS",
        0x8863 => "PPPoE discovery",
        0x8864 => "PPPoE",
        0x888e => "EAPOL",
        0x8892 => "PROFINET",
        0x88a4 => "EtherCAT",
        0x88b7 => "OUI-extended",
        0x88b8 => "GOOSE",
        0x88ba => "IEC 61850 sampled values",
        0x88cc => "LLDP",
        0x88cd => "SERCOS III",
        0x88e1 => "HomePlug",
        0x88e3 => "MRP",
        0x88e5 => "MACsec",
        0x88e7 => "PBB",
        0x88f5 => "MVRP",
        0x88f7 => "PTP",
        0x88fb => "PRP supervision",
        0x8902 => "CFM",
        0x8906 => "FCoE",
        0x8914 => "FCoE initialization",
        0x8915 => "RoCE",
        0x892f => "HSR",
        0x894f => "NSH",
        0x9000 => "loopback test",
        0xf1c1 => "802.1CB tag",
        _ => return None,
    })
}

/// Names of IANA's registry "PPP DLL Protocol Numbers", of the protocols that captures have.
fn ppp(number: u16) -> Option<&'static str> {
    Some(match number {
        0x002b => "IPX",
        0x002d => "TCP with compressed headers",
        0x002f => "TCP with uncompressed headers",
        0x003d => "multilink",
        0x00fb | 0x00fd => "compressed datagram",
        0x8021 => "IPCP",
        0x8057 => "IPv6CP",
        0x80fd => "CCP",
        0x8281 => "MPLSCP",
        0xc021 => "LCP",
        0xc023 => "PAP",
        0xc025 => "link quality report",
        0xc223 => "CHAP",
        0xc227 => "EAP",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for (other, expected) in [
            (Other::EtherType(0x0806), "not IP: ARP (EtherType 0x0806)"),
            (Other::EtherType(0x1234), "not IP: EtherType 0x1234"),
            (Other::Ppp(0xc021), "not IP: LCP (PPP protocol 0xc021)"),
            (
                Other::Protocol(89),
                "neither TCP nor a numbered service: OSPF (IP protocol 89)",
            ),
            (
                Other::Protocol(253),
                "neither TCP nor a numbered service: IP protocol 253",
            ),
            (
                Other::UnknownLink(LinkType(189)),
                "of a link type that is not read: USB (189)",
            ),
            (
                Other::UnknownLink(LinkType(9999)),
                "of a link type that is not read: link type 9999",
            ),
            (Other::Encrypted, "encrypted by the link layer"),
            (
                Other::WithoutData,
                "IEEE 802.11 without data (management, control)",
            ),
            (
                Other::Aggregate,
                "several packets in one frame of IEEE 802.11 (A-MSDU)",
            ),
            (Other::WirelessFragment, "further fragments of IEEE 802.11"),
            (
                Other::Incomplete(6),
                "in fragments of TCP segments of which others are missing",
            ),
            (
                Other::Further(17),
                "in further fragments of whole UDP datagrams",
            ),
            (
                Other::Incomplete(253),
                "in further fragments of IP protocol 253 datagrams of which others are missing",
            ),
        ] {
            assert_eq!(other.to_string(), expected);
        }
    }
}
