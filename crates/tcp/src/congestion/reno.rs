//! Reno and NewReno: additive increase by one segment per round trip, half the window at a loss.
//!
//! Source: RFC 5681 section 3.1, RFC 6582 section 3.2. NewReno differs from Reno only in recovery, which the endpoint implements,
//! so both share this window.
//!
//! 1. Slow start: `cwnd += acked` while `cwnd < ssthresh` (RFC 5681 section 3.1 equation (2), with L of one segment per segment
//!    acknowledged, as RFC 3465 and Linux since 3.15; one per acknowledgement before that).
//! 2. Congestion avoidance: `cwnd += 1` per `cwnd` segments acknowledged (RFC 5681 section 3.1 equation (3)).
//! 3. Loss: `ssthresh = max(W / 2, 2)` (RFC 5681 section 3.1 equation (4)).
//!
//! W is `FlightSize` in the RFC and `cwnd` in Linux. They are equal while the window limits sending, and differ after
//! limited transmit or for an application that pauses. [`Reno::rfc5681`] uses the former, the default the latter.

use super::{AckEvent, CongestionControl, Entry, LossEvent, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "reno",
    about: "one segment a round trip, half at a loss",
    source: "RFC 5681, RFC 6582, Linux",
    build: || Box::new(Reno::default()),
};

/// The window of Reno and NewReno.
#[derive(Debug, Clone, Default)]
pub struct Reno {
    halve_flight: bool,
}

impl Reno {
    /// The variant that halves `FlightSize` instead of `cwnd`.
    pub fn rfc5681() -> Self {
        Self { halve_flight: true }
    }
}

/// Slow start, then Reno's additive increase (RFC 5681 section 3.1 equations (2) and (3)); shared by several algorithms.
pub(super) fn grow(window: &mut Window, acked: u32) {
    let mut left = acked;
    if window.in_slow_start() {
        left = window.slow_start(acked);
    }
    if left > 0 {
        let per = window.cwnd;
        window.additive_increase(per, left);
    }
}

/// Half of `segments`, at least 2 (RFC 5681 section 3.1 equation (4)).
pub(super) fn half(segments: u32) -> u32 {
    (segments / 2).max(2)
}

impl CongestionControl for Reno {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        grow(window, ack.acked);
    }

    fn ssthresh(&mut self, window: &Window, loss: &LossEvent) -> u32 {
        half(if self.halve_flight {
            loss.in_flight
        } else {
            window.cwnd
        })
    }
}
