//! The cubic function as Linux computes it, in integers.
//!
//! Source: Ha, Rhee, Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", ACM SIGOPS OSR 42(5), 2008.
//!
//! 1. `W(t) = C (t - K)^3 + origin` (equation (1) of the paper), C of 0.4: 41/1024 * 10.
//! 2. `K = cbrt((Wmax - cwnd) / C)`, 0 and `origin = cwnd` where the window is past Wmax (equation (2)).
//! 3. Reno's window over the same epoch grows by one per `cwnd (1 + b) / (3 (1 - b))` segments, b the factor
//!    of the decrease (the paper's equation (4), whose beta is `1 - b`).
//!
//! Times are 1024ths of a second. Linux computes the cubic root with a table and one Newton step, with an error of
//! 0.2 % on average. The root here is exact (rounded down), so K may differ by that much.

/// C in 1024ths per 100 ms, times ten: 410 / 1024 is 0.4004.
const RATE: u64 = 410;

/// An epoch: the time from one reduction of the window to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Epoch {
    /// Start of congestion avoidance, in jiffies; `None` between a reduction and that time.
    pub(super) start: Option<u64>,
    /// The plateau of the curve, segments.
    pub(super) origin: u32,
    /// Time from the start to the plateau, 1024ths of a second.
    pub(super) k: u64,
    /// The window that Reno would have (equation 3).
    reno: u32,
    /// Segments acknowledged since `reno` last grew.
    acked: u32,
}

impl Epoch {
    /// Starts the epoch if it has not (equation 2); `acked` has just been acknowledged.
    pub(super) fn begin(&mut self, now: u64, cwnd: u32, last_max: u32, acked: u32) {
        if self.start.is_some() {
            return;
        }
        *self = Self {
            start: Some(now),
            origin: cwnd.max(last_max),
            k: cube_root((1 << 40) / RATE * u64::from(last_max.saturating_sub(cwnd))),
            reno: cwnd,
            acked,
        };
    }

    /// Adds acknowledged segments.
    pub(super) fn count(&mut self, acked: u32) {
        self.acked = self.acked.saturating_add(acked);
    }

    /// The curve `t` 1024ths of a second into the epoch (equation 1).
    pub(super) fn target(&self, t: u64) -> u32 {
        let offset = u128::from(t.abs_diff(self.k));
        // The result is below 2^121: an offset is at most a run of 2^64 ns, 2^34 s * 2^10.
        let distance = (u128::from(RATE) * offset.min(1 << 37).pow(3)) >> 40;
        let distance = u32::try_from(distance).unwrap_or(u32::MAX);
        if t < self.k {
            self.origin.saturating_sub(distance)
        } else {
            self.origin.saturating_add(distance)
        }
    }

    /// Advances Reno's window (equation 3) with one step per `cwnd * eighths / 8`. Returns the number of segments per
    /// step that keeps up with it, if it is ahead.
    pub(super) fn reno_pace(&mut self, cwnd: u32, eighths: u32) -> Option<u32> {
        let step = u32::try_from((u64::from(cwnd) * u64::from(eighths)) >> 3).unwrap_or(u32::MAX);
        // Equivalent to the loop in the kernel, in which the step is constant.
        let steps = self.acked.saturating_sub(1) / step.max(1);
        self.acked -= steps * step.max(1);
        self.reno = self.reno.saturating_add(steps);
        let ahead = self.reno.checked_sub(cwnd).filter(|&ahead| ahead > 0)?;
        Some(cwnd / ahead)
    }

    /// Values for traces.
    pub(super) fn trace(&self, last_max: u32, out: &mut dyn FnMut(&'static str, f64)) {
        out("last_max", f64::from(last_max));
        out("origin", f64::from(self.origin));
        out("k_s", self.k as f64 / 1024.0);
        out("reno_cwnd", f64::from(self.reno));
    }
}

/// Number of segments per step that reaches `target` within one round trip: `cwnd / (target - cwnd)`, or a very large
/// number at or above it.
pub(super) fn pace_to(target: u32, cwnd: u32) -> u32 {
    if target > cwnd {
        cwnd / (target - cwnd)
    } else {
        cwnd.saturating_mul(100)
    }
}

/// The largest integer whose cube is at most `value`, digit by digit.
fn cube_root(value: u64) -> u64 {
    let mut root = 0u64;
    for bit in (0..22).rev() {
        let with = root | 1 << bit;
        // At most 2^22 - 1, whose cube is below 2^66: checked in 128 bits.
        if u128::from(with).pow(3) <= u128::from(value) {
            root = with;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_root_is_the_largest_integer_below(value: u64) {
            let root = u128::from(cube_root(value));
            prop_assert!(root.pow(3) <= u128::from(value));
            prop_assert!((root + 1).pow(3) > u128::from(value));
        }

        /// Against the real function, W = 0.4 (t - K)^3 + Wmax.
        #[test]
        fn the_integers_follow_the_real_curve(last_max in 10u32..100_000, beta in 200u32..1000, t in 0u64..60_000) {
            let cwnd = last_max * beta / 1024;
            let mut epoch = Epoch::default();
            epoch.begin(0, cwnd, last_max, 1);
            let k = libm::cbrt(f64::from(last_max - cwnd) / 0.4);
            let real = 0.4 * libm::pow(t as f64 / 1024.0 - k, 3.0) + f64::from(last_max);
            let ours = f64::from(epoch.target(t));
            // C is 0.4004 and K is cut to a 1024th of a second: the slope 3 C (t - K)^2 makes of them
            let off = (t as f64 / 1024.0 - k).abs();
            let slack = 2.0 + 0.002 * off.powi(3) + 1.2 * off * off * (0.002 * k + 0.002);
            prop_assert!((ours - real.max(0.0)).abs() <= slack, "{ours} {real} {slack}");
        }

        #[test]
        fn renos_window_is_that_of_the_loop(cwnd in 1u32..1000, acked in 0u32..100_000, eighths in 8u32..24) {
            let mut epoch = Epoch::default();
            epoch.begin(0, cwnd, 0, acked);
            let (mut left, mut reno, step) = (acked, cwnd, (cwnd * eighths) >> 3);
            while left > step {
                left -= step;
                reno += 1;
            }
            let pace = epoch.reno_pace(cwnd, eighths);
            prop_assert_eq!((epoch.reno, epoch.acked), (reno, left));
            prop_assert_eq!(pace, (reno > cwnd).then(|| cwnd / (reno - cwnd)));
        }
    }
}
