//! The solvers against full elimination with twice the digits.

use proptest::prelude::*;

use super::balance::balance;
use super::links::Links;
use super::number::{Positive, Wide};
use super::solve::Solving;
use super::sparse::{Budget, Elimination, Stop};
use super::{gth, iterate};

const ANY: Budget = Budget {
    entries: usize::MAX,
    work: f64::INFINITY,
};

/// Nothing stops it.
fn on(_: Solving) -> bool {
    true
}

fn eliminated(rows: &Links) -> Result<Vec<f64>, Stop> {
    Elimination::new(rows).within(ANY, &mut on)
}

/// A positive number of about 32 digits.
#[derive(Clone, Copy, Default)]
struct Twice(f64, f64);

impl Twice {
    fn of(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }

    fn plus(self, other: Self) -> Self {
        let high = self.0 + other.0;
        let part = high - self.0;
        let rest = (self.0 - (high - part)) + (other.0 - part);
        Self::of(high, rest + self.1 + other.1)
    }

    fn times(self, other: Self) -> Self {
        let high = self.0 * other.0;
        let rest = libm::fma(self.0, other.0, -high);
        Self::of(high, rest + self.0 * other.1 + self.1 * other.0)
    }

    fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let back = other.times(Self(first, 0.0));
        let rest = self.plus(Self(-back.0, -back.1));
        Self::of(first, rest.0 / other.0)
    }
}

/// The straightforward twin: full elimination of states from the last to the first.
fn twin(rows: &Links) -> Vec<f64> {
    let n = rows.len();
    let mut rates = vec![vec![Twice::default(); n]; n];
    for (state, row) in rates.iter_mut().enumerate() {
        for (to, rate) in rows.of(state) {
            row[to] = Twice(rate, 0.0);
        }
    }
    for last in (1..n).rev() {
        let out = rates[last][..last]
            .iter()
            .fold(Twice::default(), |sum, rate| sum.plus(*rate));
        let (head, tail) = rates.split_at_mut(last);
        for row in head {
            row[last] = row[last].over(out);
            if row[last].0 > 0.0 {
                for to in 0..last {
                    row[to] = row[to].plus(row[last].times(tail[0][to]));
                }
            }
        }
    }
    let mut p = vec![Twice(1.0, 0.0)];
    for state in 1..n {
        let inflow = p.iter().zip(&rates).map(|(p, row)| p.times(row[state]));
        p.push(inflow.fold(Twice::default(), Twice::plus));
    }
    let total = p.iter().fold(Twice::default(), |sum, p| sum.plus(*p));
    p.iter().map(|p| p.over(total).0).collect()
}

/// A chain whose states can all be reached from each other; rates are `10^exponent`.
fn chain(n: usize, edges: &[(usize, usize, f64)]) -> Links {
    let mut rows = vec![std::collections::BTreeMap::new(); n];
    for (from, to, exponent) in edges {
        if from % n != to % n {
            *rows[from % n].entry(to % n).or_insert(0.0) += libm::pow(10.0, *exponent);
        }
    }
    let mut links = Links::with_room(n);
    for row in rows {
        for (to, rate) in row {
            links.other.push(to as u32);
            links.rate.push(rate);
        }
        links.first.push(links.other.len());
    }
    links
}

/// A ring with further edges anywhere; rates over 15 decades.
fn anything() -> impl Strategy<Value = Links> {
    let rate = || -9.0..6.0_f64;
    (3usize..90).prop_flat_map(move |n| {
        let ring = prop::collection::vec(rate(), n);
        let more = prop::collection::vec((0..n, 0..n, rate()), 0..4 * n);
        (ring, more).prop_map(move |(ring, mut edges)| {
            edges.extend(ring.iter().enumerate().map(|(i, rate)| (i, i + 1, *rate)));
            chain(n, &edges)
        })
    })
}

/// Groups of strongly coupled states, groups of such groups, and weak rates between them.
fn nearly_decomposable() -> impl Strategy<Value = Links> {
    let one = (0usize..64, 0usize..64, -1.0..1.0_f64);
    let weak = (-4.0..0.0_f64, -10.0..-4.0_f64);
    (
        prop::collection::vec(one, 0..200),
        prop::collection::vec(-1.0..1.0_f64, 128),
        weak,
    )
        .prop_map(|(more, steps, (inner, outer))| {
            let strength = |a: usize, b: usize| match (a / 8 == b / 8, a / 32 == b / 32) {
                (true, _) => 5.0,
                (false, true) => inner,
                (false, false) => outer,
            };
            let row = |i: usize| [(i, (i + 1) % 64), ((i + 1) % 64, i)];
            let walk = (0..64)
                .flat_map(row)
                .zip(steps)
                .map(|((a, b), rate)| (a, b, rate));
            let edges: Vec<_> = walk
                .chain(more)
                .map(|(a, b, rate)| (a, b, rate + strength(a, b)))
                .collect();
            chain(64, &edges)
        })
}

