//! Elimination without subtractions for chains whose states have few neighbours.
//!
//! The algorithm is that of [`super::gth`]. Its digits do not depend on the order in which states are eliminated, but its
//! time and memory do: the next state is the one for which the product of the numbers of its predecessors and successors
//! is the least (H. Markowitz, "The elimination form of the inverse and its application to linear programming",
//! Management Science 3(3), 1957). When what is left is mostly full, it is eliminated as a full matrix.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::gth;
use super::links::Links;
use super::number::{Positive, Wide};
use super::solve::{Solving, Watch};

/// What an elimination may cost.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// Numbers in memory at one time.
    pub entries: usize,
    /// Additions to entries.
    pub work: f64,
}

/// Why an elimination gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It would cost more than it may.
    Cost,
    /// Numbers left the range in which they keep their digits.
    Range,
    /// It was stopped from outside.
    Interrupted,
}

/// States between two looks at what the elimination will cost, and at whether it goes on.
const LOOK: usize = 64;

/// Remaining states are eliminated as a full matrix if at least this share of it is occupied...
const FULL: f64 = 0.25;
/// ... and it has at most this number of rows.
const MOST_FULL: usize = 4000;

/// How many additions to a full matrix take the time of one to a sparse row, about. Counted alike, the full rest of 9,139 markings of four
/// queues was left to the iteration, which had not ended after two minutes; now they take 4.6 s.
const FASTER: f64 = 8.0;

/// The stationary distribution of an irreducible chain, by an elimination that can be continued with a greater budget.
pub(super) enum Elimination<'r> {
    /// It computes with plain `f64`.
    Plain(&'r Links, Begun<f64>),
    /// The range of `f64` was not sufficient: it computes with wide numbers.
    Wide(Begun<Wide>),
    /// The range of wide numbers was not sufficient either.
    Failed,
}

impl<'r> Elimination<'r> {
    pub(super) fn new(rows: &'r Links) -> Self {
        Self::Plain(rows, Begun::new(rows))
    }

    /// Goes on until the whole elimination has cost as much as it may.
    pub(super) fn within(&mut self, budget: Budget, watch: Watch<'_>) -> Result<Vec<f64>, Stop> {
        if let Self::Plain(rows, begun) = self {
            match begun.go_on(budget, watch) {
                Err(Stop::Range) => *self = Self::Wide(Begun::new(rows)),
                found => return found,
            }
        }
        let Self::Wide(begun) = self else {
            return Err(Stop::Range);
        };
        let found = begun.go_on(budget, watch);
        if found == Err(Stop::Range) {
            *self = Self::Failed;
        }
        found
    }
}

/// An elimination with numbers of one kind.
pub(super) struct Begun<P> {
    left: Matrix<P>,
    eliminated: Vec<Eliminated<P>>,
    /// Numbers of what was eliminated.
    kept: usize,
    /// Additions.
    spent: f64,
}

/// A state, and its predecessors with the shares of their flow that passed through it.
struct Eliminated<P> {
    state: usize,
    shares: Vec<(u32, P)>,
}

impl<P: Positive> Begun<P> {
    fn new(rows: &Links) -> Self {
        Self {
            left: Matrix::new(rows),
            eliminated: Vec::with_capacity(rows.len()),
            kept: 0,
            spent: 0.0,
        }
    }

    fn go_on(&mut self, budget: Budget, watch: Watch<'_>) -> Result<Vec<f64>, Stop> {
        let mut before = self.spent;
        while !self.left.is_full()
            && let Some(state) = self.left.next()
        {
            let shares = self.left.eliminate(state, &mut self.spent)?;
            self.kept += shares.len();
            self.eliminated.push(Eliminated { state, shares });
            if self.spent > budget.work || self.left.entries + self.kept > budget.entries {
                return Err(Stop::Cost);
            }
            if self.eliminated.len().is_multiple_of(LOOK) {
                let left = self.left.left;
                if !watch(Solving::Eliminating { left }) {
                    return Err(Stop::Interrupted);
                }
                // The cheapest come first: those that are left cost as much as the last ones, unless all of them become a full matrix.
                let each = (self.spent - before) / LOOK as f64;
                let rest = (each * left as f64).min(cost_of_full(left));
                if self.spent + rest > budget.work {
                    return Err(Stop::Cost);
                }
                before = self.spent;
            }
        }
        let rest = self.left.states();
        if self.spent + cost_of_full(rest.len()) > budget.work {
            return Err(Stop::Cost);
        }
        self.back(&rest, watch)
    }

