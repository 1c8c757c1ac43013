//! The names assertions may use: fields of Linux's `struct tcp_info` and constants of its headers.

use inorder_tcp::config::MS;
use inorder_tcp::{CaState, Endpoint, Nanos, State};

use super::host::Connection;
use crate::code::Value;

/// The value of `name` for this connection at this time.
pub(super) fn value(connection: &Connection, now: Nanos, name: &str) -> Option<Value> {
    let number = constant(name)
        .or_else(|| time(connection, now, name))
        .or_else(|| field(&connection.endpoint, name))?;
    Some(Value::Integer(number))
}

fn constant(name: &str) -> Option<i64> {
    Some(match name {
        "TCP_CA_Open" => ca_state(CaState::Open),
        "TCP_CA_Disorder" => ca_state(CaState::Disorder),
        "TCP_CA_CWR" => ca_state(CaState::Cwr),
        "TCP_CA_Recovery" => ca_state(CaState::Recovery),
        "TCP_CA_Loss" => ca_state(CaState::Loss),
        "TCP_ESTABLISHED" => state(State::Established),
        "TCP_SYN_SENT" => state(State::SynSent),
        "TCP_SYN_RECV" => state(State::SynReceived),
        "TCP_FIN_WAIT1" => state(State::FinWait1),
        "TCP_FIN_WAIT2" => state(State::FinWait2),
        "TCP_TIME_WAIT" => state(State::TimeWait),
        "TCP_CLOSE" => state(State::Closed),
        "TCP_CLOSE_WAIT" => state(State::CloseWait),
        "TCP_LAST_ACK" => state(State::LastAck),
        "TCP_LISTEN" => state(State::Listen),
        "TCP_CLOSING" => state(State::Closing),
        "TCP_INFINITE_SSTHRESH" => 0x7fff_ffff,
        "TCPI_OPT_TIMESTAMPS" => 1,
        "TCPI_OPT_SACK" => 2,
        "TCPI_OPT_WSCALE" => 4,
        "TCPI_OPT_ECN" => 8,
        "TCPI_OPT_SYN_DATA" => 32,
        "True" => 1,
        "False" => 0,
        _ => return None,
    })
}

/// Numbers of `enum tcp_ca_state`.
fn ca_state(state: CaState) -> i64 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

