//! The services whose packets are numbered: one file for each, which declares it and parses it.

mod dtls;
mod esp;
mod gre;
mod gtp_u;
mod hsr;
mod icmp_echo;
mod l2tpv3;
mod macsec;
mod mptcp;
pub(crate) mod prp;
mod rocev2;
mod rtag;
mod rtp;
mod sctp;
mod stamp;
mod uet;
mod wireguard;

pub use icmp_echo::Asker;

use crate::layer::{Context, Ends, Network, Parsed, Rest};

/// A service: its file in this folder, its variant of [`Service`].
macro_rules! services {
    ($($module:ident::$service:ident,)*) => {
        /// A service whose packets are numbered.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs)] // `Service::about` says what each one is.
        pub enum Service {
            $($service,)*
        }

        impl Service {
            /// All services.
            pub const ALL: &[Service] = &[$(Service::$service,)*];

            fn declared(self) -> &'static Declared {
                match self {
                    $(Service::$service => &$module::SERVICE,)*
                }
            }
        }
    };
}

// Of the services in UDP that a packet could belong to, the first one here takes it: those recognised by a port, then
// those by content, the strictest first.
services! {
    esp::Esp,
    rocev2::RoceV2,
    uet::Uet,
    sctp::Sctp,
    gtp_u::GtpU,
    gre::Gre,
    l2tpv3::L2tpV3,
    wireguard::WireGuard,
    dtls::Dtls,
    stamp::Stamp,
    rtp::Rtp,
    icmp_echo::IcmpEcho,
    mptcp::Mptcp,
    macsec::MacSec,
    hsr::Hsr,
    prp::Prp,
    rtag::RTag,
}

/// Everything that the project knows of a service, except how its packets are parsed.
pub(crate) struct Declared {
    /// Short lower-case name for output and filters.
    pub(crate) name: &'static str,
    /// Width of the sequence number in bits.
    pub(crate) bits: u32,
    /// What carries it.
    pub(crate) carried: &'static [Carrier],
    /// True if one packet does not prove that it belongs to the service; see [`Gate`](crate::Gate).
    pub(crate) needs_proof: bool,
    /// True if its packets have a timestamp that runs with time ([`Numbered::stamp`](crate::Numbered::stamp)).
    pub(crate) has_clock: bool,
    /// True if its receivers report what they have; see [`Report`](crate::Report).
    pub(crate) is_reported: bool,
    /// Sizes of its anti-replay window that are in use, packets, ascending; empty if it has none.
    pub(crate) windows: &'static [u64],
}

impl Declared {
    /// What most services have in common.
    pub(crate) const USUAL: Declared = Declared {
        name: "",
        bits: 32,
        carried: &[],
        needs_proof: false,
        has_clock: false,
        is_reported: false,
        windows: &[],
    };
}

/// Where the packets of a service are found. Each parser returns `None` if the bytes do not fit the service.
pub(crate) enum Carrier {
    /// UDP; the parser looks at the ports.
    Udp(for<'a> fn(Ends, Rest<'a>, Context<'_>) -> Option<Parsed>),
    /// IP with this protocol number.
    Ip(u8, fn(&Network, Rest<'_>, Context<'_>) -> Option<Parsed>),
    /// Ethernet with this EtherType.
    Ethernet(u16, fn(Rest<'_>, Context<'_>) -> Option<Parsed>),
}

impl Service {
    /// Short lower-case name for output and filters.
    pub fn name(self) -> &'static str {
        self.declared().name
    }

    /// Width of the sequence number in bits.
    pub fn bits(self) -> u32 {
        self.declared().bits
    }

    /// Sizes of its anti-replay window that are in use, packets, ascending; empty if it has none. A receiver refuses a
    /// packet whose number is that much or more below the highest one.
    pub fn replay_windows(self) -> &'static [u64] {
        self.declared().windows
    }

    /// True if its receivers report what they have; see [`Report`](crate::Report).
    pub fn is_reported(self) -> bool {
        self.declared().is_reported
    }

    /// True if UDP can carry its packets.
    pub fn is_over_udp(self) -> bool {
        let carriers = self.declared().carried;
        carriers.iter().any(|c| matches!(c, Carrier::Udp(_)))
    }

    /// True if one packet does not prove that it belongs to the service.
    pub fn needs_proof(self) -> bool {
        self.declared().needs_proof
    }

    /// True if its packets have a timestamp that runs with time, [`Numbered::stamp`](crate::Numbered::stamp).
    pub fn has_clock(self) -> bool {
        self.declared().has_clock
    }
}

fn carriers() -> impl Iterator<Item = &'static Carrier> {
    let services = Service::ALL.iter();
    services.flat_map(|service| service.declared().carried)
}

/// The first service in UDP that the payload fits.
pub(crate) fn in_udp(ends: Ends, payload: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    carriers().find_map(|carrier| match carrier {
        Carrier::Udp(parse) => parse(ends, payload, context),
        _ => None,
    })
}

/// The service with this protocol number of IP.
pub(crate) fn in_ip(
    protocol: u8,
    network: &Network,
    rest: Rest<'_>,
    context: Context<'_>,
) -> Option<Parsed> {
    carriers().find_map(|carrier| match carrier {
        Carrier::Ip(number, parse) if *number == protocol => parse(network, rest, context),
        _ => None,
    })
}

/// The service with this EtherType.
pub(crate) fn in_ethernet(ether_type: u16, rest: Rest<'_>, context: Context<'_>) -> Option<Parsed> {
    carriers().find_map(|carrier| match carrier {
        Carrier::Ethernet(number, parse) if *number == ether_type => parse(rest, context),
        _ => None,
    })
}
