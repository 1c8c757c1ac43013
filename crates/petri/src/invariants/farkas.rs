//! Farkas' algorithm: all minimal semi-positive solutions of `y C = 0`.
//!
//! Starting with one row for each unknown, the columns of `C` are made zero one by one, by adding rows of opposite
//! sign. If only rows of minimal support are kept after each column, exactly the minimal solutions remain (J. M.
//! Colom and M. Silva, "Convex geometry and semiflows in P/T nets", 1991). Their number can be exponential, hence a
//! limit.

/// Too many invariants, or too large numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Explosion {
    /// More intermediate solutions than allowed.
    #[error(
        "more than {limit} invariants to keep after {done} of {columns} equations; a net can have \
         exponentially many: raise the limit, or remove parallel paths"
    )]
    TooMany {
        /// The limit.
        limit: usize,
        /// Number of equations satisfied when it was exceeded.
        done: usize,
        /// Number of equations.
        columns: usize,
    },
    /// Weights that do not fit 64 bits.
    #[error("the invariants have weights beyond 64 bits")]
    TooLarge,
}

/// A solution of the equations considered so far.
#[derive(Debug, Clone)]
struct Row {
    /// The remainders of the other equations.
    left: Vec<i64>,
    weights: Vec<i64>,
    /// The unknowns with non-zero weight, one bit each.
    support: Vec<u64>,
}

/// The minimal semi-positive solutions, each as a list of unknowns with weights; rows that are `None` have none.
pub(super) fn minimal_solutions(
    matrix: &[Option<Vec<i64>>],
    limit: usize,
) -> Result<Vec<Vec<(usize, u64)>>, Explosion> {
    let columns = matrix.iter().flatten().map(Vec::len).next().unwrap_or(0);
    let mut rows: Vec<Row> = unit_rows(matrix);
    let mut open: Vec<usize> = (0..columns).collect();
    while let Some(next) = cheapest(&rows, &open) {
        let column = open.swap_remove(next);
        let explosion = Explosion::TooMany {
            limit,
            done: columns - open.len() - 1,
            columns,
        };
        rows = annul(rows, column, limit).map_err(|e| e.unwrap_or(explosion))?;
    }
    let mut solutions: Vec<_> = rows.iter().map(solution).collect();
    solutions.sort_unstable();
    Ok(solutions)
}

fn unit_rows(matrix: &[Option<Vec<i64>>]) -> Vec<Row> {
    let unit = |i: usize| {
        let mut weights = vec![0; matrix.len()];
        weights[i] = 1;
        weights
    };
    let row = |(i, left): (usize, &Option<Vec<i64>>)| {
        let weights = unit(i);
        Some(Row {
            left: left.clone()?,
            support: support(&weights),
            weights,
        })
    };
    matrix.iter().enumerate().filter_map(row).collect()
}

fn support(weights: &[i64]) -> Vec<u64> {
    let bits = |chunk: &[i64]| {
        let bit = |(i, &w): (usize, &i64)| u64::from(w != 0) << i;
        chunk.iter().enumerate().map(bit).sum()
    };
    weights.chunks(64).map(bits).collect()
}

/// The remaining column that adds the fewest rows, as an index in `open`.
fn cheapest(rows: &[Row], open: &[usize]) -> Option<usize> {
    let growth = |&column: &usize| {
        let positive = rows.iter().filter(|r| r.left[column] > 0).count() as i64;
        let negative = rows.iter().filter(|r| r.left[column] < 0).count() as i64;
        positive.saturating_mul(negative) - positive - negative
    };
    (0..open.len()).min_by_key(|&i| (growth(&open[i]), open[i]))
}

/// The rows that satisfy the equation of `column`: those that do already, and sums of two that do not.
///
/// `Err(None)` when there are more than `limit`.
fn annul(rows: Vec<Row>, column: usize, limit: usize) -> Result<Vec<Row>, Option<Explosion>> {
    let (mut kept, others): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|r| r.left[column] == 0);
    let (positive, negative): (Vec<Row>, Vec<Row>) =
        others.into_iter().partition(|r| r.left[column] > 0);
    let mut sums: Vec<Row> = Vec::new();
    for a in &positive {
        for b in &negative {
            let sum = combine(a, b, column).ok_or(Some(Explosion::TooLarge))?;
            sums.push(sum);
            if sums.len() > 2 * limit {
                keep_minimal(&mut sums);
                if sums.len() > limit {
                    return Err(None);
                }
            }
        }
    }
    kept.append(&mut sums);
    keep_minimal(&mut kept);
    if kept.len() > limit {
        Err(None)
    } else {
        Ok(kept)
    }
}

/// The smallest combination of two rows that satisfies the equation; `None` if it does not fit 64 bits.
fn combine(a: &Row, b: &Row, column: usize) -> Option<Row> {
    let (x, y) = (a.left[column], b.left[column].checked_neg()?);
    let divisor = gcd(x, y);
    let (times_a, times_b) = (y / divisor, x / divisor);
    let add = |(a, b): (&i64, &i64)| a.checked_mul(times_a)?.checked_add(b.checked_mul(times_b)?);
    let mut left: Vec<i64> = a.left.iter().zip(&b.left).map(add).collect::<Option<_>>()?;
    let mut weights: Vec<i64> = a
        .weights
        .iter()
        .zip(&b.weights)
        .map(add)
        .collect::<Option<_>>()?;
    let common = left.iter().chain(&weights).fold(0, |g, &x| gcd(g, x));
    if common > 1 {
        for x in left.iter_mut().chain(&mut weights) {
            *x /= common;
        }
    }
    let support = support(&weights);
    Some(Row {
        left,
        weights,
        support,
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// Removes rows whose support contains that of another row.
fn keep_minimal(rows: &mut Vec<Row>) {
    let size = |row: &Row| {
        row.support
            .iter()
            .map(|bits| bits.count_ones())
            .sum::<u32>()
    };
    rows.sort_by_cached_key(|row| (size(row), row.support.clone()));
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows.drain(..) {
        if !kept.iter().any(|other| holds(&row.support, &other.support)) {
            kept.push(row);
        }
    }
    *rows = kept;
}

fn holds(large: &[u64], small: &[u64]) -> bool {
    large.iter().zip(small).all(|(l, s)| s & !l == 0)
}

fn solution(row: &Row) -> Vec<(usize, u64)> {
    let positive = row.weights.iter().enumerate().filter(|(_, w)| **w > 0);
    positive.map(|(i, w)| (i, w.unsigned_abs())).collect()
}
