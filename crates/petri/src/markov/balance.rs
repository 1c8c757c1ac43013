//! How well the flows of a distribution balance, and what follows for its digits.
//!
//! In a steady state as much flows into every set of states as out of it. It is not enough to check single states: where
//! groups of states are coupled weakly, a distribution can balance at every state to the last digit and still share the
//! probability wrongly between the groups.
//!
//! A tree of the strongest flows joins all states. Each of its edges divides the states in two sets, and what one set
//! gains too much can be sent to the other along that edge, which changes its flow by a certain share. After that at every
//! edge all states balance exactly: the distribution is the exact one of a chain whose rates differ from the given ones by
//! at most the largest of these shares, the *imbalance* `e`. It bounds the imbalance of every set of states, and by the
//! matrix tree theorem each probability is a sum of products of `n - 1` rates divided by a sum of such products, so that
//! each is right to the factor `((1 + e) / (1 - e))^(n - 1)` (C. O'Cinneide, "Entrywise perturbation theory and error
//! analysis for Markov chains", Numerische Mathematik 65, 1993).

use super::links::Links;

/// How well a steady state is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// What flows into any set of markings and what flows out of it differ by at most this share of their sum.
    pub imbalance: f64,
    /// Greatest relative error of each probability.
    pub error: f64,
}

/// Flows below this are not distinguished from 0: they are next to the smallest numbers of 64 bits.
const LEAST_FLOW: f64 = 1e-290;

/// Rounding of a flow: its rate and probability are known to this, relatively, even if they were computed perfectly.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// How well the flows balance; `None` if parts of the chain are joined by flows that are too small to be seen.
pub(super) fn balance(columns: &Links, p: &[f64]) -> Option<Balance> {
    let n = p.len();
    let tree = Tree::of(columns, p)?;
    let mut excess: Vec<Exact> = vec![Exact::default(); n];
    let mut through = vec![0.0; n];
    for to in 0..n {
        for (from, rate) in columns.of(to) {
            let flow = Exact::product(p[from], rate);
            excess[to].add(flow);
            excess[from].add(flow.negative());
            through[to] += flow.high;
            through[from] += flow.high;
        }
    }
    let mut imbalance = 0.0_f64;
    for &state in tree.order.iter().rev() {
        let (parent, flow) = tree.parent[state];
        if flow > 0.0 {
            let (own, all) = (excess[state], through[state]);
            let rounding = all * Exact::PRECISION;
            imbalance = imbalance.max((own.high.abs() + rounding) / flow);
            excess[parent].add(own);
            through[parent] += all;
        }
    }
    let known = imbalance + ROUNDING;
    let error = match known < 1.0 {
        true => libm::expm1(2.0 * (n as f64 - 1.0) * libm::atanh(known)),
        false => f64::INFINITY,
    };
    Some(Balance { imbalance, error })
}

/// The spanning tree of the strongest flows.
struct Tree {
    /// The parent of each state and the stronger of the flows to and from it; flow 0 for the root and for states whose
    /// flows are too small to be seen.
    parent: Vec<(usize, f64)>,
    /// Parents before children.
    order: Vec<usize>,
}

/// An edge for a comparison without ties.
type Edge = (f64, u32, u32);

impl Tree {
    /// By O. Borůvka, "O jistém problému minimálním", 1926: each part chooses its strongest flow, until one is left. This
    /// takes no memory for the edges.
    fn of(columns: &Links, p: &[f64]) -> Option<Self> {
        let n = p.len();
        let mut parts = Parts::new(n);
        let mut chosen: Vec<Edge> = Vec::with_capacity(n);
        loop {
            let mut best: Vec<Edge> = vec![(0.0, 0, 0); n];
            for to in 0..n {
                for (from, rate) in columns.of(to) {
                    let flow = p[from] * rate;
                    let (a, b) = (parts.find(from), parts.find(to));
                    if a == b || flow < LEAST_FLOW {
                        continue;
                    }
                    let edge = (flow, from as u32, to as u32);
                    for part in [a, b] {
                        if stronger(edge, best[part]) {
                            best[part] = edge;
                        }
                    }
                }
            }
            let before = chosen.len();
            for edge in best {
                if edge.0 > 0.0 && parts.join(edge.1 as usize, edge.2 as usize) {
                    chosen.push(edge);
                }
            }
            if chosen.len() == before {
                break;
            }
        }
        Self::rooted(&chosen, p)
    }

