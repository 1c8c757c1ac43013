//! How an endpoint behaves. Times are nanoseconds, windows segments, buffers bytes.

use crate::Nanos;

/// One millisecond.
pub const MS: Nanos = 1_000_000;
/// One second.
pub const SECOND: Nanos = 1_000_000_000;

/// When data is acknowledged that came in order.
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
    /// As Linux does: at once in quick-ACK mode (the first 16 segments), when more than one full-sized segment
    /// waits, or while data is missing; otherwise after a time that follows the gaps between arrivals.
    Linux {
        /// Shortest wait, ns (40 ms).
        min: Nanos,
        /// Longest wait, ns (200 ms).
        max: Nanos,
        /// Acknowledgements sent at once at the start and after trouble (16).
        quick: u32,
    },
}

/// Linux's compression of acknowledgements that bring SACK news only (since 4.18): the first few duplicates go
/// out at once, later ones wait for `min(delay, 5 % of the round-trip time)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackCompression {
    /// Longest wait, ns (1 ms), but for a twentieth of the round trip.
    pub delay: Nanos,
    /// Added to it by a timer that may come late, ns (100 us).
    pub slack: Nanos,
    /// Greatest number of acknowledgements held back (44).
    pub max: u32,
}

/// What the advertised window leaves out of the receive buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowAccount {
    /// What the application has not read; one that reads at once leaves nothing.
    #[default]
    Unread,
    /// What is held, out of order as well, but for one segment; and data is acknowledged before any application
    /// reads it. So an acknowledgement that moves on may bring a smaller window and the next one a larger: an
    /// update, not a duplicate (Linux `__tcp_select_window`; in 6.1 a quarter of the repetitions was, on a path that
    /// reordered).
    Memory,
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

/// How the retransmission timeout follows from round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RtoStyle {
    /// RFC 6298: `max(min, SRTT + max(G, 4 RTTVAR))`.
    Rfc,
    /// Linux: the variation itself never falls below `min`, decays once a window, and a fall of the round-trip
    /// time counts less.
    Linux,
}

/// Retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rto {
    /// How it is computed.
    pub style: RtoStyle,
    /// Before the first measurement, ns.
    pub initial: Nanos,
    /// Lower bound, ns.
    pub min: Nanos,
    /// Upper bound after back-off, ns.
    pub max: Nanos,
    /// Clock granularity G of RFC 6298, ns.
    pub granularity: Nanos,
    /// Expiries in a row after which the connection is given up (Linux `tcp_retries2`, 15).
    pub retries: u32,
    /// The same for SYN and SYN-ACK (Linux `tcp_syn_retries`, 6).
    pub syn_retries: u32,
}

/// How the window comes down in fast recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// At once: `cwnd = ssthresh` with SACK (RFC 6675), inflated by duplicates without (RFC 6582).
    Immediate,
    /// One segment for every two acknowledgements, as Linux did until 3.1.
    RateHalving,
    /// Proportional rate reduction with the conservative bound (RFC 6937, PRR-CRB).
    PrrConservative,
    /// Proportional rate reduction with slow start below the threshold (RFC 6937, PRR-SSRB).
    PrrSlowStart,
    /// PRR as in Linux 6: the slow-start bound only while `snd_una` moves without new losses, relative to the
    /// window before the reduction.
    PrrLinux,
}

/// How much new data duplicate acknowledgements let out before recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// None: all that is outstanding counts.
    Off,
    /// RFC 3042: one segment for each of the first two.
    Rfc3042,
    /// As in Linux: whatever was reported received no longer counts as in flight.
    Pipe,
}

/// By what one acknowledgement lets the window grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthUnit {
    /// By one segment's worth, however many it acknowledges (Linux before 3.18, RFC 5681 without byte counting).
    PerAck,
    /// By all segments it acknowledges.
    Segments,
}

/// Taking unnecessary reductions of the window back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// Eifel detection by timestamps (RFC 3522).
    pub eifel: bool,
    /// All retransmissions of a recovery reported by DSACK (RFC 3708, Linux).
    pub dsack: bool,
    /// After a spurious timeout, adapt the retransmission timer as RFC 4015 does, and take its window:
    /// what is outstanding and a little more. Otherwise restore the window and leave the timer.
    pub rfc4015: bool,
    /// A partial acknowledgement of an original restores the window but not the threshold, and recovery goes
    /// on (Linux 2.6). Otherwise recovery ends there, once no retransmission is outstanding.
    pub partial_within_recovery: bool,
}

