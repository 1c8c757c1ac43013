//! The distribution of markings at a given time, by uniformisation.
//!
//! A. Jensen, "Markoff chains as an aid in the study of Markoff processes", 1953: if `q` is at least the largest rate
//! of leaving a state, the chain is equivalent to a discrete chain that jumps with the events of a Poisson process of
//! rate `q`.

use super::solve::{Solving, Watch};
use super::{Chain, MarkovError, Solution};

/// Maximum expected number of jumps until the given time. With more, rounding errors of the jumps would add up.
const MAX_JUMPS: f64 = 1e9;
/// Largest change of the distribution by a jump that counts as none: the steady state has been reached.
const NO_CHANGE: f64 = 1e-16;

/// Total probability of the numbers of jumps that are left out.
const LEFT_OUT: f64 = 1e-14;

impl Chain {
    /// The distribution of markings `time` units after the start.
    pub fn transient(&self, time: f64) -> Result<Solution<'_>, MarkovError> {
        self.transient_while(time, |_| true)
    }

    /// The solution; it ends with an error when `keep_going` returns false.
    pub(crate) fn transient_while(
        &self,
        time: f64,
        mut keep_going: impl FnMut(Solving) -> bool,
    ) -> Result<Solution<'_>, MarkovError> {
        if !time.is_finite() || time < 0.0 {
            return Err(MarkovError::BadTime(time));
        }
        let mut now = vec![0.0; self.len()];
        for &(state, share) in &self.initial {
            now[state as usize] += share;
        }
        let out = self.generator.sums();
        // Slightly above the largest rate, so that every state can be kept and the discrete chain is not periodic.
        let q = 1.02 * out.iter().copied().fold(0.0, f64::max);
        if q * time > MAX_JUMPS {
            return Err(MarkovError::TooLong {
                time,
                changes: q * time,
            });
        }
        if q * time > 0.0 {
            now = self.jump(now, &out, q, &Poisson::new(q * time), &mut keep_going)?;
        }
        Ok(Solution::new(self, now, None))
    }

    fn jump(
        &self,
        mut now: Vec<f64>,
        out: &[f64],
        q: f64,
        jumps: &Poisson,
        watch: Watch<'_>,
    ) -> Result<Vec<f64>, MarkovError> {
        let mut sum = vec![0.0; now.len()];
        let mut left = 1.0;
        let most = jumps.first + jumps.weights.len();
        for k in 0..most {
            if !watch(Solving::Jumping { done: k, most }) {
                return Err(MarkovError::Stopped {
                    markings: now.len(),
                });
            }
            let weight = k.checked_sub(jumps.first).map_or(0.0, |i| jumps.weights[i]);
            add(&mut sum, &now, weight);
            left -= weight;
            let next = self.step(&now, out, q);
            let change: f64 = next.iter().zip(&now).map(|(a, b)| (a - b).abs()).sum();
            now = next;
            // If a jump changes nothing, all further jumps would add the same.
            if change < NO_CHANGE {
                break;
            }
        }
        add(&mut sum, &now, left.max(0.0));
        Ok(sum)
    }

    fn step(&self, now: &[f64], out: &[f64], q: f64) -> Vec<f64> {
        let mut next: Vec<f64> = now
            .iter()
            .zip(out)
            .map(|(p, out)| p * (1.0 - out / q))
            .collect();
        for (i, &p) in now.iter().enumerate() {
            if p > 0.0 {
                for (j, rate) in self.generator.of(i) {
                    next[j] += p * rate / q;
                }
            }
        }
        next
    }
}

fn add(sum: &mut [f64], values: &[f64], weight: f64) {
    if weight > 0.0 {
        for (s, v) in sum.iter_mut().zip(values) {
            *s += weight * v;
        }
    }
}

/// Poisson probabilities around the mode, from `first` on.
///
/// Computed from the mode outwards and normalised, which avoids underflow and overflow (the idea of B. Fox and P.
/// Glynn, "Computing Poisson probabilities", CACM 31(4), 1988).
struct Poisson {
    first: usize,
    weights: Vec<f64>,
}

impl Poisson {
    fn new(mean: f64) -> Self {
        let mode = mean as usize;
        let mut below = Vec::new();
        let mut weight = 1.0;
        for k in (1..=mode).rev() {
            weight *= k as f64 / mean;
            if weight < LEFT_OUT * 1e-3 {
                break;
            }
            below.push(weight);
        }
        let first = mode - below.len();
        let mut weights: Vec<f64> = below.into_iter().rev().collect();
        weights.push(1.0);
        let mut weight = 1.0;
        for k in mode + 1.. {
            weight *= mean / k as f64;
            if weight < LEFT_OUT * 1e-3 {
                break;
            }
            weights.push(weight);
        }
        let total: f64 = weights.iter().sum();
        for w in &mut weights {
            *w /= total;
        }
        Self { first, weights }
    }
}
