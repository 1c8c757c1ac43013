//! The key of a connection, which both directions share.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::overlay::Overlay;

/// One end of a connection; IPv4 addresses are stored in their IPv4-mapped IPv6 form.
///
/// Packed, so that a key takes 44 bytes and a parsed packet takes two cache lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(C, packed(4))]
pub struct Endpoint {
    /// Upper half of the address, network byte order read as one big-endian number.
    pub(crate) high: u64,
    /// Lower half.
    pub(crate) low: u64,
    /// Port (0 for protocols without ports).
    pub port: u16,
}

/// Upper half of the addresses that stand for those of network cards.
const MAC_BLOCK: u64 = 0x0100 << 48;

impl From<SocketAddr> for Endpoint {
    fn from(of: SocketAddr) -> Self {
        match of.ip() {
            IpAddr::V4(v4) => Endpoint::v4(v4.to_bits(), of.port()),
            IpAddr::V6(v6) => Endpoint::v6(v6.to_bits(), of.port()),
        }
    }
}

impl fmt::Display for Endpoint {
    /// As [`SocketAddr`], with its port; the address of a network card as `2:0:0:0:0:1` with two digits each; `*` for
    /// `Endpoint::ANY_MAC`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_mac() {
            None => self.socket_addr().fmt(f),
            Some([0, 0, 0, 0, 0, 0]) => f.write_str("*"),
            Some([a, b, c, d, e, g]) => {
                write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
            }
        }
    }
}

impl Endpoint {
    /// An endpoint from an IPv4 address given as a big-endian number.
    #[inline]
    pub fn v4(addr: u32, port: u16) -> Self {
        Endpoint {
            high: 0,
            low: 0xffff_0000_0000 | u64::from(addr),
            port,
        }
    }

    /// An endpoint from an IPv6 address given as a big-endian number.
    #[inline]
    pub fn v6(addr: u128, port: u16) -> Self {
        Endpoint {
            high: (addr >> 64) as u64,
            low: addr as u64,
            port,
        }
    }

    /// The destination of frames that are numbered whatever their destination.
    pub(crate) const ANY_MAC: Endpoint = Endpoint {
        high: MAC_BLOCK,
        low: 0,
        port: 0,
    };

    /// An endpoint of a service below IP, from the address of a network card. It is stored as an IPv6 address of the
    /// block 100::/64, which no packet may have (RFC 6666).
    pub fn mac(bytes: [u8; 6]) -> Self {
        let low = bytes
            .iter()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
        Endpoint {
            high: MAC_BLOCK,
            low,
            port: 0,
        }
    }

    /// The address of a network card; `None` if the endpoint is not such an address.
    pub fn as_mac(&self) -> Option<[u8; 6]> {
        let [0, 0, mac @ ..] = self.low.to_be_bytes() else {
            return None;
        };
        (self.high == MAC_BLOCK).then_some(mac)
    }

    /// The same address with this port.
    #[must_use]
    pub fn with_port(self, port: u16) -> Self {
        Endpoint { port, ..self }
    }

    /// Address, network byte order read as one big-endian number.
    #[inline]
    pub fn addr(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// An address of several hosts: multicast (RFC 5771, RFC 4291 section 2.7), or the limited broadcast (RFC 919 section 7).
    pub(crate) fn is_group(&self) -> bool {
        match self.socket_addr().ip() {
            IpAddr::V4(v4) => v4.is_multicast() || v4.is_broadcast(),
            IpAddr::V6(v6) => v6.is_multicast(),
        }
    }

    /// The standard library's type; prints `1.2.3.4:5` or `[::1]:5`.
    pub fn socket_addr(&self) -> SocketAddr {
        let v6 = Ipv6Addr::from(self.addr());
        let ip = v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4);
        SocketAddr::new(ip, self.port)
    }
}

/// The direction of a packet within its connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// From the key's `low` endpoint to its `high` one.
    LowToHigh,
    /// From `high` to `low`.
    HighToLow,
}

impl Dir {
    /// 0 or 1, for arrays of the two directions.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The opposite direction.
    #[inline]
    pub fn reverse(self) -> Dir {
        match self {
            Dir::LowToHigh => Dir::HighToLow,
            Dir::HighToLow => Dir::LowToHigh,
        }
    }
}

/// High byte of [`FlowKey::overlay`] where it stands for the VLAN tags of a frame: a VXLAN network identifier has 24
/// bits, and what stands for tunnels without an identifier begins with 0xff.
const VLAN_BLOCK: u32 = 0xfe00_0000;

/// The VLANs of a frame that is in no tunnel (IEEE 802.1Q): of stacked tags, the two innermost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Vlan {
    /// Identifier of the tag in front of the innermost one, 0 for none.
    pub outer: u16,
    /// Identifier of the innermost tag.
    pub inner: u16,
}

impl Vlan {
    /// The VLANs for which the overlay identifier of a [`FlowKey`] stands; `None` for that of a tunnel, and for 0.
    pub fn of_overlay(overlay: u32) -> Option<Vlan> {
        let tags = overlay ^ VLAN_BLOCK;
        (tags >> 24 == 0 && tags != 0).then_some(Vlan {
            outer: (tags >> 12) as u16 & 0xfff,
            inner: tags as u16 & 0xfff,
        })
    }

    /// The overlay identifier that stands for it; 0 for the identifier 0, which is a priority and no VLAN.
    #[inline]
    pub(crate) fn overlay(self) -> u32 {
        match u32::from(self.outer & 0xfff) << 12 | u32::from(self.inner & 0xfff) {
            0 => 0,
            tags => VLAN_BLOCK | tags,
        }
    }

