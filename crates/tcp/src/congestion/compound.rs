//! Compound TCP: Reno's window plus a window that depends on the delay.
//!
//! Source: Tan, Song, Zhang, Sridharan, "A Compound TCP Approach for High-Speed and Long Distance Networks",
//! INFOCOM 2006; draft-sridharan-tcpm-ctcp-02, sections 3 and 4. alpha 1/8, beta 1/2, eta 1, k 3/4, gamma 30.
//!
//! 1. `wnd = cwnd + dwnd`; `cwnd` grows by `1 / wnd` per segment acknowledged, so `wnd` by Reno's one a
//!    round trip. Slow start is Reno's, with `dwnd` of 0 until its end.
//! 2. Once a round trip that brought more than two RTT samples, outside slow start:
//!    `diff = wnd (1 - RTTbase / RTT)`, RTT the smallest of the round and `wnd` what was sent in the round
//!    before, in half segments: the segments queued.
//! 3. `diff < gamma`: `dwnd += max(alpha x^k - 1, 0)`, rounded down.
//! 4. Else `dwnd = max(dwnd - eta diff, 0)`.
//! 5. Loss: `cwnd / 2`, and `dwnd = wnd (1 - beta) - cwnd / 2`, so that the whole is halved. Timeout: `dwnd`
//!    and RTTbase start anew.
//! 6. Optionally gamma follows the path: at a loss `gamma += (3/4 diff_reno - gamma) / 2`, within 5 and 30,
//!    where `diff_reno` is `diff` with `cwnd` in place of `wnd`.
//!
//! x is [`X::Window`] in the paper, in ns-2.35's `tcp_compound.c`, and here by default. The draft prints `dwnd`,
//! [`X::DelayWindow`], with which a `dwnd` of 0 never grows: the result is Reno. With the former, nothing is added up
//! to a window of 40, so the draft's rule "Reno up to 38" holds automatically.
//!
//! ns-2.35 differs: it also adds to `dwnd` during slow start, and leaves `dwnd` unchanged at a loss.

use super::reno::{self, half};
use super::round::{Finished, Round};
use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "compound",
    about: "Reno's window plus one that follows the delay",
    source: "draft-sridharan-tcpm-ctcp-02, ns-2.35",
    build: || Box::new(Compound::default()),
};

/// Bounds of gamma if it follows the path, segments.
const GAMMA: (u32, u32) = (5, 30);

/// The window on which the growth of the delay window depends, equation (3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum X {
    /// The whole window: paper and ns-2.35.
    #[default]
    Window,
    /// The delay window: the draft as printed.
    DelayWindow,
}

/// Compound TCP.
#[derive(Debug, Clone)]
pub struct Compound {
    x: X,
    tune_gamma: bool,
    gamma: u32,
    dwnd: u32,
    round: Round,
    /// The loss window's part of the queue in the last round, half segments.
    diff_reno: Option<u32>,
    /// Delay window before the last reduction.
    dwnd_before_loss: u32,
}

impl Default for Compound {
    fn default() -> Self {
        Self::new(X::Window, false)
    }
}

impl Compound {
    /// Compound TCP with the exponent `x`; `tune_gamma`: gamma follows the path (equation 6).
    pub fn new(x: X, tune_gamma: bool) -> Self {
        Self {
            x,
            tune_gamma,
            gamma: GAMMA.1,
            dwnd: 0,
            round: Round::new(),
            diff_reno: None,
            dwnd_before_loss: 0,
        }
    }

    /// Equations (2) to (4) for a round in which `sent` segments were acknowledged.
    fn end_round(&mut self, window: &mut Window, round: Finished, sent: u32) {
        let diff = queued(sent, round);
        self.diff_reno = Some(queued(window.cwnd - self.dwnd, round));
        let before = self.dwnd;
        if diff < 2 * self.gamma {
            let x = if self.x == X::Window { sent } else { self.dwnd };
            self.dwnd = self.dwnd.saturating_add(growth(x));
        } else {
            self.dwnd = ((2 * u64::from(self.dwnd)).saturating_sub(u64::from(diff)) / 2) as u32;
        }
        let total = (window.cwnd - before).saturating_add(self.dwnd);
        window.cwnd = total.min(window.clamp).max(1);
        self.fit(window);
    }

