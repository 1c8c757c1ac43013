//! An address or a prefix, and one end of a flow.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use inorder_wire::Endpoint;

/// Bits by which the mapped form of an IPv4 address is longer (RFC 4291 section 2.5.5.2).
const MAPPED_BITS: u32 = 96;
/// The mapped form of 0.0.0.0.
const MAPPED: u128 = 0xffff_0000_0000;

/// All addresses that share their first bits; IPv4 addresses are in their mapped form, as in [`Endpoint`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Prefix {
    network: u128,
    mask: u128,
    is_v4: bool,
}

impl Prefix {
    /// The prefix of `addr` with `bits` bits, all of them if `None`. The error is the largest number of bits.
    pub(crate) fn new(addr: IpAddr, bits: Option<u32>) -> Result<Self, u32> {
        let (mapped, most, skipped) = match addr {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().to_bits(), 32, MAPPED_BITS),
            IpAddr::V6(v6) => (v6.to_bits(), 128, 0),
        };
        let bits = bits.unwrap_or(most);
        if bits > most {
            return Err(most);
        }
        let host_bits = 128 - skipped - bits;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Ok(Prefix {
            network: mapped & mask,
            mask,
            is_v4: addr.is_ipv4(),
        })
    }

    /// A prefix of IPv6 never holds a mapped address, not even `::/0`.
    #[inline]
    pub(crate) fn holds(&self, addr: u128) -> bool {
        let is_v4 = addr >> 32 == MAPPED >> 32;
        addr & self.mask == self.network && is_v4 == self.is_v4
    }
}

/// One end of a flow: a prefix, ports, both, or anything.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct End {
    pub(crate) prefix: Option<Prefix>,
    pub(crate) ports: Option<RangeInclusive<u16>>,
}

impl End {
    #[inline]
    pub(crate) fn holds(&self, end: Endpoint) -> bool {
        let (addr, port) = (end.addr(), end.port);
        self.prefix.is_none_or(|prefix| prefix.holds(addr))
            && self
                .ports
                .as_ref()
                .is_none_or(|ports| ports.contains(&port))
    }
}
