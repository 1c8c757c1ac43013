//! The congestion window outside its algorithm.

/// The congestion window outside its algorithm: where it starts, how acknowledgements let it grow, how recovery and idle times
/// reduce it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CongestionWindow {
    /// Initial congestion window (RFC 5681 section 3.1 has 2 to 4, RFC 6928 has 10), segments.
    pub initial: u32,
    /// From how many repeated SYNs or SYN-ACKs on the connection begins with one segment instead (RFC 5681 section 3.1: from the first;
    /// Linux since 3.1, which repeats a SYN sooner: from the second, `tcp_init_transfer`). That timestamps may show the repetition to have been
    /// needless is left out. `None`: never.
    pub one_after_syns: Option<u32>,
    /// Initial slow-start threshold, segments (a cached path metric); `u32::MAX`: none.
    pub ssthresh: u32,
    /// Upper bound of the congestion window, segments.
    pub clamp: u32,
    /// Window growth per acknowledgement.
    pub growth: GrowthUnit,
    /// While reordering is known (a threshold above 3), SACKs alone also let the window grow (Linux since 3.11).
    pub grow_on_sack: bool,
    /// The congestion control also hears round-trip times by timestamps where Karn's rule leaves no other (Linux since 4.13,
    /// `tcp_ack_update_rtt`). They have the resolution of a tick, and are too short by up to one.
    pub rtt_by_timestamps: bool,
    /// A segment that a DSACK reports counts as delivered, for proportional reduction, growth and the rate (Linux since
    /// 4.16, `tcp_dsack_seen`).
    pub duplicates_deliver: bool,
    /// Reduction of the window in recovery.
    pub reduction: Reduction,
    /// Keep the window within three segments of what is in flight in Disorder and after an undo (Linux 2.6).
    pub moderate: bool,
    /// Shrink the window after idle times (RFC 5681 section 4.1, Linux `tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
}

/// How the window is reduced in fast recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// At once: `cwnd = ssthresh` with SACK (RFC 6675 section 5 step (4.2)), inflated by duplicates
    /// without (RFC 5681 section 3.2 steps 3 and 4).
    Immediate,
    /// At once, with inflation of the window itself, so that a partial acknowledgement may leave it below the threshold, as
    /// ns-3 did before 3.29 without SACK.
    Inflate,
    /// One segment for every two acknowledgements, as Linux did until 3.1.
    RateHalving,
    /// Proportional rate reduction with the conservative bound (RFC 6937, PRR-CRB).
    PrrConservative,
    /// Proportional rate reduction with slow start below the threshold (RFC 6937, PRR-SSRB).
    PrrSlowStart,
    /// PRR as ns-3 has it, which also runs without SACK: duplicates deliver nothing, and the window is measured from
    /// what was in flight before the acknowledgement was counted (`tcp-prr-recovery.cc` of ns-3.37).
    PrrNs3,
    /// PRR as in Linux 6: the slow-start bound only while `snd_una` moves without new losses, relative to the
    /// window before the reduction.
    PrrLinux,
}

/// How much one acknowledgement lets the window grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthUnit {
    /// As for one segment, for any number of acknowledged segments (Linux before 3.18, RFC 5681 section 3.1
    /// without byte counting).
    PerAck,
    /// As for all segments that it acknowledges (RFC 5681 section 3.1 recommends to count what is acknowledged).
    Segments,
    /// As for all segments that the acknowledgement number covers, also those that SACKs had reported before (Linux
    /// 3.15 to 4.x). An acknowledgement with SACKs alone counts for none in slow start, and is still one for algorithms
    /// that count acknowledgements.
    Cumulative,
}
