//! Stationary distribution of large chains by iteration on several levels.
//!
//! Sweeps over the states (Gauss and Seidel; W. J. Stewart, "Introduction to the Numerical Solution of Markov Chains",
//! 1994, sec. 3.2.3) make neighbours agree quickly and distant or weakly coupled states slowly. So between sweeps, states
//! between which much flows are taken together, the smaller chain of the groups is solved in the same way, and each group
//! gets its share (G. Horton and S. Leutenegger, "A multi-level solution algorithm for steady-state Markov chains",
//! SIGMETRICS 1994, after Y. Takahashi 1975 and J. Koury, D. McAllister and W. Stewart 1984). Nothing is subtracted.
//!
//! That an iteration changes little says nothing about how far it still has to go. A result is accepted for how its flows
//! balance ([`super::balance`]).

use super::balance::{Balance, balance};
use super::gth;
use super::links::Links;
use super::solve::{Solving, Watch};
use super::sparse::{Budget, Elimination};

/// Cycles through all levels, at most.
const CYCLES: usize = 400;

/// Cycles between two looks at the balance.
const LOOK: usize = 4;

/// Sweeps before and after the groups get their shares.
const SWEEPS: usize = 3;

/// A bound on the error that needs no improvement.
pub(super) const GOOD: f64 = 1e-9;

/// Largest bound on the error that is accepted.
const ACCEPTED: f64 = 1e-5;

/// States are only taken together if that leaves at most this share of their number: with one or two fewer at each level there would be as many levels as
/// states, each with a chain in memory.
const MAX_GROUPS_PER_STATE: f64 = 0.75;

/// Groups up to this number are solved as a full matrix.
const FEW: usize = 200;

/// What the elimination of the groups may cost.
const CHEAP: Budget = Budget {
    entries: 200_000,
    work: 4e6,
};

/// Why there is no distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Failure {
    /// The flows of the best one do not balance well enough, or it is not known how well they do.
    Unbalanced(Option<Balance>),
    /// It was stopped from outside.
    Interrupted,
}

/// The best distribution found and its balance.
pub(super) fn stationary(
    columns: &Links,
    out: &[f64],
    watch: Watch<'_>,
) -> Result<(Vec<f64>, Balance), Failure> {
    let n = columns.len();
    let mut p = vec![1.0 / n as f64; n];
    let mut best: Option<(Vec<f64>, Balance)> = None;
    let mut idle = 0;
    for cycle in 1..=CYCLES {
        if !watch(Solving::Iterating { cycles: cycle - 1 }) {
            return Err(Failure::Interrupted);
        }
        improve(columns, out, &mut p);
        if cycle % LOOK != 0 {
            continue;
        }
        let Some(found) = balance(columns, &p) else {
            continue;
        };
        let known = best
            .as_ref()
            .map_or(f64::INFINITY, |(_, best)| best.imbalance);
        idle = if found.imbalance < 0.5 * known {
            0
        } else {
            idle + 1
        };
        if found.imbalance < known {
            best = Some((p.clone(), found));
        }
        // What no longer improves is limited by rounding.
        if found.error <= GOOD || idle >= 4 {
            break;
        }
    }
    match best {
        Some((p, balance)) if balance.error <= ACCEPTED => Ok((p, balance)),
        best => Err(Failure::Unbalanced(best.map(|(_, balance)| balance))),
    }
}

/// One cycle: sweeps, shares of the groups, sweeps.
fn improve(columns: &Links, out: &[f64], p: &mut [f64]) {
    for sweep in 0..SWEEPS {
        sweep_once(columns, out, p, sweep % 2 == 1);
    }
    let groups = Groups::of(columns, p);
    if (groups.count as f64) < MAX_GROUPS_PER_STATE * p.len() as f64 {
        share(columns, &groups, p);
    }
    for sweep in 0..SWEEPS {
        sweep_once(columns, out, p, sweep % 2 == 0);
    }
    let total: f64 = p.iter().sum();
    for x in p.iter_mut() {
        *x /= total;
    }
}

/// Gives each group its share of the probability.
fn share(columns: &Links, groups: &Groups, p: &mut [f64]) {
    let mut before = vec![0.0; groups.count];
    for (p, group) in p.iter().zip(&groups.of) {
        before[*group as usize] += p;
    }
    let coarse = groups.columns(columns, p, &before);
    let mut after = before.clone();
    if !solve(&coarse, &mut after) {
        let out = coarse.transposed().sums();
        if out.iter().any(|out| *out <= 0.0) {
            return;
        }
        improve(&coarse, &out, &mut after);
    }
    for (p, group) in p.iter_mut().zip(&groups.of) {
        let group = *group as usize;
        if before[group] > 0.0 && after[group].is_finite() {
            *p *= after[group] / before[group];
        }
    }
}

