//! The settings of an endpoint. Times are nanoseconds, windows segments, buffers bytes.

use crate::Nanos;
use crate::habits::Habits;

/// One millisecond.
pub const MS: Nanos = 1_000_000;
/// One second.
pub const SECOND: Nanos = 1_000_000_000;

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

/// Which bytes reduce the advertised window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowAccount {
    /// Bytes that the application has not read; none if it reads at once.
    #[default]
    Unread,
    /// All bytes held, also those out of order, except one segment; and data is acknowledged before the application
    /// reads it. So an acknowledgement that advances may carry a smaller window and the next one a larger window: it
    /// is a window update, not a duplicate (Linux `__tcp_select_window`; with Linux 6.1 on a reordering path, a
    /// quarter of the repeated acknowledgements were updates).
    Memory,
    /// As [`WindowAccount::Unread`], and every acknowledgement offers all the room there is, however little more it is than
    /// before (FreeBSD `tcp_output`). Otherwise the window advances only by a segment or more (RFC 9293 section
    /// 3.8.6.2.2).
    Room,
}

/// When a receiver tells that reading has made room, if there is nothing to acknowledge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowUpdate {
    /// When the window can grow by two segments or half of what it offers at most (RFC 9293 section 3.8.6.2.2, BSD).
    #[default]
    TwoSegments,
    /// When the window is half of the greatest or less and can be doubled (Linux `tcp_cleanup_rbuf`).
    Doubled,
}

/// What becomes of a segment that begins within the window and ends beyond it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BeyondWindow {
    /// Its part within the window is taken (RFC 9293 section 3.10.7.4).
    #[default]
    Cut,
    /// It is taken as a whole (Linux until 6.17 `tcp_sequence`, which looks only at its beginning).
    Take,
    /// It is taken as a whole if the application has read all that arrived before, and refused otherwise (Linux since 6.17).
    TakeIfEmpty,
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
    /// Lower bound (RFC 6298 section 2 step (2.4)), ns.
    pub min: Nanos,
    /// Upper bound after back-off (RFC 6298 section 2 step (2.5)), ns.
    pub max: Nanos,
    /// Clock granularity G (RFC 6298 section 4), ns.
    pub granularity: Nanos,
    /// Number of consecutive expiries after which the connection is given up (Linux `tcp_retries2`, 15).
    pub retries: u32,
    /// The same for SYN and SYN-ACK (Linux `tcp_syn_retries`, 6).
    pub syn_retries: u32,
    /// Expiries for a SYN, but not for a SYN-ACK, after which the time is not doubled (Linux `tcp_syn_linear_timeouts`: 4 since 6.5).
    pub syn_linear: u32,
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

/// How much new data duplicate acknowledgements allow before recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// None: everything outstanding counts as in flight.
    Off,
    /// RFC 3042: one segment for each of the first two.
    Rfc3042,
    /// The same, however much is outstanding already, as ns-3.26 did: RFC 3042 allows two segments more than the window.
    Always,
    /// As in Linux: data reported as received no longer counts as in flight.
    Pipe,
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

/// Undoing unnecessary reductions of the congestion window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// Eifel detection by timestamps (RFC 3522 section 3.2).
    pub eifel: bool,
    /// All retransmissions of a recovery reported by DSACK (RFC 3708, Linux).
    pub dsack: bool,
    /// After a spurious timeout, adapts the retransmission timer as RFC 4015 section 3.1 does and uses its window:
    /// the data outstanding plus a little more. Otherwise the window is restored and the timer is unchanged.
    pub rfc4015: bool,
    /// A partial acknowledgement of an original restores the window but not the threshold, and recovery continues
    /// (Linux 2.6). Otherwise recovery ends there if no retransmission is outstanding.
    pub partial_within_recovery: bool,
    /// While the time of no retransmission is known, an acknowledgement counts as one of an original (Linux 2.6
    /// `tcp_packet_delayed`); a partial undo forgets the time if nothing retransmitted is outstanding (`tcp_try_undo_partial`).
    pub unstamped_is_original: bool,
    /// While a retransmission is outstanding, the time of the first one is kept, also when a recovery ends and the next
    /// one begins with the same acknowledgement (Linux `retrans_stamp`). What is sent meanwhile echoes later times, so
    /// that Eifel detection fails until no retransmission is outstanding. RFC 3522 section 3.2 step (2) takes the time
    /// anew in each recovery.
    pub stamp_outlives_recovery: bool,
    /// While a partial acknowledgement of an original waits because a retransmission is outstanding, that acknowledgement marks
    /// nothing as lost (Linux `tcp_try_undo_partial`, which skips `tcp_identify_packet_loss`).
    pub hold_marks: bool,
}

