//! Everything said of one stream of numbered packets other than TCP.

use std::net::SocketAddr;

use inorder_metrics::Reordering;
use inorder_wire::Service;

use super::WhatIf;

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
    /// Order of arrival.
    pub order: Reordering,
    /// Packets that arrived more than once.
    pub duplicates: u64,
    /// Numbers skipped that never arrived.
    pub missing: u64,
    /// What a sorting receiver would have left, a row for each setting as of a flow; none of a stream in order. The delays of
    /// SRPIC are those from the first packet out of order on.
    pub what_if: Vec<WhatIf>,
}
