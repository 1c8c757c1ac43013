//! Additional input for algorithms that use rates: each transmission, and samples of the delivery rate.
//!
//! Source: Cheng, Cardwell, Yeganeh, Jacobson, "Delivery Rate Estimation"
//! (draft-cheng-iccrg-delivery-rate-estimation), as in Linux `tcp_rate.c`. The sender stores with each segment how
//! much had been delivered when it was sent. The acknowledgement of that segment then gives the amount delivered
//! since, and the time this took. The sampler itself belongs to the sender (`sender/delivery.rs`).

use super::Nanos;
use crate::state::CaState;

/// A segment with data is about to be sent, for the first time or again. All values are those before it is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentEvent {
    /// Time.
    pub now: Nanos,
    /// Segments in flight without this one.
    pub in_flight: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// Stream offset of the next byte to be sent for the first time.
    pub snd_nxt: u64,
    /// True for a retransmission.
    pub again: bool,
    /// The application had less data than the window allows, and the unused part is not yet acknowledged (Linux
    /// `app_limited`). Known only for algorithms that sample the rate.
    pub app_limited: bool,
}

/// The delivery rate according to one acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Segments delivered during `interval`.
    pub delivered: u64,
    /// The longer of the time in which the segments were sent and the time in which they were acknowledged, because
    /// each of the two may be compressed on the path.
    pub interval: Nanos,
    /// Segments that had been delivered when the segment of this sample was sent; used to count round trips (Linux
    /// `prior_delivered`).
    pub prior_delivered: u64,
    /// The application, or the algorithm itself, limited the sender when that segment was sent: the path may carry
    /// more.
    pub app_limited: bool,
}

/// The state after an acknowledgement, when losses have been detected, for algorithms that sample the rate (Linux
/// `rate_sample` and the fields of the connection that `cong_control` reads).
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
    /// Transmissions considered lost since the connection began.
    pub lost: u64,
    /// Segments this acknowledgement delivered (Linux `acked_sacked`).
    pub newly_delivered: u32,
    /// Transmissions this acknowledgement showed to be lost.
    pub newly_lost: u32,
    /// The rate; `None` if this acknowledgement does not give one, because nothing was delivered or because the time
    /// was shorter than the smallest round-trip time.
    pub measured: Option<Measured>,
    /// Round-trip time of the last segment delivered, by its timestamp if it was sent more than once.
    pub rtt: Option<Nanos>,
    /// The receiver may have delayed this acknowledgement.
    pub ack_delayed: bool,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Segments in flight after it.
    pub in_flight: u32,
    /// When pacing allows the next segment, not before `now`.
    pub next_departure: Nanos,
    /// Smoothed round-trip time, 0 before the first measurement.
    pub srtt: Nanos,
    /// Maximum segment size, bytes of payload.
    pub mss: u32,
}