/// Rules in which ns-3 departs from the standards or chooses among what they allow, mostly of recovery without SACK. All are
/// off in the other profiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Departures {
    /// Fast recovery ends, and the next one may begin, with an acknowledgement of exactly what was outstanding when it
    /// began. RFC 6582 section 3.2 step 2 wants more than that for another one, so that duplicates which the recovery's
    /// own retransmissions caused do not start it.
    pub reenter_at_recover: bool,
    /// A duplicate takes one segment out of flight, as a SACK would, in recovery and (with limited transmit) before, and
    /// what is then in flight decides the slow-start threshold and what may be sent. RFC 5681 section 3.2
    /// inflates the window instead (step 4), and halves what is outstanding (step 2).
    pub duplicates_leave_flight: bool,
    /// The window also grows while it is not filled. RFC 9293 and Linux forbid it, RFC 7661 limits it.
    pub grow_when_unused: bool,
    /// Only the first partial acknowledgement of a recovery restarts the retransmission timer (RFC 6582 section 3.2
    /// step 3; "Impatient" in RFC 3782 section 4); otherwise each one does ("Slow-but-Steady").
    pub timer_at_first_partial: bool,
    /// The first segment of a connection is acknowledged at once, whatever the rule for the others.
    pub first_ack_at_once: bool,
    /// How much the acknowledgement that ends fast recovery lets the window grow.
    pub growth_at_end: GrowthAtEnd,
}

/// For how many segments the acknowledgement that ends fast recovery lets the window grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrowthAtEnd {
    /// As any other: for those that it acknowledges.
    #[default]
    Acknowledged,
    /// For those sent after recovery began; the congestion control is called for none, too (ns-3.26).
    Beyond,
    /// For none (ns-3.27).
    Nothing,
}

/// Tail loss probe: what is sent if the last segments of a flight are not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossProbe {
    /// None.
    Off,
    /// RFC 8985 section 7.2.
    Rfc8985,
    /// Linux: `2 SRTT` plus 200 ms with one segment outstanding, else 2 ms.
    Linux,
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

/// Explicit congestion notification: classic (RFC 3168) or accurate (RFC 9768). Linux's `tcp_ecn` has the numbers in
/// parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnUse {
    /// Never (0).
    Off,
    /// Classic, if the peer requests it (2, the default).
    Accept,
    /// Classic: requested with every SYN, and accepted (1).
    Request,
    /// Accurate: requested with every SYN; what the peer requests, accurate or classic, is accepted (3).
    Accurate,
    /// Accurate or classic, if the peer requests it (5).
    AcceptAccurate,
    /// Classic is requested with every SYN; what the peer requests, accurate or classic, is accepted (4).
    RequestAcceptAccurate,
}

impl EcnUse {
    /// A SYN requests ECN, accurate or classic.
    pub(crate) fn requests(self) -> bool {
        matches!(
            self,
            Self::Request | Self::Accurate | Self::RequestAcceptAccurate
        )
    }

    /// A request of accurate ECN is accepted.
    pub(crate) fn accepts_accurate(self) -> bool {
        matches!(
            self,
            Self::Accurate | Self::AcceptAccurate | Self::RequestAcceptAccurate
        )
    }
}

/// When segments carry the option of accurate ECN (Linux `tcp_ecn_option`, with its numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnOptionUse {
    /// Never (0): the peer learns only the number of marked packets.
    Never,
    /// After marks, with changes, and as often in a round trip as [`AccurateEcn::beacon`] says (1).
    Demand,
    /// With every segment (2), unless it turns out that the path drops segments with it.
    Always,
    /// With every segment, whatever happens (3).
    Persist,
}

/// Accurate ECN (RFC 9768), where [`EcnUse`] allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// When the option is sent, to a peer that sends it too.
    pub option: EcnOptionUse,
    /// How many segments of a round trip carry it at least, if it is not sent with all (Linux `tcp_ecn_option_beacon`).
    pub beacon: u32,
}

impl Default for AccurateEcn {
    /// The settings of Linux 7.
    fn default() -> Self {
        Self {
            option: EcnOptionUse::Always,
            beacon: 3,
        }
    }
}

