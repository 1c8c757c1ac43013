//! How connections opened, and those that never did.

use inorder_base::named;
use std::net::SocketAddr;

named! {
    /// What became of data that its sender put into the SYN (TCP Fast Open, RFC 7413).
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum FastOpen {
        /// The SYN-ACK acknowledged at least a part of it.
        Accepted = "accepted",
        /// It was not acknowledged and had to be sent once more: nothing was lost (RFC 7413 section 4.2).
        Refused = "refused",
    }
}

/// How a connection was opened, as far as that was out of the ordinary. Of the two flows of a connection, that of the host
/// that opened it has this, or the other one if that host sent no data.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Handshake {
    /// How often the SYN was sent again.
    pub syns_again: u64,
    /// From the first SYN to the last, nanoseconds: the time that this cost.
    pub waited_ns: i64,
    /// Data in the SYN.
    pub fast_open: Option<FastOpen>,
    /// SYN-ACKs that the opening host did not acknowledge: of another server behind the same address, of a proxy, or
    /// old duplicates.
    pub other_answers: u64,
    /// From the last SYN to its answer, as captured, nanoseconds; `None` unless both were.
    pub answered_ns: Option<i64>,
}

named! {
    /// What became of an attempt to open a connection that carried no data.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Outcome {
        /// Nothing came back.
        Unanswered = "unanswered",
        /// The other host answered with a reset (RFC 9293 section 3.5.2).
        Refused = "refused",
        /// A router or the other host answered that it cannot be reached (ICMP).
        Unreachable = "unreachable",
        /// The SYN was answered, and the host that had sent it went no further.
        Unfinished = "unfinished",
        /// The SYN was answered, and the host that had sent it reset that: a scan, or a client that had given up.
        Cancelled = "cancelled",
        /// The capture ended too soon after its only SYN, answered or not.
        Open = "open",
        /// It was to find a router of the path, and not to open a connection: SYNs of its host to the same port had hop limits from 1 on.
        Traced = "traced",
    }
}

/// An attempt to open a connection that carried no data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Attempt {
    /// First SYN, nanoseconds since the Unix epoch.
    pub first_ns: i64,
    /// Last SYN, nanoseconds since the Unix epoch; the first one where several were refused, of which no more is remembered.
    pub last_ns: i64,
    /// Who sent it.
    pub src: SocketAddr,
    /// Whom it was for.
    pub dst: SocketAddr,
    /// As in [`FlowId`](super::FlowId).
    pub overlay: u32,
    /// SYNs sent.
    pub syns: u64,
    /// All packets of it.
    pub packets: u64,
    /// The hop limit of its first SYN, as captured.
    pub hop_limit: u8,
    /// What became of it.
    pub outcome: Outcome,
}

/// The attempts of a capture to open connections, as far as none of them carried data.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Attempts {
    /// How many ended in each way, in the order of [`Outcome::ALL`].
    pub by_outcome: [u64; Outcome::ALL.len()],
    /// SYNs that were sent again in those that failed.
    pub syns_again: u64,
    /// Packets of all of them.
    pub packets: u64,
    /// Attempts that were not followed to their end, since too many were open at once.
    pub forgotten: u64,
    /// The first of them by time, at most [`Attempts::MAX_LISTED`].
    pub list: Vec<Attempt>,
}

impl Attempts {
    /// Attempts that are listed one by one, at most.
    pub const MAX_LISTED: usize = 1_000;

    /// How many ended this way.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.by_outcome[outcome as usize]
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        let failed = |of: &&Outcome| !matches!(of, Outcome::Open | Outcome::Traced);
        let all = Outcome::ALL.iter().filter(failed);
        all.map(|of| self.of(*of)).sum()
    }
}
