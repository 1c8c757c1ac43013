//! The common parts of Linux's BIC and CUBIC: the last maximum, fast convergence, the ratio of delayed
//! acknowledgements, and the rule that the increase is computed at most once in HZ/32.

use super::{HZ, Window};

/// The scale of the multiplicative decrease: beta is a number of 1024ths.
pub(super) const BETA_SCALE: u32 = 1024;

/// The window after a loss, `cwnd * beta`, at least 2.
pub(super) fn reduced(cwnd: u32, beta: u32) -> u32 {
    scale(cwnd, beta, BETA_SCALE).max(2)
}

/// The maximum to store at a loss at `cwnd`. Fast convergence (CUBIC paper section 3.7, BIC paper section III.C): a
/// flow that did not reach its last maximum releases bandwidth, `Wmax = cwnd (1 + beta) / 2`.
pub(super) fn last_max(cwnd: u32, last_max: u32, beta: u32) -> u32 {
    if cwnd < last_max {
        scale(cwnd, BETA_SCALE + beta, 2 * BETA_SCALE)
    } else {
        cwnd
    }
}

/// `value * numerator / denominator`, without overflow between.
fn scale(value: u32, numerator: u32, denominator: u32) -> u32 {
    let product = u64::from(value) * u64::from(numerator) / u64::from(denominator.max(1));
    u32::try_from(product).unwrap_or(u32::MAX)
}

/// Segments per acknowledgement, in sixteenths, smoothed over sixteen acknowledgements.
///
/// Linux's integer arithmetic rounds such that the ratio for a receiver that acknowledges every segment goes from its
/// initial value 2 to 31/16 instead of 1: BIC and old CUBIC then grow nearly twice as fast.
#[derive(Debug, Clone)]
pub(super) struct AckRatio(u32);

impl AckRatio {
    /// Two segments per acknowledgement before the first measurement.
    pub(super) fn new() -> Self {
        Self(2 << 4)
    }

    /// `ratio = (15 ratio + acked) / 16`, in sixteenths.
    pub(super) fn sample(&mut self, acked: u32) {
        if acked > 0 {
            self.0 = (self.0 - (self.0 >> 4)).saturating_add(acked);
        }
    }

    /// From segments per step to acknowledgements per step, at least one.
    pub(super) fn acknowledgements(&self, segments: u32) -> u32 {
        scale(segments, 1 << 4, self.0).max(1)
    }

    /// Segments per acknowledgement.
    pub(super) fn ratio(&self) -> f64 {
        f64::from(self.0) / 16.0
    }
}

/// Window and time of the last computation, which is valid for the same window for HZ/32.
#[derive(Debug, Clone, Default)]
pub(super) struct Throttle {
    cwnd: u32,
    time: u64,
}

impl Throttle {
    /// True if the last computation is still valid at `now` (jiffies) for `cwnd`.
    pub(super) fn holds(&self, cwnd: u32, now: u64) -> bool {
        self.cwnd == cwnd && now.saturating_sub(self.time) <= HZ / 32
    }

    /// True if the last computation was in the same jiffy.
    pub(super) fn same_jiffy(&self, now: u64) -> bool {
        self.time == now
    }

    /// Records a computation.
    pub(super) fn note(&mut self, cwnd: u32, now: u64) {
        *self = Self { cwnd, time: now };
    }
}

/// Growth as Linux counted it before 3.15: by acknowledgements, for any number of segments each covers, with the step
/// at the acknowledgement after the `per`-th.
pub(super) fn step_per_acknowledgement(window: &mut Window, per: u32) {
    if window.count >= per {
        window.count = 0;
        window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
    } else {
        window.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_approaches_what_is_measured() {
        let mut ratio = AckRatio::new();
        assert_eq!(ratio.acknowledgements(100), 50);
        (0..200).for_each(|_| ratio.sample(1));
        // 31 - 31 / 16 + 1 is 31 again.
        assert_eq!(ratio.ratio(), 31.0 / 16.0);
        (0..200).for_each(|_| ratio.sample(1000));
        assert!((900.0..1100.0).contains(&ratio.ratio()), "{ratio:?}");
        assert_eq!(ratio.acknowledgements(10), 1);
    }

    #[test]
    fn a_flow_below_its_last_maximum_remembers_less() {
        assert_eq!(last_max(100, 0, 819), 100);
        assert_eq!(last_max(100, 100, 819), 100);
        assert_eq!(last_max(100, 101, 819), 89);
        assert_eq!(last_max(100, 101, 717), 85);
        assert_eq!(last_max(u32::MAX - 1, u32::MAX, 819), 3_865_051_134);
    }

    #[test]
    fn a_computation_holds_for_the_same_window_and_a_thirty_second_of_a_second() {
        let mut throttle = Throttle::default();
        assert!(!throttle.holds(10, 100));
        throttle.note(10, 100);
        assert!(throttle.holds(10, 131));
        assert!(!throttle.holds(10, 132));
        assert!(!throttle.holds(11, 100));
        assert!(throttle.same_jiffy(100) && !throttle.same_jiffy(101));
    }
}
