//! Stationary distribution of large chains by Gauss-Seidel iteration.

use super::MarkovError;

/// Rates into each state, column by column, and rates out.
pub(super) struct Columns {
    pub first: Vec<usize>,
    pub from: Vec<u32>,
    pub rate: Vec<f64>,
    pub out: Vec<f64>,
}

const SWEEPS: usize = 50_000;

/// Largest relative change in one sweep at which the iteration stops.
const RESTS: f64 = 1e-14;

/// Largest change that may be due to rounding alone: sums of a few dozen terms.
const ROUNDING: f64 = 1e-13;

/// Number of sweeps between two checks whether the change still decreases.
const LOOK: usize = 64;

/// Solves `pi Q = 0` for an irreducible chain by forward and backward sweeps over the states.
///
/// W. J. Stewart, "Introduction to the Numerical Solution of Markov Chains", 1994, sec. 3.2.3. All terms are
/// positive, so no digits are lost; the number of sweeps depends on the chain.
pub(super) fn stationary(columns: &Columns) -> Result<Vec<f64>, MarkovError> {
    let n = columns.out.len();
    let mut p = vec![1.0 / n as f64; n];
    let (mut change, mut looked) = (f64::INFINITY, f64::INFINITY);
    for sweep in 1..=SWEEPS {
        change = sweep_once(columns, &mut p, sweep % 2 == 0);
        normalise(&mut p);
        if change < RESTS {
            return Ok(p);
        }
        if sweep % LOOK == 0 {
            // A change that no longer decreases is due to rounding.
            if change < ROUNDING && change > 0.9 * looked {
                return Ok(p);
            }
            looked = change;
        }
    }
    Err(MarkovError::NotConverged {
        sweeps: SWEEPS,
        change,
    })
}

/// One sweep over all states; returns the largest relative change.
fn sweep_once(columns: &Columns, p: &mut [f64], backwards: bool) -> f64 {
    let n = p.len();
    let mut change: f64 = 0.0;
    for i in 0..n {
        let state = if backwards { n - 1 - i } else { i };
        let new = inflow(columns, p, state) / columns.out[state];
        change = relative(new, p[state]).max(change);
        p[state] = new;
    }
    change
}

fn inflow(columns: &Columns, p: &[f64], state: usize) -> f64 {
    let range = columns.first[state]..columns.first[state + 1];
    let from = &columns.from[range.clone()];
    from.iter()
        .zip(&columns.rate[range])
        .map(|(&i, rate)| p[i as usize] * rate)
        .sum()
}

/// The change relative to the value; subnormal values are ignored.
fn relative(new: f64, old: f64) -> f64 {
    if new.max(old) < 1e-200 {
        0.0
    } else {
        (new - old).abs() / new.max(old)
    }
}

fn normalise(p: &mut [f64]) {
    let total: f64 = p.iter().sum();
    for x in p {
        *x /= total;
    }
}