    /// The VLANs behind one more tag, whose identifier is `id`.
    #[inline]
    pub(crate) fn within(self, id: u16) -> Vlan {
        match id & 0xfff {
            0 => self,
            inner => Vlan {
                outer: self.inner,
                inner,
            },
        }
    }
}

impl fmt::Display for Vlan {
    /// `10`, or `100.10` for stacked tags.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outer {
            0 => write!(f, "{}", self.inner),
            outer => write!(f, "{outer}.{}", self.inner),
        }
    }
}

/// The 4-tuple with its endpoints in a fixed order, so that both directions have the same key.
#[derive(Clone, Copy, Eq, PartialOrd, Ord, Default, Debug)]
pub struct FlowKey {
    /// The smaller endpoint.
    pub low: Endpoint,
    /// The larger endpoint.
    pub high: Endpoint,
    /// Identifier of the overlay network in which the packet was found ([`Overlay`]: VXLAN VNI, GRE key, ...; outside of
    /// tunnels the [`Vlan`]), 0 for none, so that tenants with equal addresses have different keys.
    pub overlay: u32,
}

impl PartialEq for FlowKey {
    /// One branch for all fields: keys that are compared are mostly equal.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.same_ends(other, self.overlay ^ other.overlay)
    }
}

impl Hash for FlowKey {
    /// All fields at once: of a hash with a key, most of the instructions are those of each call.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let words = self.words(Dir::LowToHigh).map(u64::to_ne_bytes);
        state.write(words.as_flattened());
    }
}

impl FlowKey {
    /// True if addresses and ports are the same and `different` is 0: one branch for all of it.
    #[inline]
    fn same_ends(&self, other: &Self, different: u32) -> bool {
        let ports = |key: &Self| u32::from(key.low.port) << 16 | u32::from(key.high.port);
        let low = (self.low.high ^ other.low.high) | (self.low.low ^ other.low.low);
        let high = (self.high.high ^ other.high.high) | (self.high.low ^ other.high.low);
        let rest = (ports(self) ^ ports(other)) | different;
        low | high | u64::from(rest) == 0
    }

    /// This key in another overlay network.
    #[must_use]
    pub fn in_overlay(self, overlay: u32) -> FlowKey {
        FlowKey { overlay, ..self }
    }

    /// This key without the VLAN, label or TEID in which it was seen: another capture point may see the connection in another one.
    #[must_use]
    pub fn on_any_path(self) -> FlowKey {
        self.in_overlay(Overlay::on_any_path(self.overlay))
    }

    /// True if `other` has the same addresses and ports as this key and was found in the overlay network `overlay`,
    /// instead of this key's.
    #[inline]
    pub fn is_in(&self, other: &FlowKey, overlay: u32) -> bool {
        self.same_ends(other, other.overlay ^ overlay)
    }

    /// The key and the direction of a packet from `src` to `dst`.
    #[inline]
    pub fn new(src: Endpoint, dst: Endpoint, overlay: u32) -> (FlowKey, Dir) {
        // Conditional moves instead of branches: directions alternate, so branches would be mispredicted.
        let swap = src > dst;
        let (low, high) = if swap { (dst, src) } else { (src, dst) };
        let dir = if swap { Dir::HighToLow } else { Dir::LowToHigh };
        (FlowKey { low, high, overlay }, dir)
    }

    /// As [`FlowKey::new`] for two IPv4 endpoints, with addresses as big-endian numbers: each endpoint fits in one
    /// word.
    #[inline(always)]
    pub(crate) fn v4(src: (u32, u16), dst: (u32, u16)) -> (FlowKey, Dir) {
        let pack = |(addr, port)| u64::from(addr) << 16 | u64::from(port);
        let unpack = |word: u64| Endpoint::v4((word >> 16) as u32, word as u16);
        let (src, dst) = (pack(src), pack(dst));
        let key = FlowKey {
            low: unpack(src.min(dst)),
            high: unpack(src.max(dst)),
            overlay: 0,
        };
        let swap = src > dst;
        (key, if swap { Dir::HighToLow } else { Dir::LowToHigh })
    }

    /// Source and destination of packets in direction `dir`.
    pub fn ends(&self, dir: Dir) -> (Endpoint, Endpoint) {
        match dir {
            Dir::LowToHigh => (self.low, self.high),
            Dir::HighToLow => (self.high, self.low),
        }
    }

    /// A fast hash that costs one multiplication. Only the upper half of its bits is usable. It distinguishes most
    /// keys of one capture, but does not withstand keys chosen to collide.
    #[inline]
    pub fn rough_hash(&self) -> u64 {
        // The lower halves of the addresses differ, for IPv6 as well as for IPv4.
        let (low, high) = (self.low.low, self.high.low);
        // Not shifted by 16: the compiler would then load the port together with the bytes behind it, and a load that
        // is wider than the preceding store must wait for the store to retire.
        let ports = u64::from(self.low.port) << 20 ^ u64::from(self.high.port);
        // 2^64 divided by the golden ratio spreads consecutive numbers.
        (low ^ high.rotate_left(32) ^ ports).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Addresses, ports and overlay network of one direction as words, for a hash with a key: the lower and then the upper
    /// halves of source and destination, and the rest.
    #[inline]
    pub fn words(&self, dir: Dir) -> [u64; 5] {
        let (src, dst) = self.ends(dir);
        let rest = u64::from(src.port) << 48 | u64::from(dst.port) << 32 | u64::from(self.overlay);
        [src.low, dst.low, src.high, dst.high, rest]
    }
}
