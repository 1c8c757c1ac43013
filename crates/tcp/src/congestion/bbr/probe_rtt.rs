//! The smallest round-trip time of the last 10 seconds, and the phase in which it is measured again: with four
//! segments in flight, this connection's queue at the bottleneck drains.

use super::window::LEAST_WINDOW;
use super::{Bbr, Mode};
use crate::congestion::{Nanos, RateSample, Window, jiffies};

/// A minimum older than this is measured again, ns.
const LIFETIME: Nanos = 10_000_000_000;
/// Minimum duration of the measuring phase, ns; it also lasts at least one round trip.
const DIP: Nanos = 200_000_000;

/// The smallest round-trip time and the state of the measuring phase. Linux stores these times in jiffies, and so
/// does this struct.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MinRtt {
    value: Option<Nanos>,
    /// When it was measured.
    at: Nanos,
    /// The end of the measuring phase, set as soon as few enough segments are in flight.
    done_at: Option<Nanos>,
    round_done: bool,
}

impl MinRtt {
    /// The handshake measured `rtt`; 0 if it measured none.
    pub(super) fn start(&mut self, rtt: Nanos, now: Nanos) {
        self.value = (rtt > 0).then_some(rtt);
        self.at = now;
    }

    pub(super) fn known(&self) -> Option<Nanos> {
        self.value
    }

    /// The value; the largest time before the first measurement.
    pub(super) fn value(&self) -> Nanos {
        self.value.unwrap_or(Nanos::MAX)
    }

    /// Processes a sample. True if the old value has expired.
    fn update(&mut self, sample: &RateSample) -> bool {
        let expired = jiffies(sample.now) > jiffies(self.at) + jiffies(LIFETIME);
        if let Some(rtt) = sample.rtt
            && (rtt < self.value() || (expired && !sample.ack_delayed))
        {
            self.value = Some(rtt);
            self.at = sample.now;
        }
        expired
    }
}

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        let expired = self.min_rtt.update(sample);
        // The first samples after an idle time measure the path without this connection's queue.
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window.cwnd);
            self.min_rtt.done_at = None;
        }
        self.held_back = self.mode == Mode::ProbeRtt;
        if self.held_back {
            self.dip(window, sample);
        }
        if sample.newly_delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn dip(&mut self, window: &mut Window, sample: &RateSample) {
        if self.min_rtt.done_at.is_some() {
            self.min_rtt.round_done |= self.rounds.started;
            if self.min_rtt.round_done {
                self.check_probe_rtt_done(window, sample.now);
            }
        } else if sample.in_flight <= LEAST_WINDOW {
            self.min_rtt.done_at = Some(sample.now.saturating_add(DIP));
            self.min_rtt.round_done = false;
            self.rounds.end = sample.delivered;
        }
    }

    /// The measuring phase is over: returns to the previous window and state.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Nanos) {
        let done = self.min_rtt.done_at;
        if done.is_none_or(|at| jiffies(now) <= jiffies(at)) {
            return;
        }
        self.min_rtt.at = now;
        window.cwnd = window.cwnd.max(self.conservation.saved);
        if self.full.reached {
            self.probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
