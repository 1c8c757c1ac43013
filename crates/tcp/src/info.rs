//! A snapshot of an endpoint, in the terms of `tcp_info`.

use crate::Nanos;
use crate::state::CaState;

/// A snapshot of the sender (`tcp_info`). Windows and counts in segments, times in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// `tcpi_ca_state`.
    pub ca_state: CaState,
    /// `tcpi_snd_cwnd`.
    pub cwnd: u32,
    /// `tcpi_snd_ssthresh`; `u32::MAX` before the first loss.
    pub ssthresh: u32,
    /// Round-trip times and the retransmission timer.
    pub timing: TimingInfo,
    /// What is outstanding.
    pub flight: FlightInfo,
    /// `tcpi_total_retrans`.
    pub total_retrans: u64,
    /// `tcpi_reordering`, the duplicate-ACK threshold in force.
    pub reordering: u32,
    /// Bytes written and not sent yet (`tcpi_notsent_bytes`).
    pub notsent_bytes: u64,
    /// Bytes acknowledged cumulatively (`tcpi_bytes_acked`).
    pub bytes_acked: u64,
    /// Maximum segment size in force, bytes of payload (`tcpi_snd_mss`).
    pub snd_mss: u32,
    /// Peer's window, bytes.
    pub snd_wnd: u64,
    /// What accurate ECN has reported.
    pub marks: MarksInfo,
}

/// Round-trip times and the retransmission timer, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimingInfo {
    /// `tcpi_rtt`: smoothed round-trip time; 0 before the first measurement.
    pub rtt: Nanos,
    /// `tcpi_rttvar`.
    pub rttvar: Nanos,
    /// `tcpi_min_rtt`; 0 before the first measurement.
    pub min_rtt: Nanos,
    /// `tcpi_rto`, with back-off.
    pub rto: Nanos,
    /// `tcpi_backoff`: doublings of the timeout.
    pub backoff: u32,
    /// `tcpi_retransmits`: expiries of the timer since the last new acknowledgement.
    pub retransmits: u32,
}

/// What is outstanding, segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlightInfo {
    /// `tcpi_unacked`: segments outstanding.
    pub unacked: u32,
    /// `tcpi_sacked`: of those, reported received (without SACK: duplicate acknowledgements).
    pub sacked: u32,
    /// `tcpi_lost`: of those, taken for lost.
    pub lost: u32,
    /// `tcpi_retrans`: retransmissions outstanding.
    pub retrans: u32,
    /// `unacked - sacked - lost + retrans`: segments in flight.
    pub pipe: u32,
}

/// What accurate ECN has reported, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarksInfo {
    /// `tcpi_delivered_ce`: packets that accurate ECN reports as marked (modulo 2^32, as the bytes below).
    pub delivered_ce: u32,
    /// `tcpi_delivered_ce_bytes`: bytes that it reports as arrived with a congestion mark.
    pub delivered_ce_bytes: u32,
    /// `tcpi_delivered_e0_bytes`: with ECT(0).
    pub delivered_e0_bytes: u32,
    /// `tcpi_delivered_e1_bytes`: with ECT(1).
    pub delivered_e1_bytes: u32,
    /// `tcpi_received_ce`: packets that arrived here with a congestion mark, as accurate ECN reports them to the peer.
    pub received_ce: u32,
}
