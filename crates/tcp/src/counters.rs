//! The counters of an endpoint, under their usual names.

/// Event counters: those of Linux (`nstat`) under their names there, and those of the papers. All start at 0 and
/// only increase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// What was sent.
    pub sent: SentCounters,
    /// Losses that the sender suspected.
    pub recoveries: RecoveryCounters,
    /// Recoveries and timeouts found to be spurious.
    pub undos: UndoCounters,
    /// Reordering that the sender saw.
    pub reordering: ReorderingCounters,
    /// Duplicates reported.
    pub dsack: DsackCounters,
    /// Acknowledgements.
    pub acks: AckCounters,
    /// What arrived.
    pub received: ReceivedCounters,
}

/// What was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentCounters {
    /// Segments sent, retransmissions included (`OutSegs` + `RetransSegs` in Linux).
    pub out_segs: u64,
    /// Segments retransmitted (`RetransSegs`; `PktsRetrans` of web100).
    pub retrans_segs: u64,
    /// `TCPFastRetrans`: retransmitted in fast recovery.
    pub tcp_fast_retrans: u64,
    /// `TCPSlowStartRetrans`: retransmitted after a timeout.
    pub tcp_slow_start_retrans: u64,
    /// Payload bytes sent for the first time.
    pub bytes_sent: u64,
    /// Payload bytes retransmitted.
    pub bytes_retrans: u64,
    /// Payload bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Times at which the host's own device was full (`SendStall` of web100).
    pub send_stalls: u64,
    /// `TCPWinProbe`: probes of a closed window, also those like `TCPKeepAlive`.
    pub tcp_win_probe: u64,
}

/// Losses that the sender suspected, and how it noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveryCounters {
    /// Fast recoveries begun.
    pub fast_recoveries: u64,
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
    /// `TCPSACKReneging`: the receiver discarded what it had reported.
    pub tcp_sack_reneging: u64,
}

/// Recoveries and timeouts that the sender found to be spurious.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoCounters {
    /// Fast recoveries that the sender itself recognised as unnecessary and undid.
    pub undone_recoveries: u64,
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
}

/// Reordering that the sender saw, by what showed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReorderingCounters {
    /// `TCPSACKReorder`: reordering seen by SACK.
    pub tcp_sack_reorder: u64,
    /// `TCPFACKReorder`: seen while FACK was on.
    pub tcp_fack_reorder: u64,
    /// `TCPRenoReorder`: seen by too many duplicate ACKs, without SACK.
    pub tcp_reno_reorder: u64,
    /// `TCPTSReorder`: seen by timestamps.
    pub tcp_ts_reorder: u64,
}

/// Duplicates reported by DSACKs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DsackCounters {
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
}

/// Acknowledgements of both directions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AckCounters {
    /// Acknowledgements sent.
    pub acks_out: u64,
    /// `DelayedACKs`: acknowledgements sent by the timer.
    pub delayed_acks: u64,
    /// `TCPAckCompressed`: acknowledgements saved by SACK compression.
    pub tcp_ack_compressed: u64,
    /// `TCPChallengeACK`.
    pub tcp_challenge_ack: u64,
    /// Acknowledgements without payload that repeat the number while data is outstanding (`DupAcksIn`). Those with
    /// another window count here, although RFC 5681 section 2 calls them window updates and recovery ignores them.
    pub dup_acks_in: u64,
    /// SACK blocks received (`SackBlocksRcvd`).
    pub sack_blocks_rcvd: u64,
    /// Round-trip times measured (`CountRTT` of RFC 4898).
    pub count_rtt: u64,
    /// Their sum, nanoseconds (`SumRTT`).
    pub sum_rtt: u64,
}

/// What arrived, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceivedCounters {
    /// Segments received (`InSegs`).
    pub in_segs: u64,
    /// Payload bytes delivered in order to the application's buffer.
    pub bytes_received: u64,
    /// Data segments received.
    pub data_segs_in: u64,
    /// Data segments without new data: the truth about spurious retransmissions, at the receiver.
    pub duplicate_segs_in: u64,
    /// Data segments that arrived above the next expected one.
    pub out_of_order_segs_in: u64,
    /// `TCPOFOQueue`: segments queued out of order.
    pub tcp_ofo_queue: u64,
    /// Data segments that arrived and were discarded although some of their bytes were missing: too old by
    /// their timestamps (PAWS), or outside the window.
    pub refused_segs_in: u64,
    /// `PAWSEstab`: segments rejected by PAWS.
    pub paws_estab: u64,
    /// Times at which the receiver discarded what it held out of order.
    pub reneges: u64,
}
