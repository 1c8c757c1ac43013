//! What an algorithm learns beyond windows and losses: each transmission, and samples of the delivery rate.
//!
//! Source: Cheng, Cardwell, Yeganeh, Jacobson, "Delivery Rate Estimation" (draft-cheng-iccrg-delivery-rate-estimation),
//! as in Linux `tcp_rate.c`. The sender notes on each segment how much had been delivered when it left; the
//! acknowledgement of that segment tells how much has been delivered since, and how long that took. The sampler
//! itself is the sender's (`sender/delivery.rs`).

use super::Nanos;
use crate::state::CaState;

/// A segment with data leaves, for the first time or again. Everything is as it was before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentEvent {
    /// Time.
    pub now: Nanos,
    /// Segments in flight without this one.
    pub in_flight: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// It has been sent before.
    pub again: bool,
    /// The application had less to send than the window took, and what it left unused is not yet acknowledged
    /// (Linux `app_limited`). Known only to algorithms that sample the rate.
    pub app_limited: bool,
}

/// How fast data was delivered, as one acknowledgement shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Segments delivered during `interval`.
    pub delivered: u64,
    /// The longer of the time in which they were sent and the time in which they were acknowledged: either alone
    /// may be compressed on its way.
    pub interval: Nanos,
    /// Segments that had been delivered when the segment was sent on which the sample rests; a count of round
    /// trips goes by it (Linux `prior_delivered`).
    pub prior_delivered: u64,
    /// The application, or the algorithm itself, held the sender back when that segment was sent: the path may
    /// carry more than this.
    pub app_limited: bool,
}

/// An acknowledgement after it has been searched for losses, for algorithms that sample the rate (Linux
/// `rate_sample` and what `cong_control` reads of the connection).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateSample {
    /// Time of arrival.
    pub now: Nanos,
    /// State of the sender after the acknowledgement.
    pub state: CaState,
    /// Segments delivered since the connection began, the SYN included, cumulatively or by SACK.
    pub delivered: u64,
    /// Time of the last acknowledgement that delivered something.
    pub delivered_at: Nanos,
    /// Transmissions taken for lost since the connection began.
    pub lost: u64,
    /// Segments this acknowledgement delivered (Linux `acked_sacked`).
    pub newly_delivered: u32,
    /// Transmissions this acknowledgement showed to be lost.
    pub newly_lost: u32,
    /// The rate; `None` if this acknowledgement tells none: nothing was delivered, or in less than the smallest
    /// round-trip time.
    pub measured: Option<Measured>,
    /// Round-trip time of the last segment delivered, by its timestamp where it was sent more than once.
    pub rtt: Option<Nanos>,
    /// The receiver may have delayed this acknowledgement.
    pub ack_delayed: bool,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Segments in flight after it.
    pub in_flight: u32,
    /// When pacing lets the next segment leave, `now` at the earliest.
    pub next_departure: Nanos,
    /// Smoothed round-trip time, 0 before the first measurement.
    pub srtt: Nanos,
    /// Maximum segment size, bytes of payload.
    pub mss: u32,
}
