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
    /// Token Ring.
    pub const TOKEN_RING: LinkType = LinkType(6);
    /// PPP, with or without the address and control bytes.
    pub const PPP: LinkType = LinkType(9);
    /// FDDI.
    pub const FDDI: LinkType = LinkType(10);
    /// Raw IP as some BSDs number it.
    pub(crate) const RAW_BSD: LinkType = LinkType(12);
    /// Raw IP as OpenBSD numbers it.
    pub(crate) const RAW_OPENBSD: LinkType = LinkType(14);
    /// PPP in HDLC-like framing (RFC 1662).
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// LLC and SNAP, as over ATM (RFC 2684).
    pub(crate) const LLC_SNAP: LinkType = LinkType(100);
    /// Raw IPv4 or IPv6.
    pub const RAW: LinkType = LinkType(101);
    /// Cisco's HDLC.
    pub const CISCO_HDLC: LinkType = LinkType(104);
    /// IEEE 802.11.
    pub const IEEE_802_11: LinkType = LinkType(105);
    /// Frame Relay.
    pub const FRAME_RELAY: LinkType = LinkType(107);
    /// OpenBSD loopback: a 4-byte address family in network byte order.
    pub(crate) const LOOP: LinkType = LinkType(108);
    /// Linux cooked capture, version 1 (the `any` device).
    pub(crate) const LINUX_SLL: LinkType = LinkType(113);
    /// IEEE 802.11 behind a header of Prism cards, or of AVS, which some drivers put under the same number.
    pub const IEEE_802_11_PRISM: LinkType = LinkType(119);
    /// IEEE 802.11 behind a header of radiotap.
    pub const IEEE_802_11_RADIOTAP: LinkType = LinkType(127);
    /// IEEE 802.11 behind a header of AVS.
    pub const IEEE_802_11_AVS: LinkType = LinkType(163);
    /// Per-packet information, read where a frame of IEEE 802.11 is behind it.
    pub const PPI: LinkType = LinkType(192);
    /// Raw IPv4.
    pub const IPV4: LinkType = LinkType(228);
    /// Raw IPv6.
    pub const IPV6: LinkType = LinkType(229);
    /// Packets that Linux's firewall logged, in attributes.
    pub const NFLOG: LinkType = LinkType(239);
    /// Linux cooked capture, version 2.
    pub(crate) const LINUX_SLL2: LinkType = LinkType(276);

    /// The name of a link type that [`crate::parse`] reads, or of another one of tcpdump's registry.
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
            104 => "Cisco HDLC",
            239 => "Linux netfilter log",
            107 => "Frame Relay",
            100 => "LLC and SNAP over ATM",
            127 => "IEEE 802.11 with radiotap header",
            105 => "IEEE 802.11",
            10 => "FDDI",
            6 => "Token Ring",
            8 => "SLIP",
            119 => "IEEE 802.11 with Prism header",
            187 | 201 => "Bluetooth HCI",
            189 | 220 => "USB",
            195 | 230 => "IEEE 802.15.4",
            227 => "SocketCAN",
            251 => "Bluetooth Low Energy",
            252 => "Wireshark exported PDU",
            253 => "Linux netlink",
            3 => "AX.25",
            7 => "ARCNET",
            51 => "PPPoE session",
            106 => "ATM in Linux",
            114 => "LocalTalk",
            117 => "OpenBSD pflog",
            122 => "IP over Fibre Channel",
            123 => "ATM of SunATM",
            129 => "ARCNET of Linux",
            138 => "Apple IP over IEEE 1394",
            139 => "MTP2 with pseudo-header",
            140 => "MTP2",
            141 => "MTP3",
            142 => "SCCP",
            143 => "DOCSIS",
            144 => "Linux IrDA",
            163 => "IEEE 802.11 with AVS header",
            165 => "BACnet MS/TP",
            169 => "GPRS LLC",
            177 => "Linux LAPD",
            192 => "per-packet information",
            197 => "ERF",
            199 => "IPMB of Kontron",
            202 => "AX.25 with KISS header",
            204 => "PPP with a direction",
            205 => "Cisco HDLC with a direction",
            206 => "Frame Relay with a direction",
            209 => "I2C of Linux",
            212 => "LIN",
            215 => "IEEE 802.15.4 with PHY header",
            224 => "Fibre Channel FC-2",
            225 => "Fibre Channel FC-2 with delimiters",
            226 => "Solaris IPNET",
            231 => "D-Bus",
            236 => "MUX27010",
            240 => "netANALYZER",
            241 => "netANALYZER, transparent",
            242 => "IP over InfiniBand",
            243 => "MPEG-2 transport stream",
            245 => "NFC LLCP",
            247 => "InfiniBand",
            248 => "SCTP",
            249 => "USBPcap",
            250 => "RTAC serial",
            254 => "Bluetooth monitor of Linux",
            255 => "Bluetooth BR/EDR baseband",
            256 => "Bluetooth Low Energy with pseudo-header",
            257 => "PROFIBUS",
            258 => "Apple PKTAP",
            259 => "EPON",
            261 | 262 => "Z-Wave",
            265 => "RDS",
            266 => "USB of Darwin",
            270 => "LoRaTap",
            272 => "Bluetooth Low Energy of Nordic's sniffer",
            273 => "DOCSIS of Excentis",
            274 => "Ethernet with mPackets",
            277 => "SERCOS monitor",
            279 => "EBHSCR",
            280 => "VPP dispatch trace",
            281 | 282 => "Ethernet with a tag of Broadcom's switches",
            283 => "IEEE 802.15.4 with TAP header",
            284 | 285 => "Ethernet with a tag of Marvell's switches",
            288 => "USB 2.0",
            289 => "ATSC ALP",
            290 => "Windows event tracing",
            291 => "netANALYZER NG",
            293 => "USB 2.0 low speed",
            294 => "USB 2.0 full speed",
            295 => "USB 2.0 high speed",
            298 => "Silicon Labs debug channel",
            299 => "FIRA UCI",
            301 => "DECT NR",
            _ => return None,
        })
    }

    /// True if [`crate::parse`] can read frames of this type.
    pub fn is_supported(self) -> bool {
        matches!(
            self,
            LinkType::NULL
                | LinkType::ETHERNET
                | LinkType::TOKEN_RING
                | LinkType::PPP
                | LinkType::FDDI
                | LinkType::RAW_BSD
                | LinkType::RAW_OPENBSD
                | LinkType::PPP_HDLC
                | LinkType::LLC_SNAP
                | LinkType::RAW
                | LinkType::CISCO_HDLC
                | LinkType::IEEE_802_11
                | LinkType::FRAME_RELAY
                | LinkType::LOOP
                | LinkType::LINUX_SLL
                | LinkType::IEEE_802_11_RADIOTAP
                | LinkType::IEEE_802_11_PRISM
                | LinkType::IEEE_802_11_AVS
                | LinkType::PPI
                | LinkType::IPV4
                | LinkType::IPV6
                | LinkType::NFLOG
                | LinkType::LINUX_SLL2
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

    /// Numbers and names as in tcpdump's registry (`pcap-common.c` of libpcap).
    #[test]
    fn numbers_that_stand_for_something_else_than_their_neighbours() {
        for (number, name) in [
            (199, "IPMB of Kontron"),
            (245, "NFC LLCP"),
            (255, "Bluetooth BR/EDR baseband"),
            (261, "Z-Wave"),
            (265, "RDS"),
            (270, "LoRaTap"),
            (272, "Bluetooth Low Energy of Nordic's sniffer"),
            (273, "DOCSIS of Excentis"),
            (277, "SERCOS monitor"),
            (279, "EBHSCR"),
            (284, "Ethernet with a tag of Marvell's switches"),
            (298, "Silicon Labs debug channel"),
            (299, "FIRA UCI"),
            (301, "DECT NR"),
        ] {
            assert_eq!(LinkType(number).name(), Some(name), "{number}");
        }
    }

    #[test]
    fn every_supported_type_has_a_name() {
        for number in 0..=u16::MAX {
            let link = LinkType(number);
            assert!(!link.is_supported() || link.name().is_some(), "{number}");
        }
    }
}
