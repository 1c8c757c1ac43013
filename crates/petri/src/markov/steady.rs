//! The long run of a chain.

use super::balance::{Balance, balance};
use super::chain::{Chain, Generator};
use super::links::Links;
use super::sparse::{self, Budget};
use super::{MarkovError, Solution, iterate};
use crate::reachability::components::Components;

/// What an elimination may cost before an iteration is tried.
const AT_FIRST: Budget = Budget {
    entries: 20_000_000,
    work: 3e9,
};

/// What it may cost if the iteration does not end in balance.
const IF_NEEDED: Budget = Budget {
    entries: 60_000_000,
    work: 6e10,
};

impl Chain {
    /// The distribution of markings in the long run.
    ///
    /// Refused if the net can end in different sets of markings, whose probabilities would depend on the initial
    /// marking. A net that ends in a deadlock is in it with probability 1.
    pub fn steady_state(&self) -> Result<Solution<'_>, MarkovError> {
        let classes = recurrent_classes(&self.generator);
        let [class] = classes.as_slice() else {
            return Err(self.several(&classes));
        };
        let mut p = vec![0.0; self.len()];
        let (shares, balance) = solve(&self.generator, class)?;
        for (&state, share) in class.iter().zip(shares) {
            p[state] = share;
        }
        Ok(Solution::new(self, p, Some(balance)))
    }

    fn several(&self, classes: &[Vec<usize>]) -> MarkovError {
        let text = |class: &Vec<usize>| self.net.end_text(self.marking(class[0]), class.len());
        MarkovError::SeveralRecurrentClasses {
            classes: classes.iter().map(text).collect(),
        }
    }
}

/// Sets of states that are reachable from each other and are never left.
fn recurrent_classes(generator: &Generator) -> Vec<Vec<usize>> {
    let components = Components::find(generator.len(), |i, edge| generator.successor(i, edge));
    let stays = |members: &Vec<usize>| {
        let own = components.of[members[0]];
        members
            .iter()
            .all(|&i| generator.row(i).all(|(j, _)| components.of[j] == own))
    };
    components.members().into_iter().filter(stays).collect()
}

/// The distribution within a class, and how well its flows balance.
fn solve(generator: &Generator, class: &[usize]) -> Result<(Vec<f64>, Balance), MarkovError> {
    stationary(&Links::rows(generator, class))
}

/// The distribution of a chain whose states can all be reached from each other, by its rows.
pub(super) fn stationary(rows: &Links) -> Result<(Vec<f64>, Balance), MarkovError> {
    let states = rows.len();
    let columns = rows.transposed();
    if let Some(p) = sparse::stationary(rows, AT_FIRST) {
        let balance = balance(&columns, &p).unwrap_or_else(|| of_elimination(states));
        return Ok((p, balance));
    }
    let iterated = iterate::stationary(&columns, &rows.sums());
    let failed = match iterated {
        Ok(found) => return Ok(found),
        Err(balance) => balance,
    };
    let Some(p) = sparse::stationary(rows, IF_NEEDED) else {
        return Err(MarkovError::NotBalanced {
            markings: states,
            imbalance: failed.map(|balance| balance.imbalance),
        });
    };
    let balance = balance(&columns, &p).unwrap_or_else(|| of_elimination(states));
    Ok((p, balance))
}

/// What is known of an elimination whose parts are joined by flows too small to be seen: it is as if each rate had been
/// changed by at most the rounding of the sums through which it passed (O'Cinneide 1993, as in [`super::balance`]).
fn of_elimination(markings: usize) -> Balance {
    let n = markings as f64;
    let imbalance = 4.0 * n * f64::EPSILON;
    Balance {
        imbalance,
        error: libm::expm1(2.0 * n * imbalance),
    }
}
