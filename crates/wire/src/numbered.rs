//! Packets of services other than TCP that carry sequence numbers.

use crate::flow::Endpoint;

/// A service whose packets are numbered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Service {
    /// RTP (RFC 3550), 16-bit numbers per SSRC.
    Rtp,
    /// IPsec ESP (RFC 4303), 32-bit numbers per SPI.
    Esp,
    /// WireGuard transport data, 64-bit counter per receiver index.
    WireGuard,
    /// ICMP or ICMPv6 echo requests or replies, 16-bit numbers per identifier.
    IcmpEcho,
    /// GRE with sequence numbers (RFC 2890), 32-bit numbers per key.
    Gre,
}

impl Service {
    /// All services.
    pub const ALL: [Service; 5] = [
        Service::Rtp,
        Service::Esp,
        Service::WireGuard,
        Service::IcmpEcho,
        Service::Gre,
    ];

    /// True if its packets are carried by UDP.
    pub fn is_over_udp(self) -> bool {
        matches!(self, Service::Rtp | Service::WireGuard)
    }

    /// Width of the sequence number in bits.
    pub fn bits(self) -> u32 {
        match self {
            Service::Rtp | Service::IcmpEcho => 16,
            Service::Esp | Service::Gre => 32,
            Service::WireGuard => 64,
        }
    }

    /// Short lower-case name for output.
    pub fn name(self) -> &'static str {
        match self {
            Service::Rtp => "rtp",
            Service::Esp => "esp",
            Service::WireGuard => "wireguard",
            Service::IcmpEcho => "icmp-echo",
            Service::Gre => "gre",
        }
    }
}

/// One stream of numbered packets, one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamKey {
    /// The service.
    pub service: Service,
    /// Source (port 0 if the protocol has no ports).
    pub src: Endpoint,
    /// Destination.
    pub dst: Endpoint,
    /// SSRC, SPI, receiver index, echo identifier (with the type in bit 16: 1 = reply), GRE key.
    pub id: u32,
    /// As in [`crate::FlowKey::overlay`].
    pub overlay: u32,
}

/// One numbered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbered {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub frame: u64,
    /// The sequence number, as wide as [`Service::bits`].
    pub seq: u64,
    /// Bytes of payload the service carries.
    pub payload_len: u32,
}
