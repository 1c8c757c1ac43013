//! Observation of an endpoint: the observer is passed in; without one, only a branch remains.

use crate::Nanos;
use crate::seq::Seq;
use crate::state::CaState;

/// The sender's state after an acknowledgement or a timer. Windows in segments, times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Time.
    pub now: Nanos,
    /// State of the sender.
    pub state: CaState,
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold.
    pub ssthresh: u32,
    /// Duplicate-ACK threshold of the loss detection.
    pub dupthresh: u32,
    /// Segments in flight.
    pub pipe: u32,
    /// Segments outstanding.
    pub unacked: u32,
    /// Smoothed round-trip time.
    pub srtt: Nanos,
    /// Retransmission timeout.
    pub rto: Nanos,
    /// First unacknowledged sequence number.
    pub snd_una: Seq,
}

/// A retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retransmission {
    /// Time.
    pub now: Nanos,
    /// First sequence number.
    pub start: Seq,
    /// One past the last.
    pub end: Seq,
    /// Time since its first transmission: the minimum delay of its bytes.
    pub delay: Nanos,
    /// Number of transmissions including this one.
    pub transmissions: u8,
    /// State in which it is sent.
    pub state: CaState,
}

/// Receives the events of an endpoint. Every method does nothing by default.
pub trait Observer: std::fmt::Debug + Send {
    /// After each acknowledgement and each timer.
    fn state(&mut self, _snapshot: &Snapshot) {}
    /// A round-trip time was measured.
    fn rtt(&mut self, _now: Nanos, _sample: Nanos) {}
    /// A segment is retransmitted.
    fn retransmitted(&mut self, _event: &Retransmission) {}
    /// The sender's state changed.
    fn ca_state(&mut self, _now: Nanos, _from: CaState, _to: CaState) {}
    /// A reduction of the congestion window was undone.
    fn undo(&mut self, _now: Nanos, _cwnd: u32) {}
    /// The duplicate-ACK threshold of the loss detection changed.
    fn dupthresh(&mut self, _now: Nanos, _from: u32, _to: u32) {}
}
