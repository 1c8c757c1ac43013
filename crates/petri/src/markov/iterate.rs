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

/// Largest relative change of one sweep at which the iteration stops.
const RESTS: f64 = 1e-14;

/// Largest change that may be rounding alone: sums of some dozens of terms.
const ROUNDING: f64 = 1e-13;

/// Sweeps between looks whether the change still shrinks.
const LOOK: usize = 64;

/// Solves `pi Q = 0` for an irreducible chain, sweeping forth and back over the states.
///
/// W. J. Stewart, "Introduction to the Numerical Solution of Markov Chains", 1994, sec. 3.2.3. All terms are
/// positive, so that no digits are lost; how many sweeps are needed depends on the chain.
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
            // What no longer shrinks is rounding.
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

/// One sweep over all states; the largest relative change of any.
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

/// Change relative to the value; values below the smallest that counts are left out.
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
