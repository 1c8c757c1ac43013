//! Westwood+ as in ns-3: one sample per round trip, Tustin's filter, and the estimate as threshold.
//!
//! Source: Mascolo, Casetti, Gerla, Sanadidi, Wang, "TCP Westwood: bandwidth estimation for enhanced transport
//! over wireless links", MobiCom 2001 (the filter); ns-3 `TcpWestwoodPlus`.
//!
//! 1. `b = bytes acknowledged / RTT`, over one RTT from the first measured acknowledgement on.
//! 2. `BWE = 0.9 BWE + 0.1 (b + b_last) / 2`.
//! 3. Any loss: `ssthresh = max(BWE RTTmin, 2 MSS)`.
//!
//! Growth is that of Reno. ns-3 takes the sample when a timer expires; here the first acknowledgement from that time
//! on takes it, and the bytes of that acknowledgement belong to the next sample.

use super::reno;
use super::{AckEvent, CongestionControl, Entry, LossEvent, Nanos, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "westwood-ns3",
    about: "Westwood+ with the filter and the threshold of ns-3",
    source: "MobiCom 2001, ns-3 TcpWestwoodPlus",
    build: || Box::new(WestwoodNs3::default()),
};

const ALPHA: f64 = 0.9;

/// Westwood+ of ns-3.
#[derive(Debug, Clone, Default)]
pub struct WestwoodNs3 {
    /// Segments per second.
    bandwidth: f64,
    last_sample: f64,
    segments: u64,
    /// End and length of the current measurement.
    until: Option<(Nanos, Nanos)>,
    min_rtt: Nanos,
}

impl WestwoodNs3 {
    /// The estimated bandwidth, segments per second.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Ends the measurement if its time has come (1 and 2).
    fn update(&mut self, now: Nanos) {
        let Some((_, length)) = self.until.filter(|&(end, _)| now >= end) else {
            return;
        };
        let sample = self.segments as f64 / (length.max(1) as f64 * 1e-9);
        self.bandwidth = ALPHA * self.bandwidth + (1.0 - ALPHA) * (sample + self.last_sample) / 2.0;
        self.last_sample = sample;
        self.segments = 0;
        self.until = None;
    }

    /// Segments in flight that the estimate and the smallest RTT allow (3).
    fn carried(&self) -> u32 {
        let segments = self.bandwidth * self.min_rtt as f64 * 1e-9;
        (segments as u32).max(2)
    }
}

impl CongestionControl for WestwoodNs3 {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.update(ack.now);
        self.min_rtt = ack.min_rtt;
        let Some(rtt) = ack.rtt else { return };
        self.segments = self.segments.saturating_add(u64::from(ack.acked));
        self.until.get_or_insert((ack.now.saturating_add(rtt), rtt));
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno::grow(window, ack.acked);
    }

    fn ssthresh(&mut self, _window: &Window, loss: &LossEvent) -> u32 {
        self.update(loss.now);
        self.carried()
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bandwidth_segments_per_s", self.bandwidth);
        out("carried", f64::from(self.carried()));
    }
}
