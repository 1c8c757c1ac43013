//! CUBIC as in Linux 3.19 (module version 2.3): a decrease to 0.7, steps counted in acknowledgements, HyStart in
//! milliseconds.
//!
//! Source: Linux 3.18 and 3.19, net/ipv4/tcp_cubic.c. W(t), K and Reno's window are in `cubic_curve.rs`; beyond them:
//!
//! 1. Loss: `ssthresh = max(717 cwnd / 1024, 2)`; fast convergence with the same factor.
//! 2. A step per `cwnd / (W(now + RTTmin - epoch) - cwnd)` segments, `100 cwnd` at or above the curve, 20 at most while no
//!    loss has shown a maximum.
//! 3. Reno's window, beta of 717/1024, grows by one per 15/8 cwnd; not slower than it.
//! 4. Segments become acknowledgements by the ratio of delayed acknowledgements measured in the Open state. So a path
//!    that keeps the sender in Disorder, where every segment is acknowledged, lets the window grow up to twice as fast.
//! 5. Slow start adds what the acknowledgement covers, also what was SACKed before. It ends by HyStart
//!    (`hystart.rs`).
//!
//! Since 4.0 segments are counted and (4) is gone: `cubic.rs`. Undo restores the window before the reduction.

use super::binary_increase::{last_max, reduced, step_per_acknowledgement};
use super::cubic_steps::Steps;
use super::hystart::HyStart;
use super::{
    AckEvent, CongestionControl, Entry, Event, HZ, LossEvent, Nanos, Window, jiffies, micros,
};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic-3.19",
    about: "CUBIC of Linux 3.19, steps in acknowledgements, HyStart in milliseconds",
    source: "Linux 3.18 and 3.19 (tcp_cubic 2.3)",
    build: || Box::new(Cubic319::default()),
};

const BETA: u32 = 717;
/// `8 (1024 + BETA) / 3 / (1024 - BETA)`: acknowledgements per step of Reno, eighths of the window.
const RENO_EIGHTHS: u32 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// Segments per step while no loss has shown a maximum.
const UNKNOWN_MAXIMUM: u32 = 20;

/// CUBIC of Linux 3.19.
#[derive(Debug, Clone)]
pub(super) struct Cubic319 {
    steps: Steps,
    hystart: HyStart,
    /// Smallest RTT in microseconds, 0 before the first.
    delay_min_us: u64,
}

impl Default for Cubic319 {
    fn default() -> Self {
        Self {
            steps: Steps::default(),
            hystart: HyStart::in_milliseconds(),
            delay_min_us: 0,
        }
    }
}

impl Cubic319 {
    /// Keeps the smallest RTT. False within a second of the start of an epoch, when the queue that overflowed is still
    /// draining.
    fn measure_delay(&mut self, now: u64, rtt_us: u64) -> bool {
        let draining = |start: u64| now.saturating_sub(start) < HZ;
        if self.steps.epoch.start.is_some_and(draining) {
            return false;
        }
        if self.delay_min_us == 0 || rtt_us < self.delay_min_us {
            self.delay_min_us = rtt_us;
        }
        true
    }

    /// Acknowledgements per step (2 to 4).
    fn update(&mut self, cwnd: u32, now: u64) {
        let delay = self.delay_min_us / (1_000_000 / HZ);
        let last_max = self.steps.last_max;
        let bound = |per: u32, _| match last_max {
            0 => per.min(UNKNOWN_MAXIMUM),
            _ => per,
        };
        self.steps.update(cwnd, now, (delay, RENO_EIGHTHS), bound);
    }
}

impl CongestionControl for Cubic319 {
    fn measure(&mut self, window: &mut Window, ack: &AckEvent) {
        if !ack.dubious {
            self.steps.ratio.sample(ack.acked);
        }
        let Some(rtt) = ack.rtt else { return };
        let rtt_us = micros(rtt).max(1);
        if self.measure_delay(jiffies(ack.now), rtt_us) {
            self.hystart.update(window, ack, rtt_us, self.delay_min_us);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if window.cwnd <= window.ssthresh {
            self.hystart.growing(ack);
            let bound = window.ssthresh.saturating_add(1);
            let grown = window.cwnd.saturating_add(ack.acked).min(bound);
            window.cwnd = grown.min(window.clamp);
        } else {
            self.update(window.cwnd, jiffies(ack.now));
            step_per_acknowledgement(window, self.steps.per);
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.steps.epoch.start = None;
        self.steps.last_max = last_max(window.cwnd, self.steps.last_max, BETA);
        reduced(window.cwnd, BETA)
    }

    fn event(&mut self, _window: &mut Window, event: Event, _now: Nanos) {
        if event == Event::Timeout {
            *self = Self::default();
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.steps.trace(out);
    }
}
