//! A direction of a connection at its end, as far as its packets alone do not tell.

use inorder_cost::Reduction;

/// What is known of a direction at its end, beside what was [recorded](crate::Recorder) of it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Life<'a> {
    /// The first packet, nanoseconds since the epoch.
    pub first_ns: i64,
    /// The last packet.
    pub last_ns: i64,
    /// When the transfer was over, at `last_ns` or before, nanoseconds.
    pub over_ns: i64,
    /// When the sender could send data; `None` if the handshake was not captured.
    pub opened_ns: Option<i64>,
    /// Payload of a full segment.
    pub mss: u32,
    /// Shortest round trip between sender and receiver.
    pub rtt_ns: Option<i64>,
    /// When round trips ended, and how long they took.
    pub rtts: &'a [(i64, i64)],
    /// Recoveries in their order, with what they turned out to be.
    pub recoveries: &'a [Reduction],
    /// Originals that were lost.
    pub losses: &'a [Loss],
    /// Originals were late, lost or refused.
    pub troubled: bool,
    /// Spurious retransmissions.
    pub spurious: u64,
    /// Something is missing below what has come until the end.
    pub lacks: bool,
    /// The receiver repeated its FIN, and nothing acknowledged it.
    pub unheard: bool,
    /// No window is scaled.
    pub unscaled: bool,
    /// The receiver's packets were captured.
    pub answered: bool,
}

/// An original that was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// First byte.
    pub start: i64,
    /// The round trip of the data sent right behind it, nanoseconds; 0 if unknown.
    pub rtt_ns: i64,
    /// When it was sent, or would have arrived at a receiver, nanoseconds; 0 if unknown.
    pub sent_ns: i64,
}
