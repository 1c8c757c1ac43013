//! Data that waits in the send buffer.

/// The send buffer, and which data in it waits although the windows have room.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sending {
    /// Maximum number of bytes written and not yet acknowledged; [`write`](crate::Endpoint::write) accepts no more.
    pub buffer: u64,
    /// The buffer grows with the congestion window, up to `buffer`, and a full one takes data again only once a third of it is free, as
    /// in Linux where the application sets no size: memory for a full segment, bytes, by which it is sized. `None`: it does not grow.
    pub autotuning: Option<u32>,
    /// Which small segments wait.
    pub nagle: Nagle,
    /// Number of segments that segmentation offload sends at once, 45 of 1448 bytes in Linux: new data waits for
    /// bursts of up to a millisecond at the pacing rate, as in `tcp_tso_should_defer`. 0 or 1: no wait.
    pub tso_segments: u32,
    /// Pacing over the round trip; `None`: only if the congestion control has its own rate.
    pub pacing: Option<Pacing>,
}

/// Which small segments wait for acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nagle {
    /// None: `TCP_NODELAY`.
    Off,
    /// RFC 896: any, while anything is outstanding.
    Rfc896,
    /// Minshall's variant, as in Linux: only while a small segment is outstanding.
    Minshall,
}

/// Pacing: sending at a rate instead of as fast as the window allows, as Linux does under `fq` or with
/// `SO_MAX_PACING_RATE`. A congestion control with its own rate is paced without this setting, but the upper bound
/// applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// Upper bound of the rate, bytes per second; `u64::MAX` for none.
    pub max_rate: u64,
    /// Minimum number of segments that are sent together (Linux `tcp_min_tso_segs`).
    pub burst: u32,
}

impl Pacing {
    /// At the rate of the congestion control, but no more than `max_rate` bytes per second.
    pub const fn at_most(max_rate: u64) -> Self {
        Self { max_rate, burst: 2 }
    }
}

impl Default for Pacing {
    /// At the rate of the congestion control.
    fn default() -> Self {
        Self::at_most(u64::MAX)
    }
}
