//! CUBIC as standardised in 2023.
//!
//! Source: RFC 9438 section 4. C of 0.4, beta of 0.7; windows are real numbers of segments, times seconds.
//!
//! 1. `W_cubic(t) = C (t - K)^3 + W_max` (figure 1 of section 4.2).
//! 2. `K = cbrt((W_max - cwnd_epoch) / C)` (figure 2).
//! 3. `target = W_cubic(t + RTT)`, held within `cwnd` and `1.5 cwnd` (section 4.2); RTT is the smoothed one.
//! 4. `W_est += alpha acked / cwnd`, alpha of `3 (1 - beta) / (1 + beta)`, 1 once `W_est >= cwnd_prior`
//!    (section 4.3); where `W_est > W_cubic(t)`, the window is `W_est`.
//! 5. Else `cwnd += (target - cwnd) / cwnd` per segment acknowledged (sections 4.4 and 4.5).
//! 6. Loss: `ssthresh = max(beta FlightSize, 2)`, `cwnd_prior = cwnd` (section 4.6); fast convergence
//!    `W_max = cwnd (1 + beta) / 2` below the last maximum (section 4.7).
//! 7. Timeout: Reno's, with this beta; the next epoch has K of 0 and `W_max = cwnd` at its start (section
//!    4.8).
//! 8. Spurious: everything before the loss comes back if the window is still below it (section 4.9).
//!
//! Differences from Linux: real instead of integer arithmetic, no rounding of time, FlightSize instead of cwnd (6),
//! the alpha of 1 (4), no HyStart (section 4.10 recommends one; RFC 9406 is not part of this).

use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Window};
use crate::time::elapsed;

pub(super) const ENTRY: Entry = Entry {
    name: "cubic-rfc9438",
    about: "CUBIC of the 2023 standard, decrease to 0.7, slow start to the first loss",
    source: "RFC 9438",
    build: || Box::new(CubicRfc9438::default()),
};

/// RFC 9438 section 5.1.
const C: f64 = 0.4;
/// What a loss leaves of the window (RFC 9438 section 4.6).
const BETA: f64 = 0.7;
/// Reno's growth that makes up for [`BETA`] (RFC 9438 section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The variables of RFC 9438 section 4.1, which a spurious reduction restores (RFC 9438 section 4.9).
#[derive(Debug, Clone, Default, PartialEq)]
struct State {
    /// Start of the epoch; `None` from a loss to the next growth in congestion avoidance.
    epoch: Option<Nanos>,
    w_max: f64,
    k: f64,
    w_est: f64,
    /// The window at the last loss.
    cwnd_prior: u32,
    /// Fraction of a segment by which the window exceeds the integer window.
    fraction: f64,
}

/// CUBIC of RFC 9438 section 4.
#[derive(Debug, Clone, Default)]
pub struct CubicRfc9438 {
    state: State,
    saved: Option<(u32, State)>,
}

impl CubicRfc9438 {
    /// Congestion avoidance starts with the window at `cwnd`: 2 and 7 (RFC 9438 sections 4.2 and 4.8).
    fn begin(&mut self, now: Nanos, cwnd: f64) {
        let state = &mut self.state;
        state.epoch = Some(now);
        state.w_est = cwnd;
        if state.w_max <= cwnd {
            state.w_max = cwnd;
            state.k = 0.0;
        } else {
            state.k = libm::cbrt((state.w_max - cwnd) / C);
        }
    }

    /// The curve `t` seconds into the epoch: 1 (RFC 9438 section 4.2).
    fn w_cubic(&self, t: f64) -> f64 {
        let off = t - self.state.k;
        C * off * off * off + self.state.w_max
    }

    /// One step of Reno's estimate: 4 (RFC 9438 section 4.3).
    fn advance_estimate(&mut self, cwnd: f64, acked: f64) {
        let state = &mut self.state;
        let caught_up = state.w_est >= f64::from(state.cwnd_prior);
        state.w_est += if caught_up { 1.0 } else { ALPHA } * acked / cwnd;
    }

    /// The window after `acked` segments: 3 to 5 (RFC 9438 sections 4.2, 4.3, 4.4 and 4.5).
    fn next(&mut self, cwnd: f64, acked: f64, ack: &AckEvent) -> f64 {
        let epoch = self.state.epoch.unwrap_or(ack.now);
        let t = elapsed(ack.now, epoch) as f64 * 1e-9;
        self.advance_estimate(cwnd, acked);
        if self.state.w_est > self.w_cubic(t) {
            return self.state.w_est.max(cwnd);
        }
        let target = self
            .w_cubic(t + ack.srtt as f64 * 1e-9)
            .clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd * acked
    }
}

impl CongestionControl for CubicRfc9438 {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let mut left = ack.acked;
        // Reno's slow start (RFC 9438 section 4.10).
        if window.in_slow_start() {
            left = window.slow_start(left);
        }
        if left == 0 {
            return;
        }
        let cwnd = f64::from(window.cwnd.max(1)) + self.state.fraction;
        if self.state.epoch.is_none() {
            self.begin(ack.now, cwnd);
        }
        // A single large acknowledgement must not increase the window beyond the target.
        let next = self.next(cwnd, f64::from(left.min(window.cwnd)), ack);
        let whole = libm::floor(next.min(f64::from(window.clamp)));
        self.state.fraction = (next - whole).clamp(0.0, 1.0 - f64::EPSILON);
        window.cwnd = (whole as u32).max(1);
    }

    fn ssthresh(&mut self, window: &Window, loss: &LossEvent) -> u32 {
        self.saved = Some((window.cwnd, self.state.clone()));
        let cwnd = f64::from(window.cwnd);
        // RFC 9438 sections 4.6 and 4.7.
        let below = cwnd < self.state.w_max;
        self.state = State {
            epoch: None,
            w_max: if below {
                cwnd * (1.0 + BETA) / 2.0
            } else {
                cwnd
            },
            cwnd_prior: window.cwnd,
            ..State::default()
        };
        ((f64::from(loss.in_flight.min(window.cwnd)) * BETA) as u32).max(2)
    }

    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        let Some((cwnd, _)) = self.saved else {
            return window.cwnd;
        };
        window.cwnd.max(cwnd)
    }

    fn event(&mut self, _window: &mut Window, event: Event, _now: Nanos) {
        match event {
            Event::Timeout => self.state.w_max = 0.0,
            Event::Undo => {
                if let Some((_, state)) = self.saved.take() {
                    self.state = state;
                }
            }
            // Idle times do not count (RFC 9438 section 5.8).
            Event::Restart { ns } => {
                self.state.epoch = self.state.epoch.map(|epoch| epoch.saturating_add(ns));
            }
            _ => {}
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("w_max", self.state.w_max);
        out("k_s", self.state.k);
        out("w_est", self.state.w_est);
        out("cwnd_prior", f64::from(self.state.cwnd_prior));
    }
}
