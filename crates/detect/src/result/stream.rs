//! Everything said of one stream of numbered packets other than TCP.

use std::net::SocketAddr;

use inorder_wire::Service;

/// Arrival order of one stream whose packets carry numbers of their own (RTP, ESP, ...).
#[derive(Clone, PartialEq, Debug)]
pub struct StreamReport {
    /// What numbers the packets.
    pub service: Service,
    /// Source; port 0 where the protocol has none.
    pub src: SocketAddr,
    /// Destination.
    pub dst: SocketAddr,
    /// SSRC, SPI, receiver index, echo identifier or GRE key.
    pub id: u32,
    /// Overlay identifier (VXLAN VNI, GRE key), 0 for none.
    pub overlay: u32,
    /// First packet, nanoseconds since the epoch.
    pub first_ns: i64,
    /// Last packet, nanoseconds since the epoch.
    pub last_ns: i64,
    /// Packets received, duplicates not counted.
    pub received: u64,
    /// Of these, reordered (RFC 4737 section 3).
    pub reordered: u64,
    /// `reordered / received` (RFC 4737 section 4.1); 0 when nothing was received.
    pub ratio: f64,
    /// Greatest extent (RFC 4737 section 4.2), packets.
    pub max_extent: u64,
    /// Mean extent of the reordered packets, packets.
    pub mean_extent: f64,
    /// Greatest late time (RFC 4737 section 4.3), nanoseconds.
    pub max_late_ns: i64,
    /// Packets that arrived more than once.
    pub duplicates: u64,
    /// Numbers skipped that never arrived.
    pub missing: u64,
    /// Sum of |displacement| x density of the reorder density (RFC 5236, threshold 200).
    pub mean_displacement: f64,
    /// Entropy of the reorder density, natural logarithm.
    pub entropy: f64,
}