    fn rooted(edges: &[Edge], p: &[f64]) -> Option<Self> {
        let n = p.len();
        let mut rows = vec![Vec::new(); n];
        for &(flow, a, b) in edges {
            rows[a as usize].push((b as usize, flow));
            rows[b as usize].push((a as usize, flow));
        }
        let root = (0..n).max_by(|a, b| p[*a].total_cmp(&p[*b]))?;
        let mut parent = vec![(root, 0.0); n];
        let mut order = vec![root];
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for &(neighbour, flow) in &rows[state] {
                if neighbour != parent[state].0 && neighbour != root {
                    parent[neighbour] = (state, flow);
                    order.push(neighbour);
                }
            }
        }
        let mut is_joined = vec![false; n];
        for &state in &order {
            is_joined[state] = true;
        }
        // What is not joined must be next to nothing.
        let apart = p.iter().zip(&is_joined).filter(|(_, joined)| !**joined);
        apart
            .map(|(p, _)| *p)
            .all(|p| p < LEAST_SHARE)
            .then_some(Self { parent, order })
    }
}

/// A state whose flows cannot be seen has no more than this probability.
const LEAST_SHARE: f64 = 1e-250;

fn stronger(a: Edge, b: Edge) -> bool {
    (a.0, b.1, b.2) > (b.0, a.1, a.2)
}

/// Disjoint sets of states.
struct Parts {
    parent: Vec<u32>,
}

impl Parts {
    fn new(n: usize) -> Self {
        Self {
            parent: (0..n as u32).collect(),
        }
    }

    fn find(&mut self, mut state: usize) -> usize {
        while self.parent[state] as usize != state {
            let above = self.parent[state] as usize;
            self.parent[state] = self.parent[above];
            state = above;
        }
        state
    }

    /// Whether they were apart.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high] = low as u32;
        a != b
    }
}

/// A sum with twice the digits of 64 bits (T. J. Dekker, "A floating-point technique for extending the available
/// precision", Numerische Mathematik 18, 1971).
#[derive(Clone, Copy, Default)]
struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    /// Rounding of a sum of many flows, as a share of the flows.
    const PRECISION: f64 = 1e-31;

    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self {
            high,
            low: libm::fma(a, b, -high),
        }
    }

    fn negative(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }

    fn add(&mut self, other: Self) {
        let high = self.high + other.high;
        let part = high - self.high;
        let rest = (self.high - (high - part)) + (other.high - part);
        let low = rest + self.low + other.low;
        self.high = high + low;
        self.low = low - (self.high - high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two states of rates around 1, twice, and next to nothing between the pairs: 1 <-> 2 <-(weak)-> 3 <-> 4.
    fn pairs(weak: f64) -> Links {
        let rates = [
            (0, 1, 1.0),
            (1, 0, 1.0),
            (2, 3, 2.0),
            (3, 2, 2.0),
            (1, 2, weak),
            (2, 1, 3.0 * weak),
        ];
        let mut rows = Links::with_room(4);
        for state in 0..4 {
            for (_, to, rate) in rates.iter().filter(|(from, ..)| *from == state) {
                rows.other.push(*to);
                rows.rate.push(*rate);
            }
            rows.first.push(rows.other.len());
        }
        rows
    }

    #[test]
    fn groups_that_share_the_probability_wrongly_are_found_out() {
        let columns = pairs(1e-14).transposed();
        let right = balance(&columns, &[0.375, 0.375, 0.125, 0.125]).unwrap();
        assert!(right.imbalance < 1e-15 && right.error < 1e-14, "{right:?}");
        // Every state balances to 14 digits, and yet half of the flow between the pairs is missing.
        let wrong = balance(&columns, &[0.25, 0.25, 0.25, 0.25]).unwrap();
        assert!(wrong.imbalance > 0.5 && wrong.error > 1.0, "{wrong:?}");
    }

    #[test]
    fn the_error_of_each_probability_is_within_the_bound() {
        let columns = pairs(1e-3).transposed();
        for off in [1e-12, 1e-6, 1e-3] {
            let p = [0.375 * (1.0 + off), 0.375, 0.125, 0.125 * (1.0 - off)];
            let found = balance(&columns, &p).unwrap();
            assert!(
                found.error >= off && found.error < 4e4 * off,
                "{off} {found:?}"
            );
        }
    }

    #[test]
    fn parts_that_nothing_joins_have_no_bound() {
        let columns = pairs(1e-300).transposed();
        assert_eq!(balance(&columns, &[0.375, 0.375, 0.125, 0.125]), None);
    }
}
