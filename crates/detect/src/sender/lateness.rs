//! How late originals come, as a density: what an assignment of ACKs to originals weighs with.
//!
//! A mixture of what certain events have shown (a Laplace kernel on each, for one way that is longer
//! makes what takes it late by much the same each time) and, for what has not been seen yet, every
//! order of magnitude alike. The latter has the weight of one event.

use super::ring::Ring;

/// Laplace distribution function.
fn below(x: f64, scale: f64) -> f64 {
    let e = 0.5 * libm::exp(-(x / scale).abs());
    if x < 0.0 { e } else { 1.0 - e }
}

/// What lateness is usual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Density {
    /// Scales of the two halves of each kernel, nanoseconds: as sharp as the late ones were so far,
    /// and what hosts and links add.
    pub(super) scales: [f64; 2],
    /// Shortest and longest lateness that is thought of when nothing is known, nanoseconds.
    pub(super) range: (f64, f64),
}

impl Density {
    /// Density of what lies between `from` and `to` nanoseconds of lateness, per nanosecond, where
    /// `seen` is what was seen so far.
    pub(super) fn of(&self, seen: &Ring, from: i64, to: i64) -> f64 {
        let width = (to.saturating_sub(from) as f64).max(1.0);
        let (from, n) = (from as f64, seen.len() as f64);
        let to = from + width;
        let kernel = |&v: &i64| self.kernel(from - v as f64, to - v as f64);
        let told: f64 = seen.values().iter().map(kernel).sum();
        (told + self.unknown(from, to)) / (n + 1.0) / width
    }

    /// The same if all late ones came late by `center`.
    pub(super) fn around(&self, center: i64, from: i64, to: i64) -> f64 {
        let width = (to.saturating_sub(from) as f64).max(1.0);
        let from = from as f64;
        let off = from - center as f64;
        let near = self.kernel(off, off + width);
        0.9 * near / width + 0.1 * self.unknown(from, from + width) / width
    }

    /// Chance that a lateness is off a usual one by between `from` and `to`.
    fn kernel(&self, from: f64, to: f64) -> f64 {
        let within = |scale: f64| below(to, scale) - below(from, scale);
        0.5 * (within(self.scales[0]) + within(self.scales[1]))
    }

    /// Chance of `from` to `to` when every order of magnitude is as likely.
    fn unknown(&self, from: f64, to: f64) -> f64 {
        let (least, most) = self.range;
        let (from, to) = (from.clamp(least, most), to.clamp(least, most));
        if to <= from {
            return 0.0;
        }
        libm::log(to / from) / libm::log((most / least).max(2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_density_and_stands_where_events_were() {
        let density = Density {
            scales: [20_000.0, 50_000.0],
            range: (1e5, 1e9),
        };
        let mut seen = Ring::default();
        let sum = |seen: &Ring| -> f64 {
            let step = 1_000_000;
            let at = |i: i64| density.of(seen, i * step, (i + 1) * step) * step as f64;
            (0..1_000).map(at).sum()
        };
        assert!((sum(&seen) - 1.0).abs() < 1e-6, "{}", sum(&seen));
        (0..9).for_each(|i| seen.push(20_000_000 + i * 10_000));
        assert!((sum(&seen) - 1.0).abs() < 1e-6, "{}", sum(&seen));
        let near = density.of(&seen, 20_000_000, 20_010_000);
        let far = density.of(&seen, 25_000_000, 25_010_000);
        assert!(near > 1_000.0 * far, "{near} {far}");
    }
}
