//! Which solver finds a steady state: elimination where it is cheap, else iteration, else elimination at any price.
//!
//! An elimination is right to nearly all digits, but costs what its fill costs, which is known only as it goes on; an iteration costs about the same for
//! each rate, but need not end. So the elimination goes on as long as it is not expected to cost more than an iteration; it waits while that is tried, and
//! goes on where it stopped if the iteration does not end well.

use super::balance::{Balance, balance};
use super::links::Links;
use super::sparse::{Budget, Elimination, Stop};
use super::{MarkovError, iterate};

/// What an elimination may cost before an iteration is tried, in additions for each rate of the chain: 18 philosophers (57,492 rates) take 0.5 s by iteration,
/// in which an elimination does about 6e8 additions, and a Kanban net (446,400) 0.9 s, about 1.1e9.
const WORK_PER_RATE: f64 = 2_500.0;

/// Work that is done without asking what an iteration would cost: a tenth of a second.
const CHEAP_WORK: f64 = 1e8;

/// Most numbers in memory, and additions, if the iteration ends, but with fewer digits than it should.
const IF_BETTER: Budget = Budget {
    entries: 20_000_000,
    work: 3e9,
};

/// Most numbers in memory, and additions, if the iteration does not end in balance.
const IF_NEEDED: Budget = Budget {
    entries: 60_000_000,
    work: 6e10,
};

/// How far a solution has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solving {
    /// Markings are eliminated one after the other.
    Eliminating {
        /// Markings that are not yet eliminated.
        left: usize,
    },
    /// Probabilities are improved until flows balance.
    Iterating {
        /// Number of improvements.
        cycles: usize,
    },
    /// The state at a time is followed from change to change.
    Jumping {
        /// Changes that were followed.
        done: usize,
        /// Changes until then, at most.
        most: usize,
    },
}

/// Hears how far a solution has come, and says whether it goes on.
pub(super) type Watch<'a> = &'a mut dyn FnMut(Solving) -> bool;

/// The distribution of a chain whose states can all be reached from each other, by its rows; and how well its flows balance.
pub(super) fn stationary(
    rows: &Links,
    watch: Watch<'_>,
) -> Result<(Vec<f64>, Balance), MarkovError> {
    let states = rows.len();
    let stopped = MarkovError::Stopped { markings: states };
    let columns = rows.transposed();
    let mut elimination = Elimination::new(rows);
    let mut eliminate = |budget: Budget, watch: Watch<'_>| match elimination.within(budget, watch) {
        Ok(p) => {
            let balance = balance(&columns, &p).unwrap_or_else(|| of_elimination(states));
            Ok(Some((p, balance)))
        }
        Err(Stop::Interrupted) => Err(stopped.clone()),
        Err(Stop::Cost | Stop::Range) => Ok(None),
    };
    let at_first = Budget {
        entries: IF_BETTER.entries,
        work: (WORK_PER_RATE * rows.other.len() as f64).clamp(CHEAP_WORK, IF_BETTER.work),
    };
    if let Some(found) = eliminate(at_first, watch)? {
        return Ok(found);
    }
    let iterated = iterate::stationary(&columns, &rows.sums(), watch);
    if iterated == Err(iterate::Failure::Interrupted) {
        return Err(stopped);
    }
    if let Ok((p, balance)) = &iterated
        && balance.error <= iterate::GOOD
    {
        return Ok((p.clone(), *balance));
    }
    if let Some(found) = eliminate(IF_BETTER, watch)? {
        return Ok(found);
    }
    let imbalance = match iterated {
        Ok(found) => return Ok(found),
        Err(iterate::Failure::Unbalanced(balance)) => balance.map(|balance| balance.imbalance),
        Err(iterate::Failure::Interrupted) => return Err(stopped),
    };
    eliminate(IF_NEEDED, watch)?.ok_or(MarkovError::NotBalanced {
        markings: states,
        imbalance,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The chain of `count` philosophers, each of whom eats with both forks beside him: sets of seats of which no two are neighbours.
    fn philosophers(count: usize) -> Links {
        let forks = |seat: usize| (1_u32 << seat) | (1 << ((seat + 1) % count));
        let is_possible = |eats: u32| {
            let seats = (0..count).filter(|seat| eats >> seat & 1 == 1);
            let mut used = 0;
            seats.map(forks).all(|forks| {
                let are_free = used & forks == 0;
                used |= forks;
                are_free
            })
        };
        let states: Vec<u32> = (0..1 << count).filter(|&eats| is_possible(eats)).collect();
        let mut rows = Links::with_room(states.len());
        for eats in &states {
            for seat in 0..count {
                if let Ok(to) = states.binary_search(&(eats ^ (1 << seat))) {
                    rows.other.push(to as u32);
                    rows.rate.push(1.0 + f64::from(1 - (eats >> seat & 1)));
                }
            }
            rows.first.push(rows.other.len());
        }
        rows
    }

    /// Each of 18 philosophers is connected with many others, so that nearly everything fills: an elimination takes ten times as long as an iteration.
    #[test]
    fn an_elimination_that_fills_is_given_up_before_it_costs_more_than_an_iteration() {
        let rows = philosophers(18);
        let (mut least_left, mut cycles) = (rows.len(), 0);
        let (p, balance) = stationary(&rows, &mut |solving| {
            match solving {
                Solving::Eliminating { left } => least_left = left.min(least_left),
                Solving::Iterating { .. } => cycles += 1,
                Solving::Jumping { .. } => {}
            }
            true
        })
        .unwrap();
        assert!(least_left > 2_000 && cycles > 0, "{least_left} {cycles}");
        // A product form: twice the probability for each philosopher who eats.
        let ratio = p[1] / p[0];
        assert!(
            (ratio - 2.0).abs() < balance.error * 4.0,
            "{ratio} {balance:?}"
        );
        assert!(balance.error < 1e-9, "{balance:?}");
    }

    /// An iteration, which would need as many cycles as states, is not begun.
    #[test]
    fn a_long_row_is_eliminated_at_once() {
        let n = 4_000;
        let mut rows = Links::with_room(n);
        for state in 0..n {
            for (other, rate) in [(state.wrapping_sub(1), 1.0), (state + 1, 0.999)] {
                if other < n {
                    rows.other.push(other as u32);
                    rows.rate.push(rate);
                }
            }
            rows.first.push(rows.other.len());
        }
        let found = stationary(&rows, &mut |solving| {
            matches!(solving, Solving::Eliminating { .. })
        });
        let (p, _) = found.unwrap();
        assert!((p[1] / p[0] - 0.999).abs() < 1e-12);
    }
}