/// Tail loss probe: when the last segments of a flight stay unanswered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossProbe {
    /// None.
    Off,
    /// RFC 8985 section 7.2.
    Rfc8985,
    /// Linux: `2 SRTT` plus 200 ms with one segment outstanding, else 2 ms.
    Linux,
}

/// Sending at a rate instead of whenever the window allows, as Linux does under `fq` or with
/// `SO_MAX_PACING_RATE`. A congestion control that says a rate itself is paced without this; its rate is bounded all
/// the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// Upper bound of the rate, bytes per second; `u64::MAX`: none.
    pub max_rate: u64,
    /// Segments that leave together, at the least (Linux `tcp_min_tso_segs`).
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

/// Explicit congestion notification (RFC 3168; Linux `tcp_ecn`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnUse {
    /// Never (0).
    Off,
    /// If the peer asks for it (2, as installed).
    Accept,
    /// Asked for with every SYN, and accepted (1).
    Request,
}

/// Everything that can be chosen about an endpoint, apart from congestion control and loss detection.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Largest payload of a segment without options, bytes: what the MSS option announces.
    pub mss: u32,
    /// Initial sequence number.
    pub isn: u32,
    /// Seed of what an algorithm draws by chance, such as the phase in which BBR begins to probe: equal seeds make
    /// equal runs.
    pub seed: u64,
    /// Initial congestion window, segments.
    pub initial_window: u32,
    /// Initial slow-start threshold, segments (a cached path metric); `u32::MAX`: none.
    pub initial_ssthresh: u32,
    /// Upper bound of the congestion window, segments.
    pub cwnd_clamp: u32,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Report duplicates (RFC 2883); with `sack`.
    pub dsack: bool,
    /// Timestamps option.
    pub timestamps: bool,
    /// Tick of the timestamps clock, ns.
    pub timestamp_tick: Nanos,
    /// Protection against wrapped sequences (RFC 7323 section 5); with `timestamps`.
    pub paws: bool,
    /// Window scale announced; `None` leaves the option out.
    pub window_scale: Option<u8>,
    /// Receive buffer, bytes: of fixed size, or the largest that autotuning may make.
    pub receive_buffer: u64,
    /// Autotuning of the receive buffer, which begins with so many bytes (Linux: half of `tcp_rmem[1]`).
    pub receive_autotuning: Option<u64>,
    /// Bytes written and not yet acknowledged that [`write`](crate::Endpoint::write) accepts.
    pub send_buffer: u64,
    /// What counts against the receive buffer.
    pub window_account: WindowAccount,
    /// The application reads at once whatever has arrived in order.
    pub read_at_once: bool,
    /// Acknowledging.
    pub delayed_ack: DelayedAck,
    /// Holding back acknowledgements with SACK news only.
    pub sack_compression: Option<SackCompression>,
    /// Blind-reset protection: exact RST, challenge acknowledgements (RFC 5961).
    pub challenge_ack: bool,
    /// Small segments.
    pub nagle: Nagle,
    /// Segments that segmentation offload takes at once, 45 of 1448 bytes with Linux: new data waits for
    /// bursts of up to a millisecond of the pacing rate, as `tcp_tso_should_defer` does. 0 or 1: no wait.
    pub tso_segments: u32,
    /// Segments are spread over the round trip; `None`: only if the congestion control says a rate.
    pub pacing: Option<Pacing>,
    /// Retransmission timer.
    pub rto: Rto,
    /// Window growth per acknowledgement.
    pub growth: GrowthUnit,
    /// While reordering is known (a threshold above 3), SACKs alone let the window grow too (Linux since 3.11).
    pub grow_on_sack: bool,
    /// New data before recovery.
    pub limited_transmit: LimitedTransmit,
    /// The window in recovery.
    pub reduction: Reduction,
    /// In recovery and without new data, also retransmit what is missing below the highest SACK but not taken
    /// for lost (RFC 6675 NextSeg rule 3).
    pub forward_retransmit: bool,
    /// Keep the window within three segments of what is in flight in Disorder and after an undo (Linux 2.6).
    pub moderate_cwnd: bool,
    /// Explicit congestion notification. A loss detection that governs the window hears no echo.
    pub ecn: EcnUse,
    /// F-RTO (RFC 5682).
    pub frto: bool,
    /// Tail loss probe.
    pub loss_probe: LossProbe,
    /// Undo.
    pub undo: Undo,
    /// Shrink the window after idle times (RFC 5681 section 4.1, Linux `tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
    /// Time spent in TIME-WAIT, ns.
    pub time_wait: Nanos,
}