/// All settings of an endpoint except congestion control and loss detection.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Largest payload of a segment without options, bytes: what the MSS option announces.
    pub mss: u32,
    /// Initial sequence number.
    pub isn: u32,
    /// Seed for the random numbers of algorithms, such as the phase in which BBR starts to probe: equal seeds give
    /// equal runs.
    pub seed: u64,
    /// Initial congestion window (RFC 5681 section 3.1 has 2 to 4, RFC 6928 has 10), segments.
    pub initial_window: u32,
    /// Initial slow-start threshold, segments (a cached path metric); `u32::MAX`: none.
    pub initial_ssthresh: u32,
    /// Upper bound of the congestion window, segments.
    pub cwnd_clamp: u32,
    /// Selective acknowledgements (RFC 2018 section 2).
    pub sack: bool,
    /// Report duplicates (RFC 2883 section 4); with `sack`.
    pub dsack: bool,
    /// Timestamps option (RFC 7323 section 3.2).
    pub timestamps: bool,
    /// Tick of the timestamps clock (RFC 7323 section 5.4), ns.
    pub timestamp_tick: Nanos,
    /// Protection against wrapped sequences (RFC 7323 section 5); with `timestamps`.
    pub paws: bool,
    /// By how many ticks a segment's timestamp may be older without being refused (Linux `TCP_PAWS_WINDOW`: 1; RFC 7323 section 5.3:
    /// 0).
    pub paws_window: u32,
    /// Announced window scale (RFC 7323 section 2.2); `None` omits the option.
    pub window_scale: Option<u8>,
    /// Receive buffer, bytes: a fixed size, or the maximum for autotuning.
    pub receive_buffer: u64,
    /// Initial size for autotuning of the receive buffer, bytes (Linux: half of `tcp_rmem[1]`).
    pub receive_autotuning: Option<u64>,
    /// Bytes of the receive buffer that are advertised at first, at most. The rest follows with what arrives, two segments for each, and
    /// each is acknowledged at once until then (Linux `rcv_ssthresh`, `tcp_grow_window`).
    pub receive_offer: u64,
    /// What is advertised at first is rounded down to whole segments (Linux `tcp_select_initial_window`).
    pub offer_whole_segments: bool,
    /// Maximum number of bytes written and not yet acknowledged; [`write`](crate::Endpoint::write) accepts no more.
    pub send_buffer: u64,
    /// Which bytes reduce the advertised window.
    pub window_account: WindowAccount,
    /// What becomes of segments that end beyond the window.
    pub beyond_window: BeyondWindow,
    /// When reading is reported to the peer.
    pub window_update: WindowUpdate,
    /// Whether the application reads data in order as soon as it arrives.
    pub read_at_once: bool,
    /// When acknowledgements are sent.
    pub delayed_ack: DelayedAck,
    /// Delaying acknowledgements that only report new SACK blocks.
    pub sack_compression: Option<SackCompression>,
    /// Protection against blind resets: exact RST, challenge acknowledgements (RFC 5961).
    pub challenge_ack: bool,
    /// Whether a segment that acknowledges data never sent is answered (RFC 9293 section 3.10.7.4); Linux discards it
    /// silently (`tcp_ack`).
    pub answer_unsent_ack: bool,
    /// Which small segments wait.
    pub nagle: Nagle,
    /// Number of segments that segmentation offload sends at once, 45 of 1448 bytes in Linux: new data waits for
    /// bursts of up to a millisecond at the pacing rate, as in `tcp_tso_should_defer`. 0 or 1: no wait.
    pub tso_segments: u32,
    /// Pacing over the round trip; `None`: only if the congestion control has its own rate.
    pub pacing: Option<Pacing>,
    /// Retransmission timer.
    pub rto: Rto,
    /// Window growth per acknowledgement.
    pub growth: GrowthUnit,
    /// While reordering is known (a threshold above 3), SACKs alone also let the window grow (Linux since 3.11).
    pub grow_on_sack: bool,
    /// A segment that a DSACK reports counts as delivered, for proportional reduction, growth and the rate (Linux since
    /// 4.16, `tcp_dsack_seen`).
    pub duplicates_deliver: bool,
    /// New data on duplicate acknowledgements before recovery.
    pub limited_transmit: LimitedTransmit,
    /// Reduction of the window in recovery.
    pub reduction: Reduction,
    /// Departures from the standards in recovery without SACK.
    pub departures: Departures,
    /// In recovery without new data, also retransmits segments below the highest SACK that are missing but not
    /// considered lost (RFC 6675 section 4 rule (3) of NextSeg).
    pub forward_retransmit: bool,
    /// Keep the window within three segments of what is in flight in Disorder and after an undo (Linux 2.6).
    pub moderate_cwnd: bool,
    /// Explicit congestion notification. Ignored if the loss detection controls the window.
    pub ecn: EcnUse,
    /// Details of accurate ECN.
    pub accurate_ecn: AccurateEcn,
    /// Requests that are lost with their SYN are given up, and a path that changes marks in the handshake as no router may
    /// is not trusted with any (Linux `tcp_ecn_fallback`).
    pub ecn_fallback: bool,
    /// What can be marked carries ECT(1) instead of ECT(0): it asks for L4S service, which only congestion controls that
    /// react to each mark a little may do (RFC 9331).
    pub ect1: bool,
    /// F-RTO (RFC 5682 section 3.1).
    pub frto: bool,
    /// While F-RTO decides, the window grows as in slow start by what is acknowledged (Linux since 3.10, `tcp_process_loss`).
    /// Otherwise two segments more than are in flight may be sent (RFC 5682 section 2.1 step 2.b). The two are the same if the
    /// acknowledgement covers the retransmission alone.
    pub frto_grows: bool,
    /// Tail loss probe.
    pub loss_probe: LossProbe,
    /// Undo.
    pub undo: Undo,
    /// Shrink the window after idle times (RFC 5681 section 4.1, Linux `tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
    /// Time spent in TIME-WAIT, ns.
    pub time_wait: Nanos,
    /// What other stacks do differently.
    pub habits: Habits,
}