    /// The shares of the states that are left, and then of those that were eliminated, the last one first.
    fn back(&self, rest: &[usize], watch: Watch<'_>) -> Result<Vec<f64>, Stop> {
        let mut p = vec![P::ZERO; self.left.rows.len()];
        let shares = gth::shares(self.left.full(rest), rest.len(), watch)?;
        for (&state, share) in rest.iter().zip(shares) {
            p[state] = share;
        }
        for Eliminated { state, shares } in self.eliminated.iter().rev() {
            let inflow = shares
                .iter()
                .map(|(from, share)| p[*from as usize].times(*share));
            let share = inflow.fold(P::ZERO, P::plus);
            if share.is_at_the_edge() {
                return Err(Stop::Range);
            }
            p[*state] = share;
        }
        Ok(normal(&p))
    }
}

/// What the elimination of a full matrix costs.
fn cost_of_full(rows: usize) -> f64 {
    (rows as f64).powi(3) / 3.0 / FASTER
}

/// Divided by their sum.
fn normal<P: Positive>(p: &[P]) -> Vec<f64> {
    let more = |a: P, b: &P| if b.exceeds(a) { *b } else { a };
    let largest = p.iter().fold(P::ZERO, more);
    let mut shares: Vec<f64> = p.iter().map(|p| p.share_of(largest)).collect();
    let total: f64 = shares.iter().sum();
    for share in &mut shares {
        *share /= total;
    }
    shares
}

/// The states that are left, with the rates between them.
struct Matrix<P> {
    /// By state, in the order of the columns; empty for a state that was eliminated.
    rows: Vec<Vec<(u32, P)>>,
    /// The predecessors of each state, in no order.
    columns: Vec<Vec<u32>>,
    is_left: Vec<bool>,
    left: usize,
    entries: usize,
    /// States by cost; those of states whose cost changed since are out of date.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// The least cost of each state in the queue.
    queued: Vec<u64>,
    merged: Vec<(u32, P)>,
}

impl<P: Positive> Matrix<P> {
    fn new(links: &Links) -> Self {
        let n = links.len();
        let columns = links.transposed();
        let row = |state| {
            let mut row: Vec<(u32, P)> = links
                .of(state)
                .map(|(to, rate)| (to as u32, P::of(rate)))
                .collect();
            row.sort_unstable_by_key(|(to, _)| *to);
            row
        };
        let mut matrix = Self {
            rows: (0..n).map(row).collect(),
            columns: (0..n)
                .map(|state| columns.of(state).map(|(from, _)| from as u32).collect())
                .collect(),
            is_left: vec![true; n],
            left: n,
            entries: links.other.len(),
            queue: BinaryHeap::with_capacity(n),
            queued: vec![u64::MAX; n],
            merged: Vec::new(),
        };
        for state in 0..n as u32 {
            matrix.enqueue(state);
        }
        matrix
    }

    fn cost(&self, state: u32) -> u64 {
        let (row, column) = (&self.rows[state as usize], &self.columns[state as usize]);
        row.len() as u64 * column.len() as u64
    }

    fn enqueue(&mut self, state: u32) {
        let cost = self.cost(state);
        if cost < self.queued[state as usize] {
            self.queued[state as usize] = cost;
            self.queue.push(Reverse((cost, state)));
        }
    }

    /// The cheapest state; `None` when only one is left.
    fn next(&mut self) -> Option<usize> {
        if self.left <= 1 {
            return None;
        }
        while let Some(Reverse((cost, state))) = self.queue.pop() {
            let queued = &mut self.queued[state as usize];
            if !self.is_left[state as usize] || cost > *queued {
                continue;
            }
            *queued = u64::MAX;
            if self.cost(state) <= cost {
                return Some(state as usize);
            }
            self.enqueue(state);
        }
        None
    }

    /// Whether what is left is mostly full and small enough.
    fn is_full(&self) -> bool {
        let n = self.left as f64;
        self.left <= MOST_FULL && self.entries as f64 >= FULL * n * n
    }

