//! The counters of an endpoint, under their usual names.

use crate::Nanos;
use crate::state::CaState;

/// Event counters: those of Linux (`nstat`) under their names there, then those of the papers. All start at 0 and
/// only increase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments received (`InSegs`).
    pub in_segs: u64,
    /// Segments sent, retransmissions included (`OutSegs` + `RetransSegs` in Linux).
    pub out_segs: u64,
    /// Segments retransmitted (`RetransSegs`; `PktsRetrans` of web100).
    pub retrans_segs: u64,
    /// `TCPFastRetrans`: retransmitted in fast recovery.
    pub tcp_fast_retrans: u64,
    /// `TCPSlowStartRetrans`: retransmitted after a timeout.
    pub tcp_slow_start_retrans: u64,
    /// `TCPSACKReorder`: reordering seen by SACK.
    pub tcp_sack_reorder: u64,
    /// `TCPFACKReorder`: seen while FACK was on.
    pub tcp_fack_reorder: u64,
    /// `TCPRenoReorder`: seen by too many duplicate ACKs, without SACK.
    pub tcp_reno_reorder: u64,
    /// `TCPTSReorder`: seen by timestamps.
    pub tcp_ts_reorder: u64,
    /// `TCPFullUndo`: a recovery undone at its end.
    pub tcp_full_undo: u64,
    /// `TCPPartialUndo`: undone on a partial acknowledgement.
    pub tcp_partial_undo: u64,
    /// `TCPDSACKUndo`: undone because every retransmission was a duplicate.
    pub tcp_dsack_undo: u64,
    /// `TCPLossUndo`: a timeout undone.
    pub tcp_loss_undo: u64,
    /// `TCPSpuriousRTOs`: a timeout found spurious by F-RTO.
    pub tcp_spurious_rtos: u64,
    /// `TCPDSACKRecv`: DSACK below the acknowledgement received.
    pub tcp_dsack_recv: u64,
    /// `TCPDSACKOfoRecv`: DSACK inside the second block received.
    pub tcp_dsack_ofo_recv: u64,
    /// `TCPDSACKIgnoredDubious`: DSACKs that cannot be correct.
    pub tcp_dsack_ignored_dubious: u64,
    /// `TCPDSACKOldSent`: DSACK sent for data already delivered.
    pub tcp_dsack_old_sent: u64,
    /// `TCPDSACKOfoSent`: DSACK sent for data waiting out of order.
    pub tcp_dsack_ofo_sent: u64,
    /// `TCPSackRecovery`: fast recoveries with SACK.
    pub tcp_sack_recovery: u64,
    /// `TCPRenoRecovery`: fast recoveries without SACK.
    pub tcp_reno_recovery: u64,
    /// `TCPLossProbes`: tail loss probes sent.
    pub tcp_loss_probes: u64,
    /// `TCPLossProbeRecovery`: a probe repaired a loss.
    pub tcp_loss_probe_recovery: u64,
    /// `TCPTimeouts`: retransmission timer expired.
    pub tcp_timeouts: u64,
    /// `TCPLostRetransmit`: a retransmission was considered lost.
    pub tcp_lost_retransmit: u64,
    /// Times at which the host's own device was full (`SendStall` of web100).
    pub send_stalls: u64,
    /// `TCPSACKReneging`: the receiver discarded what it had reported.
    pub tcp_sack_reneging: u64,
    /// `TCPOFOQueue`: segments queued out of order.
    pub tcp_ofo_queue: u64,
    /// `TCPAckCompressed`: acknowledgements saved by SACK compression.
    pub tcp_ack_compressed: u64,
    /// `DelayedACKs`: acknowledgements sent by the timer.
    pub delayed_acks: u64,
    /// `PAWSEstab`: segments rejected by PAWS.
    pub paws_estab: u64,
    /// `TCPChallengeACK`.
    pub tcp_challenge_ack: u64,
    /// `TCPWinProbe`: probes of a closed window, also those like `TCPKeepAlive`.
    pub tcp_win_probe: u64,

    /// Acknowledgements without payload that repeat the number while data is outstanding (`DupAcksIn`). Those with
    /// another window count here, although RFC 5681 section 2 calls them window updates and recovery ignores them.
    pub dup_acks_in: u64,
    /// SACK blocks received (`SackBlocksRcvd`).
    pub sack_blocks_rcvd: u64,
    /// Acknowledgements sent.
    pub acks_out: u64,
    /// Fast recoveries begun.
    pub fast_recoveries: u64,
    /// Fast recoveries that the sender itself recognised as unnecessary and undid.
    pub undone_recoveries: u64,
    /// Payload bytes sent for the first time.
    pub bytes_sent: u64,
    /// Payload bytes retransmitted.
    pub bytes_retrans: u64,
    /// Payload bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Payload bytes delivered in order to the application's buffer.
    pub bytes_received: u64,
    /// Data segments received.
    pub data_segs_in: u64,
    /// Data segments without new data: the truth about spurious retransmissions, at the receiver.
    pub duplicate_segs_in: u64,
    /// Data segments that arrived above the next expected one.
    pub out_of_order_segs_in: u64,
    /// Data segments that arrived and were discarded although some of their bytes were missing: too old by
    /// their timestamps (PAWS), or outside the window.
    pub refused_segs_in: u64,
    /// Times at which the receiver discarded what it held out of order.
    pub reneges: u64,
}

/// A snapshot of the sender (`tcp_info`). Windows and counts in segments, times in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// `tcpi_ca_state`.
    pub ca_state: CaState,
    /// `tcpi_snd_cwnd`.
    pub cwnd: u32,
    /// `tcpi_snd_ssthresh`; `u32::MAX` before the first loss.
    pub ssthresh: u32,
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
    /// `tcpi_unacked`: segments outstanding.
    pub unacked: u32,
    /// `tcpi_sacked`: of those, reported received (without SACK: duplicate acknowledgements).
    pub sacked: u32,
    /// `tcpi_lost`: of those, taken for lost.
    pub lost: u32,
    /// `tcpi_retrans`: retransmissions outstanding.
    pub retrans: u32,
    /// `tcpi_total_retrans`.
    pub total_retrans: u64,
    /// `tcpi_reordering`, the duplicate-ACK threshold in force.
    pub reordering: u32,
    /// `unacked - sacked - lost + retrans`: segments in flight.
    pub pipe: u32,
    /// Bytes written and not sent yet (`tcpi_notsent_bytes`).
    pub notsent_bytes: u64,
    /// Bytes acknowledged cumulatively (`tcpi_bytes_acked`).
    pub bytes_acked: u64,
    /// Maximum segment size in force, bytes of payload (`tcpi_snd_mss`).
    pub snd_mss: u32,
    /// Peer's window, bytes.
    pub snd_wnd: u64,
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
