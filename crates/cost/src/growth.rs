//! Whether a window grew between two reductions as a control lets it grow.

use super::evolution::Window;
use super::flights::Round;
use crate::result::Control;

/// Fewest rounds that tell.
const MIN_ROUNDS: usize = 8;
/// Most rounds that are compared: later ones only carry the error of the first on.
const MAX_ROUNDS: usize = 64;
/// Two values of growth agree if they differ by no more than this share of the greater one, or by this number of segments.
const SHARE: f64 = 0.3;
const SEGMENTS: f64 = 1.5;
/// After two reductions in a row CUBIC aims below the last window (fast convergence, RFC 9438 section 4.7).
const CONVERGING: f64 = 0.85;
/// Growth of Reno, segments per round trip, with a receiver that acknowledges every other segment, unless the sender counts
/// bytes (RFC 3465).
const EVERY_OTHER: f64 = 0.5;

/// Windows of the rounds after a reduction, segments, and seconds since the first.
pub(super) struct Growth {
    course: Vec<(f64, f64)>,
    /// The window before the reduction, segments.
    before: f64,
}

impl Growth {
    /// The growth in `rounds`, if they are enough.
    pub(super) fn of(rounds: &[Round], before: i64, mss: i64) -> Option<Growth> {
        let first = rounds.first().filter(|_| rounds.len() >= MIN_ROUNDS)?;
        let mss = mss as f64;
        let point = |round: &Round| {
            let seconds = round.start_ns.saturating_sub(first.start_ns) as f64 / 1e9;
            (seconds, f64::from(round.most) / mss)
        };
        Some(Growth {
            course: rounds.iter().take(MAX_ROUNDS).map(point).collect(),
            before: before as f64 / mss,
        })
    }

    /// True if the window grew as `control` lets it grow.
    pub(super) fn fits(&self, control: Control) -> bool {
        match control {
            Control::Reno => self.linear(1.0) || self.linear(EVERY_OTHER),
            Control::Cubic => self.cubic(self.before) || self.cubic(self.before * CONVERGING),
            _ => false,
        }
    }

    fn first(&self) -> f64 {
        self.course.first().map_or(0.0, |point| point.1)
    }

    fn linear(&self, slope: f64) -> bool {
        let first = self.first();
        let rounds = (0..self.course.len()).map(|i| first + slope * i as f64);
        self.agrees(&rounds.collect::<Vec<_>>())
    }

    fn cubic(&self, most: f64) -> bool {
        let mut window = Window::after_reduction(Control::Cubic, self.first(), most);
        let mut grown = vec![self.first()];
        for pair in self.course.windows(2) {
            if let [(one, _), (next, _)] = pair {
                window.round(next - one);
                grown.push(window.size);
            }
        }
        self.agrees(&grown)
    }

    /// Halfway and at the end, the window grew as much as it should have.
    fn agrees(&self, expected: &[f64]) -> bool {
        let first = self.first();
        let last = self.course.len().saturating_sub(1);
        [last / 2, last].into_iter().all(|at| {
            let (Some(seen), Some(expected)) = (self.course.get(at), expected.get(at)) else {
                return false;
            };
            let (seen, expected) = (seen.1 - first, expected - first);
            let off = (seen - expected).abs();
            off <= SEGMENTS.max(SHARE * seen.abs().max(expected.abs()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(windows: impl IntoIterator<Item = u32>, before: i64) -> Growth {
        let rounds = (0..).zip(windows).map(|(i, window)| Round {
            start_ns: i * 100_000_000,
            most: window * 1_000,
            least: 0,
        });
        let rounds: Vec<_> = rounds.collect();
        Growth::of(&rounds, before * 1_000, 1_000).unwrap()
    }

    #[test]
    fn a_segment_a_round_trip_is_renos() {
        let reno = growth(50..90, 100);
        assert!(
            reno.fits(Control::Reno) && !growth((50..90).map(|w| w * 2), 200).fits(Control::Reno)
        );
    }

    #[test]
    fn a_window_that_comes_near_the_last_one_and_stays_there_is_cubics() {
        // 300 segments of 1,000 are back after 9.09 s.
        let at = |i: u32| 0.4 * (f64::from(i) / 10.0 - 9.09).powi(3) + 1_000.0;
        let cubic = growth((0..90).map(|i| at(i) as u32), 1_000);
        assert!(cubic.fits(Control::Cubic) && !cubic.fits(Control::Reno));
        assert!(!growth(700..760, 1_000).fits(Control::Cubic));
    }

    #[test]
    fn few_rounds_tell_nothing() {
        assert!(Growth::of(&[Round::default(); MIN_ROUNDS - 1], 10_000, 1_000).is_none());
    }
}