    /// Removes a state; returns its predecessors with the shares of their flow that passed through it.
    fn eliminate(&mut self, state: usize, spent: &mut f64) -> Result<Vec<(u32, P)>, Stop> {
        let row = std::mem::take(&mut self.rows[state]);
        let before = std::mem::take(&mut self.columns[state]);
        let out = row.iter().fold(P::ZERO, |sum, (_, rate)| sum.plus(*rate));
        // Groups of an iteration may have no flow out that can be represented.
        if out.is_zero() || out.is_at_the_edge() {
            return Err(Stop::Range);
        }
        self.is_left[state] = false;
        self.left -= 1;
        self.entries -= row.len() + before.len();
        for (to, _) in &row {
            let column = &mut self.columns[*to as usize];
            if let Some(at) = column.iter().position(|from| *from as usize == state) {
                column.swap_remove(at);
            }
        }
        let mut shares = Vec::with_capacity(before.len());
        for from in before {
            let share = self.redirect(from, state as u32, &row, out)?;
            shares.push((from, share));
            *spent += (row.len() + self.rows[from as usize].len()) as f64;
        }
        for state in row
            .iter()
            .map(|(to, _)| *to)
            .chain(shares.iter().map(|(from, _)| *from))
        {
            self.enqueue(state);
        }
        Ok(shares)
    }

    /// What led from `from` to the state now leads to where the state led.
    fn redirect(&mut self, from: u32, state: u32, onward: &[(u32, P)], out: P) -> Result<P, Stop> {
        let mut old = std::mem::take(&mut self.rows[from as usize]);
        let Ok(at) = old.binary_search_by_key(&state, |(to, _)| *to) else {
            return Ok(P::ZERO);
        };
        let share = old[at].1.over(out);
        if share.is_at_the_edge() {
            return Err(Stop::Range);
        }
        let mut merged = std::mem::take(&mut self.merged);
        let mut kept = old.iter().filter(|(to, _)| *to != state).peekable();
        for (to, rate) in onward.iter().filter(|(to, _)| *to != from) {
            while let Some(entry) = kept.next_if(|(kept, _)| kept < to) {
                merged.push(*entry);
            }
            let more = share.times(*rate);
            if more.is_at_the_edge() {
                return Err(Stop::Range);
            }
            match kept.next_if(|(kept, _)| kept == to) {
                Some((_, rate)) => merged.push((*to, rate.plus(more))),
                None => {
                    merged.push((*to, more));
                    self.columns[*to as usize].push(from);
                    self.entries += 1;
                }
            }
        }
        merged.extend(kept);
        // Were the memory of the two exchanged, each row would come to have that of the longest.
        old.clear();
        old.extend_from_slice(&merged);
        self.rows[from as usize] = old;
        merged.clear();
        self.merged = merged;
        Ok(share)
    }

    fn states(&self) -> Vec<usize> {
        (0..self.rows.len())
            .filter(|&state| self.is_left[state])
            .collect()
    }

    /// The rates between these states, all that are left, as a full matrix.
    fn full(&self, states: &[usize]) -> Vec<P> {
        let n = states.len();
        let mut place = vec![0; self.rows.len()];
        for (i, &state) in states.iter().enumerate() {
            place[state] = i;
        }
        let mut rates = vec![P::ZERO; n * n];
        for (row, &state) in rates.chunks_mut(n).zip(states) {
            for (to, rate) in &self.rows[state] {
                row[place[*to as usize]] = *rate;
            }
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks in a plane, whose last states have long rows.
    #[test]
    fn rows_take_the_memory_of_their_entries() {
        let side = 40;
        let mut plane = Links::with_room(side * side);
        for state in 0..side * side {
            let (x, y) = (state % side, state / side);
            let near = [
                (x > 0, state.wrapping_sub(1)),
                (x + 1 < side, state + 1),
                (y > 0, state.wrapping_sub(side)),
                (y + 1 < side, state + side),
            ];
            for (_, other) in near.into_iter().filter(|(is_there, _)| *is_there) {
                plane.other.push(other as u32);
                plane.rate.push(1.0);
            }
            plane.first.push(plane.other.len());
        }
        let mut left = Matrix::<f64>::new(&plane);
        let mut spent = 0.0;
        for _ in 0..side * side - 2 * side {
            let state = left.next().expect("a state");
            left.eliminate(state, &mut spent).expect("numbers in range");
        }
        let room: usize = left.rows.iter().map(Vec::capacity).sum();
        let entries: usize = left.rows.iter().map(Vec::len).sum();
        assert!(room <= 3 * entries, "room for {room} of {entries} entries");
    }
}
