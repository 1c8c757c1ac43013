//! Acknowledgements.

use crate::Nanos;

/// What is acknowledged, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acknowledging {
    /// When acknowledgements are sent.
    pub delayed: DelayedAck,
    /// Delaying acknowledgements that only report new SACK blocks.
    pub sack_compression: Option<SackCompression>,
    /// Protection against blind resets: exact RST, challenge acknowledgements (RFC 5961).
    pub challenge: bool,
    /// Whether a segment that acknowledges data never sent is answered (RFC 9293 section 3.10.7.4); Linux discards it
    /// silently (`tcp_ack`).
    pub answer_unsent: bool,
}

/// When data in order is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once.
    Off,
    /// RFC 5681 section 4.2: every `segments` full-sized segments, or after `timeout`.
    Rfc {
        /// Full-sized segments that force an acknowledgement; 2 by the RFC.
        segments: u32,
        /// Longest wait, ns; at most 500 ms by the RFC.
        timeout: Nanos,
    },
    /// As in Linux: at once in quick-ACK mode (the first 16 segments), when more than one full-sized segment waits,
    /// or while data is missing; otherwise after a time that depends on the intervals between arrivals.
    Linux {
        /// Shortest wait, ns (40 ms).
        min: Nanos,
        /// Longest wait, ns (200 ms).
        max: Nanos,
        /// Number of acknowledgements sent at once at the start and after disturbances (16).
        quick: u32,
    },
}

/// Linux's compression of acknowledgements that only report new SACK blocks (since 4.18): the first few duplicates
/// are sent at once, later ones wait for `min(delay, 5 % of the round-trip time)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackCompression {
    /// Longest wait, ns (1 ms), unless a twentieth of the round trip is shorter.
    pub delay: Nanos,
    /// Slack added by a timer that may fire late, ns (100 us).
    pub slack: Nanos,
    /// Maximum number of acknowledgements held back (44).
    pub max: u32,
}