    /// Limits the delay window after the caller changed the window: the loss window, which is the rest, is at least 1.
    fn fit(&mut self, window: &Window) {
        self.dwnd = self.dwnd.min(window.cwnd.saturating_sub(1));
    }

    /// Equation (6).
    fn tune(&mut self) {
        if let Some(diff) = self.diff_reno.take().filter(|_| self.tune_gamma) {
            let sample = i64::from(diff) * 3 / 8;
            let gamma = i64::from(self.gamma) + ((sample - i64::from(self.gamma)) >> 1);
            self.gamma = gamma.clamp(GAMMA.0.into(), GAMMA.1.into()) as u32;
        }
    }
}

/// Equation (2): number of half segments of `window` that wait in queues.
fn queued(window: u32, round: Finished) -> u32 {
    let expected = 2 * u128::from(window) * u128::from(round.base_us) / u128::from(round.min_us);
    // At most twice the window, which fits for all realistic windows.
    u32::try_from(2 * u128::from(window) - expected).unwrap_or(u32::MAX)
}

/// Equation (3): `max(x^(3/4) / 8 - 1, 0)`, each step rounded down.
fn growth(x: u32) -> u32 {
    // The floor of a floor's root equals that of the root: this is exact, whereas the kernel's Newton steps stop
    // nearby.
    let cube = u128::from(x).pow(3);
    let root = cube.isqrt().isqrt() as u32;
    (root >> 3).saturating_sub(1)
}

impl CongestionControl for Compound {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.round.sample(rtt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        self.fit(window);
        let slow_start = window.in_slow_start();
        reno::grow(window, ack.acked);
        self.fit(window);
        let round = self
            .round
            .finish(ack)
            .filter(|_| !slow_start && ack.mss > 0);
        if let Some(round) = round {
            let sent = round.bytes / u64::from(ack.mss);
            self.end_round(window, round, u32::try_from(sent).unwrap_or(u32::MAX));
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.fit(window);
        self.tune();
        self.dwnd_before_loss = self.dwnd;
        let total = half(window.cwnd);
        self.dwnd = total.saturating_sub((window.cwnd - self.dwnd) / 2);
        total
    }

    fn event(&mut self, window: &mut Window, event: Event, _now: Nanos) {
        match event {
            Event::RecoveryEnd => self.round.restart(),
            Event::Timeout => {
                self.dwnd = 0;
                self.round.forget_base();
                self.round.restart();
            }
            Event::Undo => self.dwnd = self.dwnd_before_loss,
            Event::Restart { .. } => {
                self.dwnd = 0;
                self.round.restart();
            }
            Event::DupAck { .. }
            | Event::ThresholdAtTimeout
            | Event::RecoveryStart
            | Event::Open => {}
        }
        self.fit(window);
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("dwnd", f64::from(self.dwnd));
        out("gamma", f64::from(self.gamma));
        out(
            "base_rtt_s",
            self.round.base().map_or(0.0, |base| base as f64 * 1e-9),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_window_grows_from_a_window_of_41_on() {
        assert_eq!([38, 40, 41, 68, 100, 1000].map(growth), [0, 0, 1, 1, 2, 21]);
        assert_eq!(growth(u32::MAX), (1 << 21) - 2);
    }

    #[test]
    fn the_queue_is_what_the_delay_exceeds_the_smallest_by() {
        let round = Finished {
            base_us: 100_000,
            min_us: 125_000,
            bytes: 0,
        };
        assert_eq!(queued(100, round), 40);
        assert_eq!(
            queued(
                100,
                Finished {
                    min_us: 100_000,
                    ..round
                }
            ),
            0
        );
    }
}