/// Solves the chain of the groups if that is cheap.
fn solve(columns: &Links, p: &mut Vec<f64>) -> bool {
    let n = columns.len();
    let rows = columns.transposed();
    let sparse = || Elimination::new(&rows).within(CHEAP, &mut |_| true);
    let found = if n <= FEW {
        let mut rates = vec![0.0; n * n];
        for state in 0..n {
            for (to, rate) in rows.of(state) {
                rates[state * n + to] = rate;
            }
        }
        gth::shares(rates, n, &mut |_| true).or_else(|_| sparse())
    } else {
        sparse()
    };
    let Ok(mut found) = found else {
        return false;
    };
    let total: f64 = found.iter().sum();
    for x in &mut found {
        *x /= total;
    }
    *p = found;
    true
}

/// One sweep over all states.
fn sweep_once(columns: &Links, out: &[f64], p: &mut [f64], backwards: bool) {
    let n = p.len();
    for i in 0..n {
        let state = if backwards { n - 1 - i } else { i };
        let inflow: f64 = columns.of(state).map(|(from, rate)| p[from] * rate).sum();
        p[state] = inflow / out[state];
    }
}

/// States taken together.
struct Groups {
    /// The group of each state.
    of: Vec<u32>,
    count: usize,
}

impl Groups {
    /// Pairs of the states between which most flows, and then pairs of these pairs.
    fn of(columns: &Links, p: &[f64]) -> Self {
        let mut all = Self::pairs(columns, p);
        let mut weight = vec![0.0; all.count];
        for (p, group) in p.iter().zip(&all.of) {
            weight[*group as usize] += p;
        }
        let coarse = all.columns(columns, p, &weight);
        let pairs = Self::pairs(&coarse, &weight);
        for group in &mut all.of {
            *group = pairs.of[*group as usize];
        }
        all.count = pairs.count;
        all
    }

    /// Each state with the one that is still alone and with which it exchanges most, relative to what leaves it.
    fn pairs(columns: &Links, p: &[f64]) -> Self {
        let n = p.len();
        let mut partner = vec![(0.0, NONE); n];
        for to in 0..n {
            for (from, rate) in columns.of(to) {
                let flow = p[from] * rate;
                for (state, other) in [(to, from), (from, to)] {
                    if flow > partner[state].0 {
                        partner[state] = (flow, other as u32);
                    }
                }
            }
        }
        let mut of = vec![NONE; n];
        let mut count = 0;
        // First those that choose each other, then the rest join the group of their choice.
        for state in 0..n {
            let chosen = partner[state].1;
            if chosen != NONE && partner[chosen as usize].1 == state as u32 && of[state] == NONE {
                of[state] = count;
                of[chosen as usize] = count;
                count += 1;
            }
        }
        for state in 0..n {
            if of[state] == NONE {
                let chosen = partner[state].1;
                let is_free = chosen != NONE && of[chosen as usize] == NONE;
                of[state] = count;
                if is_free {
                    of[chosen as usize] = count;
                }
                count += 1;
            }
        }
        Self {
            of,
            count: count as usize,
        }
    }

    /// The rates between the groups, by target; `weight` is the probability of each.
    fn columns(&self, columns: &Links, p: &[f64], weight: &[f64]) -> Links {
        let mut members = vec![0_usize; self.count + 1];
        for group in &self.of {
            members[*group as usize + 1] += 1;
        }
        for i in 0..self.count {
            members[i + 1] += members[i];
        }
        let mut next = members.clone();
        let mut states = vec![0_u32; self.of.len()];
        for (state, group) in self.of.iter().enumerate() {
            states[next[*group as usize]] = state as u32;
            next[*group as usize] += 1;
        }
        let mut coarse = Links::with_room(self.count);
        let mut flows = vec![0.0; self.count];
        let mut touched = Vec::new();
        for group in 0..self.count {
            for &state in &states[members[group]..members[group + 1]] {
                for (from, rate) in columns.of(state as usize) {
                    let other = self.of[from];
                    let flow = p[from] * rate;
                    if other as usize != group && flow > 0.0 {
                        if flows[other as usize] == 0.0 {
                            touched.push(other);
                        }
                        flows[other as usize] += flow;
                    }
                }
            }
            for other in touched.drain(..) {
                let flow = std::mem::take(&mut flows[other as usize]);
                coarse.other.push(other);
                coarse.rate.push(flow / weight[other as usize]);
            }
            coarse.first.push(coarse.other.len());
        }
        coarse
    }
}

const NONE: u32 = u32::MAX;
