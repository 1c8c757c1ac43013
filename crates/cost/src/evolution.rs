//! How the congestion window of a known control evolves, a round trip at a time.
//!
//! Slow start and Reno: RFC 5681 section 3.1. CUBIC: RFC 9438 sections 4.2 (the curve), 4.3 (the region in which it is as
//! fast as Reno), 4.6 (decrease) and 4.7 (fast convergence). Slow start ends when the path is full: HyStart (Ha
//! and Rhee, "Taming the elephants", 2011) leaves it when the ACKs of a round are spread over half a round trip, which
//! in Linux happens in the round that doubles the window from half of what fills the path or more, half a round trip
//! into it: with a window that fills the path. BBR (version 1) doubles its rate until the rate of delivery grows no
//! more, and then keeps it, losses or not.

use crate::result::Control;

/// CUBIC's C (RFC 9438 section 5.1), segments a cubic second.
const CUBIC_C: f64 = 0.4;
/// Share of the window that a reduction of CUBIC leaves (RFC 9438 section 4.6).
const CUBIC_BETA: f64 = 0.7;
/// Share of the window that a reduction of Reno leaves (RFC 5681 section 3.1).
const RENO_BETA: f64 = 0.5;
/// Growth in segments a round trip that makes CUBIC as fast as Reno on average (RFC 9438 section 4.3).
const CUBIC_ALPHA: f64 = 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);

/// The path as the window meets it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Path {
    /// The bottleneck's rate, segments a second.
    pub(crate) rate: f64,
    /// The round trip without queueing, seconds.
    pub(crate) rtt_s: f64,
}

impl Path {
    /// Segments that fill the path.
    pub(crate) fn product(&self) -> f64 {
        self.rate * self.rtt_s
    }

    /// How long a round of `window` segments takes, seconds.
    pub(crate) fn round_s(&self, window: f64) -> f64 {
        self.rtt_s.max(window / self.rate)
    }
}

/// A congestion window, segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    control: Control,
    pub(crate) size: f64,
    /// Slow start ends here.
    threshold: f64,
    /// The window before the last reduction.
    most: f64,
    /// Time since the present growth began, and until it reaches `most` again, seconds.
    since_s: f64,
    until_most_s: f64,
    /// CUBIC's window if it were Reno.
    as_reno: f64,
}

impl Window {
    /// A window of `size`, in slow start if that is below `threshold`.
    pub(crate) fn new(control: Control, size: f64, threshold: f64) -> Self {
        let mut window = Window {
            control,
            size,
            threshold,
            most: 0.0,
            since_s: 0.0,
            until_most_s: 0.0,
            as_reno: size,
        };
        window.avoid(size);
        window
    }

    /// A window of `size` after a reduction from `most`.
    pub(crate) fn after_reduction(control: Control, size: f64, most: f64) -> Self {
        let mut window = Window::new(control, size, 0.0);
        window.avoid(most);
        window
    }

    /// A round trip of `seconds` has gone by.
    pub(crate) fn round(&mut self, seconds: f64) {
        if self.size < self.threshold {
            self.size = (self.size * 2.0).min(self.threshold.max(1.0));
            if self.size >= self.threshold {
                self.avoid(self.size);
            }
            return;
        }
        match self.control {
            Control::Cubic => self.cubic(seconds),
            // BBR's window is no limit once the path is full; what is unknown grows like the slowest.
            Control::Bbr => self.size *= 1.25,
            Control::Reno | Control::Unknown => self.size += 1.0,
        }
    }

    /// Congestion avoidance begins; the window was `most`.
    fn avoid(&mut self, most: f64) {
        self.most = most;
        self.since_s = 0.0;
        self.until_most_s = libm::cbrt((most - self.size).max(0.0) / CUBIC_C);
        self.as_reno = self.size;
    }

    fn cubic(&mut self, seconds: f64) {
        self.since_s += seconds;
        let alpha = if self.as_reno < self.most {
            CUBIC_ALPHA
        } else {
            1.0
        };
        self.as_reno += alpha;
        let t = self.since_s - self.until_most_s;
        let target = CUBIC_C * t * t * t + self.most;
        // Section 4.4: no more than half as much again in a round trip.
        self.size = target.clamp(self.size, self.size * 1.5).max(self.as_reno);
    }

    /// A loss: the control reduces its window.
    pub(crate) fn reduce(&mut self) {
        let beta = match self.control {
            Control::Bbr => return,
            Control::Cubic => CUBIC_BETA,
            Control::Reno | Control::Unknown => RENO_BETA,
        };
        let before = self.size;
        self.size = (before * beta).max(2.0);
        self.threshold = self.size;
        // Fast convergence: below the last maximum, room is left to others.
        let falls = self.control == Control::Cubic && before < self.most;
        self.avoid(if falls {
            before * (1.0 + beta) / 2.0
        } else {
            before
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubic_is_back_where_it_was_after_its_cubic_root() {
        let mut window = Window::new(Control::Cubic, 1_000.0, 0.0);
        window.reduce();
        assert_eq!(window.size, 700.0);
        // (1,000 * 0.3 / 0.4)^(1/3) = 9.09 s, at 100 ms a round.
        (0..90).for_each(|_| window.round(0.1));
        assert!((999.0..1_001.0).contains(&window.size), "{}", window.size);
        let reno_in_90 = 700.0 + 90.0 * CUBIC_ALPHA;
        assert!(window.size > reno_in_90);
    }

    #[test]
    fn where_cubic_is_slow_it_grows_like_reno() {
        let mut window = Window::new(Control::Cubic, 20.0, 0.0);
        window.reduce();
        (0..20).for_each(|_| window.round(0.005));
        assert!(window.size > 20.0, "{}", window.size);
    }

    #[test]
    fn reno_halves_and_grows_by_one() {
        let mut window = Window::new(Control::Reno, 10.0, 80.0);
        (0..4).for_each(|_| window.round(0.1));
        assert_eq!(window.size, 81.0);
        window.reduce();
        window.round(0.1);
        assert_eq!(window.size, 41.5);
    }
}
