//! Reordering-free runs (RFC 4737 section 4.6).

use crate::Distribution;

/// How long the stream stays in order between reordered packets, in packets and bytes.
///
/// The counters are those of RFC 4737 section 4.6: an in-order packet adds to the current
/// run `r` and to the accumulator `a`; a reordered packet ends the run, adds `r` squared to
/// `q`, sets `r` to 0 and counts one more run in `x`. The run in progress at the end is
/// part of `a`, as in the RFC, but of neither `q` nor `x`.
///
/// ```
/// let mut runs = inorder_metrics::Runs::new();
/// runs.in_order(5, 500); // 1 2 3 6 7
/// runs.reordered(); // 4
/// runs.reordered(); // 5
/// runs.in_order(5, 500); // 8 9 10 12 13
/// runs.reordered(); // 11
/// assert_eq!(runs.lengths().max(), Some(5));
/// assert_eq!(runs.mean(), Some(10.0 / 3.0));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Runs {
    packets: Accumulator,
    bytes: Accumulator,
    runs: u64,
    lengths: Distribution,
}

inorder_base::heap!(Runs: lengths);

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Accumulator {
    current: u64,
    total: u64,
    /// Sum of squares. Run lengths below 2^64 and fewer than 2^64 runs could need 192 bits, so the sum saturates.
    squares: u128,
}

impl Accumulator {
    fn add(&mut self, n: u64) {
        self.current = self.current.saturating_add(n);
        self.total = self.total.saturating_add(n);
    }

    fn end_run(&mut self) {
        let run = u128::from(self.current);
        self.squares = self.squares.saturating_add(run * run);
        self.current = 0;
    }

    /// Adds the completed runs of another stream, and the packets of its last, unfinished run.
    fn merge(&mut self, other: &Accumulator) {
        self.total = self.total.saturating_add(other.total);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// (q/a)/(a/x), by which the RFC compares runs: 1 if all are equally long.
    fn variation(&self, runs: u64) -> Option<f64> {
        let (a, x) = (self.total as f64, runs as f64);
        (runs > 0 && self.total > 0).then(|| (self.squares as f64 / a) / (a / x))
    }

    fn mean(&self, runs: u64) -> Option<f64> {
        (runs > 0).then(|| self.total as f64 / runs as f64)
    }
}

impl Runs {
    /// No packets yet.
    pub fn new() -> Self {
        Runs::default()
    }

    /// Counts `n` in-order packets with `bytes` bytes in total.
    #[inline]
    pub fn in_order(&mut self, n: u64, bytes: u64) {
        self.packets.add(n);
        self.bytes.add(bytes);
    }

    /// Counts a reordered packet: the run in progress, possibly of length 0, ends.
    #[inline]
    pub fn reordered(&mut self) {
        self.lengths.update(self.packets.current);
        self.packets.end_run();
        self.bytes.end_run();
        self.runs += 1;
    }

    /// Adds another stream; its last, unfinished run counts only in `a`, as in the RFC.
    pub fn merge(&mut self, other: &Runs) {
        self.packets.merge(&other.packets);
        self.bytes.merge(&other.bytes);
        self.runs += other.runs;
        self.lengths.merge(&other.lengths);
    }

    /// Completed runs, `x` of the RFC; equals the number of reordered packets.
    pub fn count(&self) -> u64 {
        self.runs
    }

    /// Lengths of the completed runs, packets.
    pub fn lengths(&self) -> &Distribution {
        &self.lengths
    }

    /// Length of the run in progress, packets.
    pub fn current(&self) -> u64 {
        self.packets.current
    }

    /// Mean run length `a/x`, packets; `None` if no packet was reordered.
    pub fn mean(&self) -> Option<f64> {
        self.packets.mean(self.runs)
    }

    /// Variation `(q/a)/(a/x)` of the run lengths in packets: 1 for equal runs, more if reordering is bursty.
    pub fn variation(&self) -> Option<f64> {
        self.packets.variation(self.runs)
    }

    /// Mean run length, bytes.
    pub fn mean_bytes(&self) -> Option<f64> {
        self.bytes.mean(self.runs)
    }

    /// Variation of the run lengths in bytes.
    pub(crate) fn variation_bytes(&self) -> Option<f64> {
        self.bytes.variation(self.runs)
    }

    /// Sum of squares of the completed runs in packets, `q` of the RFC.
    pub fn squares(&self) -> u128 {
        self.packets.squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lengths: [u64; 3]) -> Runs {
        let mut runs = Runs::new();
        for length in lengths {
            runs.in_order(length, 100 * length);
            runs.reordered();
        }
        runs
    }

    /// RFC 4737 section 4.6: 36 packets, three reordered, spread evenly or bunched.
    #[test]
    fn even_and_bursty_runs() {
        let even = of([11, 11, 11]);
        assert_eq!(even.squares(), 363);
        assert_eq!(even.mean(), Some(11.0));
        assert!((even.variation().unwrap() - 1.0).abs() < 1e-12);
        let bunched = of([1, 1, 31]);
        assert_eq!(bunched.squares(), 963);
        assert!((bunched.variation().unwrap() - 2.65).abs() < 0.005);
        assert_eq!(bunched.mean_bytes(), Some(1100.0));
        assert!((bunched.variation_bytes().unwrap() - 2.65).abs() < 0.005);
    }

    #[test]
    fn without_reordering_there_is_no_mean() {
        let mut runs = Runs::new();
        runs.in_order(u64::MAX, u64::MAX);
        runs.in_order(1, 1);
        assert_eq!((runs.mean(), runs.variation()), (None, None));
        runs.reordered();
        assert!(runs.variation().is_some());
    }
}
