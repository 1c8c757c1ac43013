//! CUBIC of Levasseur, Claypool and Kinicki for ns-3: a translation of Linux's of its time with a decrease to 0.8.
//!
//! Source: "A TCP CUBIC implementation in ns-3", WNS3 2014, and its published code as ported to the congestion controls of
//! ns-3.26. ns-3 had no CUBIC of its own before July 2019; that one is another (`cubic_ns3.rs`). W(t), K, Reno's window,
//! the ratio of delayed acknowledgements and the limit of the increment are those of `cubic_2008.rs`. It differs in this:
//!
//! 1. Fast convergence is computed, but the maximum is then set to the window itself. That holds after a timeout, too,
//!    which forgets the epoch, the maximum before and the smallest delay.
//! 2. Delays are measured by the echoed timestamp, and only where the window grows in congestion avoidance. Without the
//!    option the echo is 0: the "smallest delay" is then the time since the start of the simulation at the first sample.
//! 3. A step per 20 acknowledgements at least while no loss has shown a maximum.
//! 4. Acknowledgements counted towards a step are kept over reductions.
//! 5. The full acknowledgement of a recovery is an acknowledgement towards a step, even of no new segments.

use super::binary_increase::{Throttle, reduced, step_per_acknowledgement};
use super::cubic_2008::{BETA, RENO_EIGHTHS, slowest_linear};
use super::cubic_steps::Steps;
use super::{AckEvent, CongestionControl, Entry, HZ, LossEvent, Window, jiffies};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic-levasseur",
    about: "CUBIC of Levasseur for ns-3 before 3.30, decrease to 0.8, no HyStart",
    source: "Levasseur, Claypool, Kinicki, WNS3 2014",
    build: || Box::new(CubicLevasseur::default()),
};

/// Segments per step while no loss has shown a maximum.
const UNKNOWN_MAXIMUM: u32 = 20;

/// CUBIC of Levasseur and others for ns-3.
#[derive(Debug, Clone, Default)]
pub struct CubicLevasseur {
    steps: Steps,
    /// Smallest delay by echoed timestamps in eighths of a millisecond, 0 before the first.
    delay_min: u64,
    /// Acknowledgements counted towards the next step.
    counted: u32,
}

impl CubicLevasseur {
    /// Keeps the smallest delay (2), except within a second of the start of an epoch; between a reduction and the next
    /// epoch the start counts as 0.
    fn measure_delay(&mut self, ack: &AckEvent) {
        let now = jiffies(ack.now);
        if now.saturating_sub(self.steps.epoch.start.unwrap_or(0)) < HZ {
            return;
        }
        let delay = (ack.echo_age.map_or(now, jiffies) << 3).max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
    }

    /// Acknowledgements per step.
    fn update(&mut self, cwnd: u32, now: u64) {
        let (last_max, delay) = (self.steps.last_max, self.delay_min);
        let bound = |mut per: u32, beyond| {
            if beyond {
                per = per.max(slowest_linear(cwnd, delay));
            }
            match last_max {
                0 => per.min(UNKNOWN_MAXIMUM),
                _ => per,
            }
        };
        self.steps
            .update(cwnd, now, (delay >> 3, RENO_EIGHTHS), bound);
    }
}

impl CongestionControl for CubicLevasseur {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        if !ack.dubious {
            self.steps.ratio.sample(ack.acked);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let mut left = ack.acked;
        if window.in_slow_start() && left > 0 {
            window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
            left -= 1;
        }
        if window.in_slow_start() {
            return;
        }
        if left > 0 {
            self.measure_delay(ack);
        }
        self.update(window.cwnd, jiffies(ack.now));
        window.count = self.counted;
        step_per_acknowledgement(window, self.steps.per);
        self.counted = window.count;
    }

    fn ssthresh(&mut self, window: &Window, loss: &LossEvent) -> u32 {
        if loss.timeout {
            self.steps = Steps {
                ratio: self.steps.ratio.clone(),
                per: self.steps.per,
                ..Steps::default()
            };
            self.delay_min = 0;
        }
        self.steps.epoch.start = None;
        self.steps.last_max = window.cwnd;
        // The time of the last computation becomes that of an echo, at least a round trip ago.
        self.steps.throttle = Throttle::default();
        reduced(window.cwnd, BETA)
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.steps.trace(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn ack(at_ms: i64, acked: u32, echo_age: Option<i64>) -> AckEvent {
        AckEvent {
            now: at_ms * MS,
            acked,
            echo_age: echo_age.map(|age| age * MS),
            ..AckEvent::default()
        }
    }

    fn lost(at_ms: i64) -> LossEvent {
        LossEvent {
            now: at_ms * MS,
            in_flight: 100,
            timeout: false,
        }
    }

    #[test]
    fn the_maximum_is_the_window_at_the_loss_without_fast_convergence() {
        let mut cubic = CubicLevasseur::default();
        let mut window = Window::new(100);
        window.ssthresh = cubic.ssthresh(&window, &lost(500));
        assert_eq!(window.ssthresh, 79);
        window.cwnd = 50;
        cubic.ssthresh(&window, &lost(600));
        assert_eq!(cubic.steps.last_max, 50);
    }

    #[test]
    fn without_timestamps_the_smallest_delay_is_the_age_of_the_simulation() {
        let mut cubic = CubicLevasseur::default();
        let mut window = Window::new(40);
        window.ssthresh = 10;
        cubic.grow(&mut window, &ack(900, 1, None));
        assert_eq!(cubic.delay_min, 0);
        cubic.grow(&mut window, &ack(2000, 1, None));
        assert_eq!(cubic.delay_min, 2000 << 3);
        let mut stamped = CubicLevasseur::default();
        stamped.grow(&mut window, &ack(2000, 1, Some(70)));
        assert_eq!(stamped.delay_min, 70 << 3);
    }

    #[test]
    fn slow_start_adds_a_segment_for_each_acknowledgement() {
        let mut cubic = CubicLevasseur::default();
        let mut window = Window::new(1);
        cubic.grow(&mut window, &ack(1, 1, None));
        cubic.grow(&mut window, &ack(2, 8, None));
        assert_eq!(window.cwnd, 3);
    }

    #[test]
    fn a_full_acknowledgement_of_nothing_new_counts_towards_a_step() {
        let mut cubic = CubicLevasseur::default();
        let mut window = Window::new(20);
        window.ssthresh = cubic.ssthresh(&window, &lost(500));
        window.cwnd = window.ssthresh;
        cubic.grow(&mut window, &ack(600, 0, Some(70)));
        assert_eq!((cubic.counted, cubic.delay_min), (1, 0));
    }
}
