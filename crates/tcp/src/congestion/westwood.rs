//! Westwood+: after a loss, the window is the measured bandwidth times the smallest RTT.
//!
//! Source: Grieco, Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), 2004; constants and arithmetic as in Linux 2.6.24 and later, where the
//! estimate is in bytes per jiffy.
//!
//! 1. Once in `max(RTT, 50 ms)`: `b = bytes acknowledged / time`.
//! 2. `ns = (7 ns + b) / 8`, `BWE = (7 BWE + ns) / 8`; the first sample sets both.
//! 3. A duplicate acknowledgement, whether it SACKs new data or not, counts one MSS, which later cumulative
//!    acknowledgements give back: bytes are counted when they arrive. But those whose header is as expected, which without SACK
//!    duplicates have, too, count by their number alone (`westwood_fast_bw`): there bytes are counted when a hole is filled.
//! 4. Recovery ends: `cwnd = ssthresh = max(BWE RTTmin / MSS, 2)`. Timeout, if it begins a reduction: `ssthresh` so, and RTTmin
//!    is measured anew.
//!
//! Growth is that of Reno, and so is the threshold during recovery, half the window. The variant in ns-3 is in
//! `westwood_ns3.rs`.

use super::reno::{self, half};
use super::{
    AckEvent, CongestionControl, Entry, Event, HZ, LossEvent, Nanos, Start, Window, jiffies, micros,
};

pub(super) const ENTRY: Entry = Entry {
    name: "westwood",
    about: "Westwood+: after a loss the window the path was seen to carry",
    source: "ACM CCR 34(2) 2004, Linux",
    build: || Box::new(Westwood::default()),
};

/// Shortest time over which bandwidth is measured, jiffies.
const MIN_MEASUREMENT_JIFFIES: u64 = HZ / 20;
/// RTT before the first measurement, jiffies.
const UNKNOWN_RTT: u64 = 20 * HZ;

/// Westwood+.
#[derive(Debug, Clone)]
pub struct Westwood {
    /// The two stages of the filter, bytes per jiffy.
    bandwidth: (u64, u64),
    /// Bytes counted since `since`, jiffies.
    bytes: u64,
    since: u64,
    snd_una: Option<u64>,
    /// Bytes counted for duplicate acknowledgements that later cumulative acknowledgements must subtract.
    accounted: u64,
    mss: u64,
    rtt: u64,
    rtt_min: u64,
    reset_rtt_min: bool,
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            bandwidth: (0, 0),
            bytes: 0,
            since: 0,
            snd_una: None,
            accounted: 0,
            mss: 0,
            rtt: UNKNOWN_RTT,
            rtt_min: UNKNOWN_RTT,
            // The handshake's time is used until data is measured.
            reset_rtt_min: true,
        }
    }
}

impl Westwood {
    /// The estimated bandwidth, bytes per second.
    pub fn bandwidth(&self) -> u64 {
        self.bandwidth.1.saturating_mul(HZ)
    }

    /// Segments in flight that the estimate and the smallest RTT allow (4).
    fn carried(&self) -> u32 {
        let bytes = u128::from(self.bandwidth.1) * u128::from(self.rtt_min);
        u32::try_from(bytes / u128::from(self.mss.max(1)))
            .unwrap_or(u32::MAX)
            .max(2)
    }

    /// Ends the measurement if it has lasted long enough (1 and 2).
    fn update(&mut self, now: u64) {
        let time = now.saturating_sub(self.since);
        if self.rtt == 0 || time <= self.rtt.max(MIN_MEASUREMENT_JIFFIES) {
            return;
        }
        let sample = self.bytes / time;
        self.bandwidth = if self.bandwidth == (0, 0) {
            (sample, sample)
        } else {
            let first = filter(self.bandwidth.0, sample);
            (first, filter(self.bandwidth.1, first))
        };
        self.bytes = 0;
        self.since = now;
    }

    /// Bytes delivered, given `cumulative` newly acknowledged bytes (3).
    fn arrived(&mut self, cumulative: u64) -> u64 {
        if cumulative == 0 {
            self.accounted = self.accounted.saturating_add(self.mss);
            self.mss
        } else if cumulative <= self.mss {
            cumulative
        } else if self.accounted >= cumulative {
            self.accounted -= cumulative;
            self.mss
        } else {
            cumulative - std::mem::take(&mut self.accounted)
        }
    }

    /// An acknowledgement whose header is as expected counts by its number alone (`westwood_fast_bw`).
    fn count(&mut self, cumulative: u64, predicted: bool) {
        let arrived = match predicted {
            true => cumulative,
            false => self.arrived(cumulative),
        };
        self.bytes = self.bytes.saturating_add(arrived);
    }

    fn update_rtt_min(&mut self) {
        if std::mem::take(&mut self.reset_rtt_min) {
            self.rtt_min = self.rtt;
        } else {
            self.rtt_min = self.rtt_min.min(self.rtt);
        }
    }
}

/// Ticks in `time`, a part of one counts whole (`usecs_to_jiffies`).
fn jiffies_up(time: Nanos) -> u64 {
    micros(time).div_ceil(1_000_000 / HZ)
}

/// `(7 old + new) / 8`.
fn filter(old: u64, new: u64) -> u64 {
    // Rates in bytes per jiffy are far below 2^61.
    (old.saturating_mul(7).saturating_add(new)) >> 3
}

impl CongestionControl for Westwood {
    fn start(&mut self, _window: &mut Window, start: &Start) {
        self.since = jiffies(start.now);
    }

    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.mss = u64::from(ack.mss);
        if let Some(rtt) = ack.rtt {
            self.rtt = jiffies_up(rtt).max(1);
        }
        self.update(jiffies(ack.now));
        if let Some(before) = self.snd_una.replace(ack.snd_una) {
            self.count(ack.snd_una.saturating_sub(before), ack.predicted);
        }
        self.update_rtt_min();
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno::grow(window, ack.acked);
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        half(window.cwnd)
    }

    fn event(&mut self, window: &mut Window, event: Event, now: Nanos) {
        match event {
            Event::DupAck { predicted } => {
                self.update(jiffies(now));
                self.count(0, predicted);
                self.update_rtt_min();
            }
            Event::RecoveryEnd => {
                window.ssthresh = self.carried();
                window.cwnd = window.ssthresh.min(window.clamp).max(1);
            }
            Event::ThresholdAtTimeout => {
                window.ssthresh = self.carried();
                self.reset_rtt_min = true;
            }
            _ => {}
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bandwidth_bytes_per_s", self.bandwidth() as f64);
        out("rtt_min_s", self.rtt_min as f64 / HZ as f64);
        out("carried", f64::from(self.carried()));
    }
}
