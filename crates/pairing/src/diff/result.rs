//! What the comparison finds, without decisions.

use inorder_base::named;
use inorder_metrics::{Distribution, Reordering};

named! {
    /// Why one capture is taken to come first.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Basis {
        /// The time to live is lower in the other one.
        TimeToLive = "time-to-live",
        /// The times of the two directions.
        BothDirections = "both-directions",
        /// Nothing tells: the first capture of the command.
        Assumed = "assumed",
    }
}

/// The packets of a direction, or of one flow.
#[derive(Clone, PartialEq, Debug)]
pub struct Matched {
    /// Name of the flow; of a whole direction, `A to B` or `B to A`.
    pub name: String,
    /// Its name in capture B, if addresses or ports are translated between the captures.
    pub in_b: Option<String>,
    /// True if capture A comes first.
    pub a_first: bool,
    /// Why.
    pub basis: Basis,
    /// Packets in the first capture, as far as the other one was running.
    pub sent: u64,
    /// Order in the other capture, of the packets that both have.
    pub order: Reordering,
    /// Packets of the first capture that the other one lacks.
    pub lost: u64,
    /// Further copies in the other capture of packets that the first one has.
    pub duplicated: u64,
    /// Packets that only the other capture has.
    pub appeared: u64,
    /// Packets of the first capture before the first or behind the last that both have: the other was not running.
    pub outside: u64,
    /// Time in the other capture less time in the first, least of all packets, nanoseconds: with clocks that agree, the
    /// least delay.
    pub least_ns: i64,
    /// How much longer than that the others took, nanoseconds.
    pub longer_ns: Distribution,
}

named! {
    /// What became of a packet.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Fate {
        /// In both captures, in order.
        InOrder = "in-order",
        /// In both captures, late in the other one.
        Late = "late",
        /// Only in the first capture.
        Lost = "lost",
        /// A further copy in the other capture.
        Duplicated = "duplicated",
        /// Only in the other capture.
        Appeared = "appeared",
        /// In the first capture while the other one was not running.
        Outside = "outside",
    }
}

/// One packet.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketRow {
    /// Name of its flow.
    pub name: std::sync::Arc<str>,
    /// True if capture A comes first on its way.
    pub a_first: bool,
    /// What became of it.
    pub fate: Fate,
    /// Number of its frame in capture A.
    pub frame_a: Option<u64>,
    /// Number of its frame in capture B.
    pub frame_b: Option<u64>,
    /// Time in A, nanoseconds since the epoch.
    pub a_ns: Option<i64>,
    /// Time in B.
    pub b_ns: Option<i64>,
    /// Bytes without the link header.
    pub bytes: u32,
    /// Extent of a late packet (RFC 4737 section 4.2), within its direction.
    pub extent: Option<u64>,
    /// Late time of a late packet (section 4.3), nanoseconds.
    pub late_ns: Option<i64>,
}

/// The result of [`compare`](crate::diff::compare).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Difference {
    /// Names of the captures.
    pub a: String,
    /// The second one.
    pub b: String,
    /// Both directions, each if it has packets.
    pub directions: Vec<Matched>,
    /// Every flow, the most severe first.
    pub flows: Vec<Matched>,
    /// Every packet, in the order of the first capture, then those that only the other one has.
    pub packets: Vec<PacketRow>,
    /// Super-packets that were cut because the other capture has them in other parts.
    pub cut: u64,
    /// Frames of either capture in which a packet was captured once more, and which do not count.
    pub captured_twice: u64,
    /// The tunnels and VLANs of each capture in which the packets were that were compared; empty where packets were compared as they are.
    pub tunnels: [Vec<String>; 2],
    /// How packets were matched: a name of [`Keep`](crate::diff::Keep).
    pub matched: &'static str,
    /// What limits the result.
    pub warnings: Vec<String>,
}