/// Numbers of the enumeration in `tcp_states.h`.
fn state(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

fn time(connection: &Connection, now: Nanos, name: &str) -> Option<i64> {
    let limits = connection.limits.at(now);
    Some(match name {
        "tcpi_last_data_recv" => (now - connection.endpoint.last_data_at()) / MS,
        "tcpi_busy_time" => limits.busy / 1_000,
        "tcpi_rwnd_limited" => limits.by_window / 1_000,
        _ => return None,
    })
}

fn field(endpoint: &Endpoint, name: &str) -> Option<i64> {
    let info = endpoint.info();
    let counters = endpoint.counters();
    let micros = |ns: Nanos| (ns / 1_000).cast_unsigned();
    let number = match name {
        "tcpi_options" => return Some(endpoint.options().into()),
        "tcpi_ca_state" => return Some(ca_state(info.ca_state)),
        "tcpi_state" => return Some(state(endpoint.state())),
        "tcpi_snd_ssthresh" if info.ssthresh == u32::MAX => 0x7fff_ffff,
        "tcpi_snd_ssthresh" => info.ssthresh.into(),
        "tcpi_snd_cwnd" => info.cwnd.into(),
        "tcpi_reordering" => info.reordering.into(),
        "tcpi_unacked" => info.flight.unacked.into(),
        "tcpi_sacked" => info.flight.sacked.into(),
        "tcpi_lost" => info.flight.lost.into(),
        "tcpi_retrans" => info.flight.retrans.into(),
        "tcpi_total_retrans" => info.total_retrans,
        "tcpi_backoff" => info.timing.backoff.into(),
        "tcpi_retransmits" => info.timing.retransmits.into(),
        "tcpi_rtt" => micros(info.timing.rtt),
        "tcpi_rttvar" => micros(info.timing.rttvar),
        "tcpi_min_rtt" => micros(info.timing.min_rtt),
        "tcpi_rto" => micros(info.timing.rto),
        "tcpi_notsent_bytes" => info.notsent_bytes,
        "tcpi_bytes_acked" => info.bytes_acked,
        "tcpi_snd_mss" => info.snd_mss.into(),
        "tcpi_snd_wnd" => info.snd_wnd,
        "tcpi_delivered_ce" => info.marks.delivered_ce.into(),
        "tcpi_received_ce" => info.marks.received_ce.into(),
        "tcpi_delivered_ce_bytes" => info.marks.delivered_ce_bytes.into(),
        "tcpi_delivered_e0_bytes" => info.marks.delivered_e0_bytes.into(),
        "tcpi_delivered_e1_bytes" => info.marks.delivered_e1_bytes.into(),
        "tcpi_bytes_received" => counters.received.bytes_received,
        "tcpi_bytes_sent" => counters.sent.bytes_sent + counters.sent.bytes_retrans,
        "tcpi_bytes_retrans" => counters.sent.bytes_retrans,
        "tcpi_segs_in" => counters.received.in_segs,
        "tcpi_segs_out" => counters.sent.out_segs,
        "tcpi_data_segs_in" => counters.received.data_segs_in,
        "tcpi_dsack_dups" => counters.dsack.tcp_dsack_recv + counters.dsack.tcp_dsack_ofo_recv,
        // Linux counts every event from which it learns, and so do these counters.
        "tcpi_reord_seen" => {
            counters.reordering.tcp_sack_reorder
                + counters.reordering.tcp_ts_reorder
                + counters.reordering.tcp_reno_reorder
        }
        "tcpi_rcv_ooopack" => counters.received.out_of_order_segs_in,
        _ => return mib(endpoint, name),
    };
    i64::try_from(number).ok()
}

/// Event counters with the names that `nstat` prints; only scripts for this interpreter can use them.
fn mib(endpoint: &Endpoint, name: &str) -> Option<i64> {
    let counters = endpoint.counters();
    let number = match name {
        "TCPSACKReorder" => counters.reordering.tcp_sack_reorder,
        "TCPFACKReorder" => counters.reordering.tcp_fack_reorder,
        "TCPRenoReorder" => counters.reordering.tcp_reno_reorder,
        "TCPTSReorder" => counters.reordering.tcp_ts_reorder,
        "TCPFullUndo" => counters.undos.tcp_full_undo,
        "TCPPartialUndo" => counters.undos.tcp_partial_undo,
        "TCPDSACKUndo" => counters.undos.tcp_dsack_undo,
        "TCPLossUndo" => counters.undos.tcp_loss_undo,
        "TCPSpuriousRTOs" => counters.undos.tcp_spurious_rtos,
        "TCPDSACKRecv" => counters.dsack.tcp_dsack_recv,
        "TCPDSACKOfoRecv" => counters.dsack.tcp_dsack_ofo_recv,
        "TCPDSACKOldSent" => counters.dsack.tcp_dsack_old_sent,
        "TCPDSACKOfoSent" => counters.dsack.tcp_dsack_ofo_sent,
        "TCPSackRecovery" => counters.recoveries.tcp_sack_recovery,
        "TCPRenoRecovery" => counters.recoveries.tcp_reno_recovery,
        "TCPLossProbes" => counters.recoveries.tcp_loss_probes,
        "TCPLossProbeRecovery" => counters.recoveries.tcp_loss_probe_recovery,
        "TCPTimeouts" => counters.recoveries.tcp_timeouts,
        "TCPLostRetransmit" => counters.recoveries.tcp_lost_retransmit,
        "TCPSACKReneging" => counters.recoveries.tcp_sack_reneging,
        "TCPAckCompressed" => counters.acks.tcp_ack_compressed,
        "DelayedACKs" => counters.acks.delayed_acks,
        "PAWSEstab" => counters.received.paws_estab,
        "TCPChallengeACK" => counters.acks.tcp_challenge_ack,
        _ => return None,
    };
    i64::try_from(number).ok()
}
