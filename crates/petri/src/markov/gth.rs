//! Elimination of states without subtractions (GTH algorithm).
//!
//! W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions for Markov chains",
//! Operations Research 33(5), 1985. A state is eliminated by adding its rates to those of its neighbours. The pivot
//! is the sum of the rates out of the state, never a difference, so nearly all digits of each probability are
//! correct, even if the rates differ by many orders of magnitude. [`super::sparse`] does the same for matrices that are
//! mostly empty.

use super::number::Positive;
use super::solve::{Solving, Watch};
use super::sparse::Stop;

/// Shares of the stationary distribution of the irreducible chain with these rates (`rates[i * n + j]` from `i` to `j`;
/// the diagonal is ignored), not yet divided by their sum.
pub(super) fn shares<P: Positive>(
    mut rates: Vec<P>,
    n: usize,
    watch: Watch<'_>,
) -> Result<Vec<P>, Stop> {
    for last in (1..n).rev() {
        if !watch(Solving::Eliminating { left: last }) {
            return Err(Stop::Interrupted);
        }
        let row = &rates[last * n..last * n + last];
        let out = row.iter().fold(P::ZERO, |sum, rate| sum.plus(*rate));
        let is_lost = |rate: &P| rate.is_at_the_edge() && !rate.is_zero();
        if out.is_zero() || out.is_at_the_edge() || row.iter().any(is_lost) {
            return Err(Stop::Range);
        }
        let (head, tail) = rates.split_at_mut(last * n);
        for row in head.chunks_mut(n) {
            if row[last].is_zero() {
                continue;
            }
            let share = row[last].over(out);
            if share.is_at_the_edge() {
                return Err(Stop::Range);
            }
            row[last] = share;
            for (rate, onward) in row[..last].iter_mut().zip(&tail[..last]) {
                *rate = rate.plus(share.times(*onward));
            }
        }
    }
    let mut shares = Vec::with_capacity(n);
    shares.push(P::of(1.0));
    for j in 1..n {
        let before = shares.iter().zip(rates.iter().skip(j).step_by(n));
        let share = before.fold(P::ZERO, |sum, (p, rate): (&P, &P)| sum.plus(p.times(*rate)));
        if share.is_at_the_edge() {
            return Err(Stop::Range);
        }
        shares.push(share);
    }
    Ok(shares)
}

/// Expected visits `(I - Q)^-1` among `n` transient states, where `inside[i * n + j]` is the probability of going
/// from one to another and `leave[i]` that of leaving; `None` if they cannot be left. `go_on` is asked before each of them, since
/// a step takes the square of their number.
pub(super) fn fundamental<E>(
    inside: &[f64],
    leave: &[f64],
    mut go_on: impl FnMut() -> Result<(), E>,
) -> Result<Option<Vec<f64>>, E> {
    let n = leave.len();
    let (mut q, mut leave) = (inside.to_vec(), leave.to_vec());
    let mut visits = vec![0.0; n * n];
    for i in 0..n {
        visits[i * n + i] = 1.0;
    }
    for s in 0..n {
        go_on()?;
        let out = q[s * n + s + 1..(s + 1) * n].iter().sum::<f64>() + leave[s];
        if out <= 0.0 {
            return Ok(None);
        }
        scale(&mut q[s * n..(s + 1) * n], 1.0 / out);
        scale(&mut visits[s * n..(s + 1) * n], 1.0 / out);
        leave[s] /= out;
        for i in s + 1..n {
            let share = q[i * n + s];
            if share > 0.0 {
                leave[i] += share * leave[s];
                add_row(&mut q, n, i, s, share, s + 1);
                add_row(&mut visits, n, i, s, share, 0);
            }
        }
    }
    for s in (0..n).rev() {
        go_on()?;
        for j in s + 1..n {
            let share = q[s * n + j];
            if share > 0.0 {
                add_row(&mut visits, n, s, j, share, 0);
            }
        }
    }
    Ok(Some(visits))
}

fn scale(row: &mut [f64], factor: f64) {
    for x in row {
        *x *= factor;
    }
}

/// Adds `factor` times row `from` to row `to`, from column `start` on.
fn add_row(matrix: &mut [f64], n: usize, to: usize, from: usize, factor: f64, start: usize) {
    for j in start..n {
        matrix[to * n + j] += factor * matrix[from * n + j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_very_different_size_lose_no_digits() {
        // A birth-death chain with rates 1e-9 up and 1 down: p1/p0 is 1e-9 to the last digit.
        let p = shares(vec![0.0, 1e-9, 1.0, 0.0], 2, &mut |_| true).unwrap();
        assert!((p[1] / p[0] / 1e-9 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn visits_of_a_coin_tossed_until_heads() {
        // The probability of leaving is 1e-12, so there are 1e12 visits.
        let visits = |inside: &[f64], leave: &[f64]| {
            let found = fundamental(inside, leave, || Ok::<_, Stop>(()));
            found.expect("nothing stops it")
        };
        let tosses = visits(&[1.0 - 1e-12], &[1e-12]).unwrap();
        assert!((tosses[0] / 1e12 - 1.0).abs() < 1e-12);
        assert_eq!(visits(&[0.0, 1.0, 1.0, 0.0], &[0.0, 0.0]), None);
    }
}
