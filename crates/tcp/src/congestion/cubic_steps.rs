//! CUBIC counted in acknowledgements, as Linux did before 4.0: how many of them let the window grow by a segment.
//!
//! The curve and Reno's window are those of `cubic_curve.rs`; the number of segments per step becomes a number of
//! acknowledgements by the measured ratio of delayed acknowledgements.

use super::HZ;
use super::binary_increase::{AckRatio, Throttle};
use super::cubic_curve::{Epoch, pace_to};

/// What all versions keep.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    /// The maximum that the last loss has shown, segments; 0 before the first.
    pub(super) last_max: u32,
    pub(super) epoch: Epoch,
    pub(super) throttle: Throttle,
    pub(super) ratio: AckRatio,
    /// Acknowledgements per step.
    pub(super) per: u32,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            last_max: 0,
            epoch: Epoch::default(),
            throttle: Throttle::default(),
            ratio: AckRatio::new(),
            per: 0,
        }
    }
}

impl Steps {
    /// Computes the acknowledgements per step, at most once in HZ/32 for a window. `delay` is the smallest round trip in
    /// jiffies, `reno_eighths` Reno's step in eighths of the window. `bound` changes the segments per step that the curve
    /// wants; it is given whether the curve is at its plateau or beyond.
    pub(super) fn update(
        &mut self,
        cwnd: u32,
        now: u64,
        (delay, reno_eighths): (u64, u32),
        bound: impl FnOnce(u32, bool) -> u32,
    ) {
        self.epoch.count(1);
        if self.throttle.holds(cwnd, now) {
            return;
        }
        self.throttle.note(cwnd, now);
        self.epoch.begin(now, cwnd, self.last_max, 1);
        let start = self.epoch.start.unwrap_or(now);
        let t = ((now - start.min(now) + delay) << 10) / HZ;
        let mut per = bound(pace_to(self.epoch.target(t), cwnd), t >= self.epoch.k);
        if let Some(pace) = self.epoch.reno_pace(cwnd, reno_eighths) {
            per = per.min(pace);
        }
        self.per = self.ratio.acknowledgements(per);
    }

    pub(super) fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.epoch.trace(self.last_max, out);
        out("acks_per_step", f64::from(self.per));
        out("segments_per_ack", self.ratio.ratio());
    }
}
