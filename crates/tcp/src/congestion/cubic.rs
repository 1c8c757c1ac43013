//! CUBIC as Linux has it today: a decrease to 0.7, segments counted instead of acknowledgements, HyStart.
//!
//! Source: Ha, Rhee, Xu, ACM SIGOPS OSR 42(5), 2008; constants and order of computation as in Linux 5.8 and
//! later (module version 2.3). W(t), K and Reno's window are in `cubic_curve.rs`; beyond them:
//!
//! 1. Loss: `ssthresh = max(717 cwnd / 1024, 2)`; fast convergence with the same factor.
//! 2. A step per `cwnd / (W(now + RTTmin - epoch) - cwnd)` segments acknowledged, `100 cwnd` at or above the
//!    curve, 20 at most while no loss has shown a maximum, 2 at least: 1.5 times a round trip.
//! 3. Reno's window, beta of 717/1024, grows by one per 15/8 cwnd; not slower than it.
//! 4. Slow start ends by HyStart (`hystart.rs`), unless switched off.
//! 5. Idle time does not count: the epoch moves on by it, so that the window does not jump at a restart.
//!
//! The curve is computed at most once per jiffy. A timeout resets everything. Undo restores the window before the
//! reduction. `cubic_2008.rs` lists the differences from 2008.

use super::binary_increase::{Throttle, last_max, reduced};
use super::cubic_curve::{Epoch, pace_to};
use super::hystart::{HyStart, Rounds};
use super::{
    AckEvent, CongestionControl, Entry, Event, HZ, LossEvent, Nanos, Window, jiffies, micros,
};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic",
    about: "CUBIC of today's Linux, decrease to 0.7, HyStart",
    source: "Linux 5.8 to 5.15, 6.14 and later, stable 6.1.129 and later (tcp_cubic 2.3)",
    build: || Box::new(Cubic::default()),
};

pub(super) const ENTRY_5_16: Entry = Entry {
    name: "cubic-5.16",
    about: "the same with HyStart's rounds unnoticed in recovery",
    source: "Linux 5.16 to 6.13",
    build: || Box::new(Cubic::with_growing_rounds()),
};

pub(super) const ENTRY_PLAIN: Entry = Entry {
    name: "cubic-nohystart",
    about: "the same with HyStart switched off",
    source: "Linux 5.8 and later, hystart=0",
    build: || Box::new(Cubic::without_hystart()),
};

const BETA: u32 = 717;
/// `8 (1024 + BETA) / 3 / (1024 - BETA)`: segments per step of Reno, eighths of the window.
const RENO_EIGHTHS: u32 = 8 * (1024 + BETA) / 3 / (1024 - BETA);

/// CUBIC of today's Linux.
#[derive(Debug, Clone)]
pub struct Cubic {
    last_max: u32,
    epoch: Epoch,
    throttle: Throttle,
    hystart: Option<HyStart>,
    /// Smallest RTT in microseconds, 0 before the first.
    delay_min_us: u64,
    pace: u32,
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            hystart: Some(HyStart::new(Rounds::Acknowledged)),
            ..Self::without_hystart()
        }
    }
}

impl Cubic {
    /// As in Linux 5.16 to 6.13: HyStart does not notice rounds that end in recovery.
    pub(crate) fn with_growing_rounds() -> Self {
        Self {
            hystart: Some(HyStart::new(Rounds::Growing)),
            ..Self::without_hystart()
        }
    }

    /// Slow start continues until a loss.
    pub fn without_hystart() -> Self {
        Self {
            last_max: 0,
            epoch: Epoch::default(),
            throttle: Throttle::default(),
            hystart: None,
            delay_min_us: 0,
            pace: 0,
        }
    }

    /// Segments per step (2 and 3).
    fn update(&mut self, cwnd: u32, acked: u32, now: u64) -> u32 {
        self.epoch.count(acked);
        if self.throttle.holds(cwnd, now) {
            return self.pace;
        }
        if self.epoch.start.is_none() || !self.throttle.same_jiffy(now) {
            self.throttle.note(cwnd, now);
            self.epoch.begin(now, cwnd, self.last_max, acked);
            self.pace = self.curve_pace(cwnd, now);
        }
        if let Some(reno) = self.epoch.reno_pace(cwnd, RENO_EIGHTHS) {
            self.pace = self.pace.min(reno);
        }
        self.pace = self.pace.max(2);
        self.pace
    }

    /// Segments per step that follow the curve (2).
    fn curve_pace(&self, cwnd: u32, now: u64) -> u32 {
        let start = self.epoch.start.unwrap_or(now);
        // Microseconds become jiffies by rounding up.
        let delay = self.delay_min_us.div_ceil(1_000_000 / HZ);
        let t = ((now.saturating_sub(start) + delay) << 10) / HZ;
        let pace = pace_to(self.epoch.target(t), cwnd);
        if self.last_max == 0 {
            pace.min(20)
        } else {
            pace
        }
    }

    /// Keeps the smallest RTT, except within a second of the start of an epoch, when the queue that overflowed is
    /// still draining.
    fn measure_delay(&mut self, now: u64, rtt_us: u64) -> bool {
        if self
            .epoch
            .start
            .is_some_and(|start| now.saturating_sub(start) < HZ)
        {
            return false;
        }
        if self.delay_min_us == 0 || rtt_us < self.delay_min_us {
            self.delay_min_us = rtt_us;
        }
        true
    }

    fn reset(&mut self) {
        *self = Self {
            hystart: self.hystart.as_ref().map(HyStart::renewed),
            ..Self::without_hystart()
        };
    }
}

impl CongestionControl for Cubic {
    fn measure(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let rtt_us = micros(rtt).max(1);
        if !self.measure_delay(jiffies(ack.now), rtt_us) {
            return;
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.update(window, ack, rtt_us, self.delay_min_us);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let mut left = ack.acked;
        if window.in_slow_start() {
            if let Some(hystart) = &mut self.hystart {
                hystart.growing(ack);
            }
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        let pace = self.update(window.cwnd, left, jiffies(ack.now));
        window.additive_increase(pace, left);
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.epoch.start = None;
        self.last_max = last_max(window.cwnd, self.last_max, BETA);
        reduced(window.cwnd, BETA)
    }

    fn event(&mut self, _window: &mut Window, event: Event, now: Nanos) {
        match event {
            Event::Timeout => self.reset(),
            Event::Restart { ns } => {
                let moved = self
                    .epoch
                    .start
                    .map(|start| start.saturating_add(jiffies(ns)));
                self.epoch.start = moved.map(|start| start.min(jiffies(now)));
            }
            _ => {}
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.epoch.trace(self.last_max, out);
        out("segments_per_step", f64::from(self.pace));
    }
}
