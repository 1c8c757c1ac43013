//! The retransmission timer.

use crate::Nanos;

/// How the retransmission timeout is computed from round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RtoStyle {
    /// RFC 6298 section 2: `max(min, SRTT + max(G, 4 RTTVAR))`.
    Rfc,
    /// Linux: the variation never falls below `min` and decays once per window, and a decrease of the round-trip time
    /// has less weight.
    Linux,
}

/// Retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rto {
    /// How it is computed.
    pub style: RtoStyle,
    /// Before the first measurement (RFC 6298 section 2 step (2.1)), ns.
    pub initial: Nanos,
    /// Retransmission timeout when data begins after a repeated SYN or SYN-ACK, whose round trip is not known (RFC 6298 section 5 step (5.7); Linux
    /// `TCP_TIMEOUT_FALLBACK`); at least `initial`, ns.
    pub initial_after_syns: Nanos,
    /// Lower bound (RFC 6298 section 2 step (2.4)), ns.
    pub min: Nanos,
    /// Upper bound after back-off (RFC 6298 section 2 step (2.5)), ns.
    pub max: Nanos,
    /// Clock granularity G (RFC 6298 section 4), ns.
    pub granularity: Nanos,
    /// Number of consecutive expiries after which the connection is given up (Linux `tcp_retries2`, 15).
    pub retries: u32,
    /// Number of expiries after which a connection that SYN or SYN-ACK opens is given up (Linux `tcp_syn_retries`, 6).
    pub syn_retries: u32,
    /// Expiries for a SYN, but not for a SYN-ACK, after which the time is not doubled (Linux `tcp_syn_linear_timeouts`: 4 since 6.5).
    pub syn_linear: u32,
}