#[track_caller]
fn agree(found: &[f64], expected: &[f64], relative: f64) {
    for (state, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected;
        assert!(
            error <= relative,
            "state {state}: {found:e}, expected {expected:e}, off by {error:e}"
        );
    }
}

fn check(rows: &Links) {
    let expected = twin(rows);
    let columns = rows.transposed();
    let found = eliminated(rows).unwrap();
    agree(&found, &expected, 1e-12);
    let bound = balance(&columns, &found).unwrap();
    agree(&found, &expected, bound.error);
    assert!(bound.error < 1e-9, "{bound:?}");
    // The iteration is right, or says that it is not.
    if let Ok((found, bound)) = iterate::stationary(&columns, &rows.sums(), &mut on) {
        agree(&found, &expected, bound.error);
        assert!(bound.error <= 1e-5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_chain(rows in anything()) {
        check(&rows);
    }

    #[test]
    fn chains_of_weakly_coupled_groups(rows in nearly_decomposable()) {
        check(&rows);
    }
}

/// Walks in a plane of `side` times `side` states, with a weak row in the middle.
fn plane(side: usize, weak: f64) -> Links {
    let mut edges = Vec::new();
    let mut random = inorder_base::random::Random::new(1, "plane");
    for x in 0..side {
        for y in 0..side {
            let state = x * side + y;
            for (there, other) in [(x + 1 < side, state + side), (y + 1 < side, state + 1)] {
                if there {
                    let strength = if x + 1 == side / 2 && other == state + side {
                        weak
                    } else {
                        0.0
                    };
                    edges.push((state, other, strength + random.unit()));
                    edges.push((other, state, strength + random.unit()));
                }
            }
        }
    }
    chain(side * side, &edges)
}

#[test]
fn the_iteration_agrees_with_elimination_on_large_chains() {
    for weak in [0.0, -14.0] {
        let rows = plane(60, weak);
        let columns = rows.transposed();
        let expected = eliminated(&rows).unwrap();
        let (found, bound) = iterate::stationary(&columns, &rows.sums(), &mut on).unwrap();
        agree(&found, &expected, bound.error);
    }
}

#[test]
fn a_row_whose_probabilities_leave_the_range_of_numbers() {
    // Down a valley of 1e-500 and up again to the same height.
    let n = 2001;
    let edges = (0..n - 1).flat_map(|i| {
        let down = if i < n / 2 { -0.25 } else { 0.25 };
        [(i, i + 1, down), (i + 1, i, -down)]
    });
    let rows = chain(n, &edges.collect::<Vec<_>>());
    let p = eliminated(&rows).unwrap();
    assert!(
        (p[0] / p[n - 1] - 1.0).abs() < 1e-9,
        "{:e} {:e}",
        p[0],
        p[n - 1]
    );
    assert!(p[0] > 0.3 && p[n / 2] == 0.0);
}

/// Only one state finds a partner that is free: taken together by pairs, there would be as many levels as states.
#[test]
fn states_around_a_hub_take_no_level_each() {
    let n = 20_000;
    let rates = |state: usize| (1.0 + (state % 7) as f64, 1.0 + (state % 5) as f64);
    let edges = (1..n).flat_map(|state| {
        let (there, back) = rates(state);
        [
            (0, state, libm::log10(there)),
            (state, 0, libm::log10(back)),
        ]
    });
    let rows = chain(n, &edges.collect::<Vec<_>>());
    let (found, _) = iterate::stationary(&rows.transposed(), &rows.sums(), &mut on).unwrap();
    for state in [1, 12, n - 1] {
        let (there, back) = rates(state);
        let ratio = found[state] / found[0];
        assert!(
            (ratio * back / there - 1.0).abs() < 1e-9,
            "{state}: {ratio}"
        );
    }
}

/// The groups of an iteration can be such a chain, when flows between them are too small to be represented.
#[test]
fn a_chain_with_a_state_that_is_never_left_is_refused() {
    let rows = chain(3, &[(0, 1, 0.0), (1, 0, 0.0), (1, 2, 0.0)]);
    assert_eq!(eliminated(&rows), Err(Stop::Range));
    let rates = vec![Wide::of(0.0), Wide::of(1.0), Wide::of(0.0), Wide::of(0.0)];
    let shares = gth::shares(rates, 2, &mut on);
    assert_eq!(shares.map(|p| p.len()), Err(Stop::Range));
}

/// The same elimination with twice the digits for sparse chains: the state with the fewest pairs of neighbours first.
fn sparse_twin(rows: &Links) -> Vec<f64> {
    use std::collections::{BTreeMap, BTreeSet};
    let n = rows.len();
    let mut rates = vec![BTreeMap::new(); n];
    let mut before = vec![BTreeSet::new(); n];
    for (state, row) in rates.iter_mut().enumerate() {
        for (to, rate) in rows.of(state) {
            row.insert(to, Twice(rate, 0.0));
            before[to].insert(state);
        }
    }
    let cost = |rates: &[BTreeMap<usize, Twice>], before: &[BTreeSet<usize>], state: usize| {
        rates[state].len() * before[state].len()
    };
    let mut open: BTreeSet<(usize, usize)> =
        (0..n).map(|s| (cost(&rates, &before, s), s)).collect();
    let mut gone: Vec<(usize, Vec<(usize, Twice)>)> = Vec::new();
    while open.len() > 1 {
        let Some((_, last)) = open.pop_first() else {
            break;
        };
        let row = std::mem::take(&mut rates[last]);
        let out = row
            .values()
            .fold(Twice::default(), |sum, rate| sum.plus(*rate));
        let sources = std::mem::take(&mut before[last]);
        let touched: BTreeSet<usize> = row.keys().chain(&sources).copied().collect();
        for &state in &touched {
            open.remove(&(cost(&rates, &before, state), state));
        }
        let mut inflow = Vec::new();
        for from in sources {
            let Some(rate) = rates[from].remove(&last) else {
                continue;
            };
            let share = rate.over(out);
            inflow.push((from, share));
            for (&to, onward) in row.iter().filter(|(to, _)| **to != from) {
                let more = share.times(*onward);
                let slot = rates[from].entry(to).or_default();
                *slot = slot.plus(more);
                before[to].insert(from);
            }
        }
        for &to in row.keys() {
            before[to].remove(&last);
        }
        for &state in &touched {
            open.insert((cost(&rates, &before, state), state));
        }
        gone.push((last, inflow));
    }
    let mut p = vec![Twice::default(); n];
    if let Some((_, first)) = open.first() {
        p[*first] = Twice(1.0, 0.0);
    }
    for (state, inflow) in gone.into_iter().rev() {
        let sum = inflow.iter().map(|(from, share)| p[*from].times(*share));
        p[state] = sum.fold(Twice::default(), Twice::plus);
    }
    let total = p.iter().fold(Twice::default(), |sum, p| sum.plus(*p));
    p.iter().map(|p| p.over(total).0).collect()
}

/// A row of states, each of which leads to its neighbours only: what flows up flows down. As logarithms, since the probabilities of a long row leave the
/// range of numbers, and with it that of the elimination above.
fn row_twin(rows: &Links) -> Vec<f64> {
    let rate = |from: usize, to: usize| -> f64 {
        let rates = rows.of(from).filter(|(other, _)| *other == to);
        rates.map(|(_, rate)| rate).sum()
    };
    let mut logarithms = vec![0.0];
    for state in 1..rows.len() {
        let step = libm::log(rate(state - 1, state)) - libm::log(rate(state, state - 1));
        logarithms.push(logarithms[state - 1] + step);
    }
    let most = logarithms.iter().copied().fold(f64::MIN, f64::max);
    let shares: Vec<f64> = logarithms.iter().map(|l| libm::exp(l - most)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

/// What a drawn chain is like.
const KINDS: [&str; 8] = [
    "rings",
    "trees",
    "grids",
    "bands",
    "long rows",
    "one-way cycles",
    "nearly decomposable",
    "hubs",
];

/// A chain of the kind that its number says, with 3 to 5,000 states and rates over 15 decades.
fn drawn(number: u64) -> Links {
    let mut random = inorder_base::random::Random::new(number, "drawn chain");
    let n = libm::exp(libm::log(3.0) + random.unit() * libm::log(5000.0 / 3.0)) as usize;
    let kind = KINDS[(number % KINDS.len() as u64) as usize];
    let side = libm::sqrt(n as f64) as usize + 1;
    // States of a nearly decomposable chain are in groups of groups, with weaker and weaker rates between them.
    let (small, large) = (
        2 + random.below(30) as usize,
        100 + random.below(900) as usize,
    );
    let rate = |a: usize, b: usize, random: &mut inorder_base::random::Random| match kind {
        "nearly decomposable" => match (a / small == b / small, a / large == b / large) {
            (true, _) => 4.0 + 2.0 * random.unit(),
            (false, true) => -3.0 + 4.0 * random.unit(),
            _ => -9.0 + 2.0 * random.unit(),
        },
        _ => -9.0 + 15.0 * random.unit(),
    };
    let other = |i: usize, random: &mut inorder_base::random::Random| match kind {
        "rings" => (i + 1) % n,
        "trees" => i / 2,
        "grids" => i.saturating_sub(if random.chance(0.5) { 1 } else { side }),
        "hubs" => 0,
        _ => i.saturating_sub(1 + random.below(3) as usize),
    };
    let mut edges = Vec::new();
    let mut edge = |a: usize, b: usize, random: &mut inorder_base::random::Random| {
        edges.push((a, b, rate(a, b, random)));
    };
    let is_one_way = kind == "one-way cycles";
    for i in 0..n {
        if is_one_way {
            // Everything goes on round the cycle, and shortcuts go back.
            edge(i, (i + 1) % n, &mut random);
        } else if kind != "long rows" {
            let to = other(i, &mut random);
            edge(i, to, &mut random);
            edge(to, i, &mut random);
        }
    }
    // Steps along the row keep all states together.
    for i in (1..n).filter(|_| !is_one_way) {
        edge(i, i - 1, &mut random);
        edge(i - 1, i, &mut random);
    }
    for _ in 0..random.below(1 + n as u64 / 20) {
        let (a, b) = (
            random.below(n as u64) as usize,
            random.below(n as u64) as usize,
        );
        if kind != "long rows" {
            edge(a, b, &mut random);
        }
    }
    chain(n, &edges)
}

/// What drawn chains of one kind, or the iteration on them, were like.
#[derive(Default)]
struct Seen {
    chains: usize,
    refused: usize,
    probabilities: usize,
    largest: usize,
    worst: f64,
}

impl Seen {
    fn of(&mut self, found: Option<&[f64]>, expected: &[f64]) {
        self.chains += 1;
        let Some(found) = found else {
            self.refused += 1;
            return;
        };
        self.largest = self.largest.max(expected.len());
        for (found, expected) in found.iter().zip(expected).filter(|(_, p)| **p > 1e-290) {
            self.probabilities += 1;
            self.worst = self.worst.max((found - expected).abs() / expected);
        }
    }

    fn print(&self, what: &str) {
        println!(
            "| {what} | {} | {} | {} | {} | {:.1e} |",
            self.chains, self.refused, self.largest, self.probabilities, self.worst
        );
    }
}

/// `DRAWN_CHAINS=2000 cargo test --profile quick -p inorder-petri --lib drawn_chains -- --ignored --nocapture` prints the table of docs/petri.md.
#[test]
#[ignore = "takes minutes; 40 chains unless DRAWN_CHAINS says how many"]
fn drawn_chains_have_no_wrong_digit_of_the_first_six() {
    let many = std::env::var("DRAWN_CHAINS").ok();
    let many = many.and_then(|many| many.parse().ok()).unwrap_or(40);
    let mut solved: [Seen; KINDS.len()] = Default::default();
    let mut iterated = Seen::default();
    for number in 0..many {
        let rows = drawn(number);
        let kind = (number % KINDS.len() as u64) as usize;
        let expected = match KINDS[kind] {
            "long rows" => row_twin(&rows),
            _ => sparse_twin(&rows),
        };
        let found = super::solve::stationary(&rows, &mut on)
            .ok()
            .map(|(p, _)| p);
        solved[kind].of(found.as_deref(), &expected);
        // What would be tried if the elimination took too much memory.
        let found = iterate::stationary(&rows.transposed(), &rows.sums(), &mut on);
        iterated.of(found.ok().map(|(p, _)| p).as_deref(), &expected);
    }
    println!(
        "| chains | drawn | refused | most states | probabilities | worst error |\n|---|---|---|---|---|---|"
    );
    for (kind, seen) in KINDS.iter().zip(&solved) {
        seen.print(kind);
    }
    iterated.print("all, by the iteration alone");
    let worst = solved.iter().chain([&iterated]).map(|seen| seen.worst);
    assert!(worst.fold(0.0, f64::max) < 5e-7);
}

#[test]
fn a_row_by_its_balance_is_that_by_elimination() {
    for number in (4..200)
        .step_by(KINDS.len())
        .filter(|&n| drawn(n).len() < 60)
    {
        let rows = drawn(number);
        agree(&row_twin(&rows), &twin(&rows), 1e-11);
    }
}

#[test]
fn sparse_elimination_with_twice_the_digits_is_that_of_the_full_matrix() {
    for number in (0..200).filter(|&number| drawn(number).len() < 60).take(12) {
        let rows = drawn(number);
        agree(&sparse_twin(&rows), &twin(&rows), 1e-15);
    }
}
