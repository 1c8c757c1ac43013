//! CUBIC as published in 2008 and shipped in Linux 2.6.24 (module version 2.1): a decrease to 0.8, steps
//! counted in acknowledgements, no HyStart.
//!
//! Source: Ha, Rhee, Xu, ACM SIGOPS OSR 42(5), 2008; constants and order of computation as in Linux 2.6.24.
//! W(t), K and Reno's window are in `cubic_curve.rs`; beyond them:
//!
//! 1. Loss: `ssthresh = max(819 cwnd / 1024, 2)`; fast convergence as in BIC.
//! 2. A step per `cwnd / (W(now + RTTmin - epoch) - cwnd)` segments, `100 cwnd` at or above the curve.
//! 3. At and past K at most 16 segments per 100 ms: not fewer than `cwnd / (160 RTTmin[s])` segments a step.
//! 4. A step per 50 before the first loss.
//! 5. Reno's window, `beta` of 819/1024, grows by one per 23/8 cwnd; not slower than it.
//! 6. Segments become acknowledgements by the measured ratio of delayed acknowledgements.
//!
//! Later versions: 717/1024 since 2.6.25 (version 2.2), no limit (3), HyStart since 2.6.29, no (6) since 4.0. Undo
//! restores `last_max_cwnd`, as that kernel did: the maximum after fast convergence, and nothing after a timeout,
//! which resets everything.

use super::binary_increase::{last_max, reduced, step_per_acknowledgement};
use super::cubic_steps::Steps;
use super::{AckEvent, CongestionControl, Entry, Event, HZ, LossEvent, Nanos, Window, jiffies};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic-2008",
    about: "CUBIC of the 2008 paper, decrease to 0.8, no HyStart",
    source: "ACM SIGOPS OSR 42(5) 2008, Linux 2.6.24",
    build: || Box::new(Cubic2008::default()),
};

pub(super) const BETA: u32 = 819;
/// `8 (1024 + BETA) / 3 / (1024 - BETA)`: acknowledgements per step of Reno, eighths of the window.
pub(super) const RENO_EIGHTHS: u32 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// Segments per 100 ms above the plateau.
const MAX_INCREMENT: u64 = 16;

/// CUBIC of 2008.
#[derive(Debug, Clone, Default)]
pub struct Cubic2008 {
    lost: bool,
    steps: Steps,
    /// Smallest RTT in eighths of a jiffy, 0 before the first.
    delay_min: u64,
}

impl Cubic2008 {
    /// Keeps the smallest RTT, except within a second of the start of an epoch, when the queue that overflowed is
    /// still draining.
    fn measure_delay(&mut self, now: u64, rtt: Nanos) {
        let draining = |start: u64| now.saturating_sub(start) < HZ;
        if self.steps.epoch.start.is_some_and(draining) {
            return;
        }
        let delay = (jiffies(rtt) << 3).max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
    }

    /// Acknowledgements per step (2 to 6).
    fn update(&mut self, cwnd: u32, now: u64) {
        let (lost, delay) = (self.lost, self.delay_min);
        let bound = |per: u32, beyond| match (lost, beyond) {
            (false, _) => 50,
            (true, true) => per.max(slowest_linear(cwnd, delay)),
            (true, false) => per,
        };
        self.steps
            .update(cwnd, now, (delay >> 3, RENO_EIGHTHS), bound);
    }
}

/// Segments per step at the fastest growth above the plateau (3); `delay_min` in eighths of a jiffy, 0 if unknown.
pub(super) fn slowest_linear(cwnd: u32, delay_min: u64) -> u32 {
    if delay_min == 0 {
        return 0;
    }
    let per = u64::from(cwnd) * HZ * 8 / (10 * MAX_INCREMENT * delay_min);
    u32::try_from(per).unwrap_or(u32::MAX)
}

impl CongestionControl for Cubic2008 {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        if !ack.dubious {
            self.steps.ratio.sample(ack.acked);
        }
        if let Some(rtt) = ack.rtt {
            self.measure_delay(jiffies(ack.now), rtt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if window.cwnd <= window.ssthresh {
            // One segment per acknowledgement: appropriate byte counting was off.
            window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
        } else {
            self.update(window.cwnd, jiffies(ack.now));
            step_per_acknowledgement(window, self.steps.per);
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.steps.epoch.start = None;
        self.steps.last_max = last_max(window.cwnd, self.steps.last_max, BETA);
        self.lost = true;
        reduced(window.cwnd, BETA)
    }

    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        window.cwnd.max(self.steps.last_max)
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
