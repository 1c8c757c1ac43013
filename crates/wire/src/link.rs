//! Link-layer types, numbered as in the pcap registry.

use std::fmt;

/// A pcap LINKTYPE number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkType(pub u16);

/// Declares the link types that [`crate::parse`] reads: what each is, its number and its name.
macro_rules! link_types {
    ($($(#[$doc:meta])+ $vis:vis $link:ident = $number:literal, $name:literal;)+) => {
        impl LinkType {
            $($(#[$doc])+ $vis const $link: LinkType = LinkType($number);)+

            /// The name of a link type that [`crate::parse`] reads.
            fn name_if_read(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($name),)+
                    _ => None,
                }
            }
        }
    };
}

link_types! {
    /// BSD loopback: a 4-byte address family in the byte order of the capturing host.
    pub NULL = 0, "BSD loopback";
    /// Ethernet, with or without VLAN tags.
    pub ETHERNET = 1, "Ethernet";
    /// Token Ring.
    pub TOKEN_RING = 6, "Token Ring";
    /// PPP, with or without the address and control bytes.
    pub PPP = 9, "PPP";
    /// FDDI.
    pub FDDI = 10, "FDDI";
    /// Raw IP as some BSDs number it.
    pub(crate) RAW_BSD = 12, "raw IP";
    /// Raw IP as OpenBSD numbers it.
    pub(crate) RAW_OPENBSD = 14, "raw IP";
    /// PPP in HDLC-like framing (RFC 1662).
    pub PPP_HDLC = 50, "PPP in HDLC-like framing";
    /// LLC and SNAP, as over ATM (RFC 2684).
    pub(crate) LLC_SNAP = 100, "LLC and SNAP over ATM";
    /// Raw IPv4 or IPv6.
    pub RAW = 101, "raw IP";
    /// Cisco's HDLC.
    pub CISCO_HDLC = 104, "Cisco HDLC";
    /// IEEE 802.11.
    pub IEEE_802_11 = 105, "IEEE 802.11";
    /// Frame Relay.
    pub FRAME_RELAY = 107, "Frame Relay";
    /// OpenBSD loopback: a 4-byte address family in network byte order.
    pub(crate) LOOP = 108, "OpenBSD loopback";
    /// Linux cooked capture, version 1 (the `any` device).
    pub(crate) LINUX_SLL = 113, "Linux cooked v1";
    /// IEEE 802.11 behind a header of Prism cards, or of AVS, which some drivers put under the same number.
    pub IEEE_802_11_PRISM = 119, "IEEE 802.11 with Prism header";
    /// IEEE 802.11 behind a header of radiotap.
    pub IEEE_802_11_RADIOTAP = 127, "IEEE 802.11 with radiotap header";
    /// IEEE 802.11 behind a header of AVS.
    pub IEEE_802_11_AVS = 163, "IEEE 802.11 with AVS header";
    /// Per-packet information, read where a frame of IEEE 802.11 is behind it.
    pub PPI = 192, "per-packet information";
    /// Raw IPv4.
    pub IPV4 = 228, "raw IPv4";
    /// Raw IPv6.
    pub IPV6 = 229, "raw IPv6";
    /// Packets that Linux's firewall logged, in attributes.
    pub NFLOG = 239, "Linux netfilter log";
    /// Linux cooked capture, version 2.
    pub(crate) LINUX_SLL2 = 276, "Linux cooked v2";
}

impl LinkType {
    /// The name of a link type that [`crate::parse`] reads, or of another one of tcpdump's registry.
    pub fn name(self) -> Option<&'static str> {
        self.name_if_read().or_else(|| self.name_of_other())
    }

    /// True if [`crate::parse`] can read frames of this type.
    pub fn is_supported(self) -> bool {
        self.name_if_read().is_some()
    }

    fn name_of_other(self) -> Option<&'static str> {
        Some(match self.0 {
            8 => "SLIP",
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
            165 => "BACnet MS/TP",
            169 => "GPRS LLC",
            177 => "Linux LAPD",
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
}
