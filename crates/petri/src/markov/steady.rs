//! The long run of a chain.

use super::chain::{Chain, Generator};
use super::iterate::{self, Columns};
use super::{MarkovError, Solution, gth};
use crate::reachability::components::Components;

/// Recurrent classes up to this size are solved by elimination, larger ones by iteration.
const DENSE: usize = 600;

/// Classes up to this size are solved by elimination if iteration does not converge.
const DENSE_IF_NEEDED: usize = 4000;

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
        for (&state, share) in class.iter().zip(solve(&self.generator, class)?) {
            p[state] = share;
        }
        Ok(Solution::new(self, p))
    }

    fn several(&self, classes: &[Vec<usize>]) -> MarkovError {
        let text = |class: &Vec<usize>| {
            let marking = self.net.marking_text(self.marking(class[0]));
            match class.len() {
                1 => format!("deadlock in {marking}"),
                n => format!("{n} markings around {marking}"),
            }
        };
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

fn solve(generator: &Generator, class: &[usize]) -> Result<Vec<f64>, MarkovError> {
    if class.len() <= DENSE {
        return Ok(eliminate(generator, class));
    }
    match iterate::stationary(&columns(generator, class)) {
        Err(_) if class.len() <= DENSE_IF_NEEDED => Ok(eliminate(generator, class)),
        result => result,
    }
}

fn eliminate(generator: &Generator, class: &[usize]) -> Vec<f64> {
    let n = class.len();
    let mut rates = vec![0.0; n * n];
    for (i, &state) in class.iter().enumerate() {
        for (to, rate) in generator.row(state) {
            if let Ok(j) = class.binary_search(&to) {
                rates[i * n + j] = rate;
            }
        }
    }
    gth::stationary(rates, n)
}

/// The rates of `class` by target state.
fn columns(generator: &Generator, class: &[usize]) -> Columns {
    let n = class.len();
    let mut place = vec![0; generator.len()];
    for (i, &state) in class.iter().enumerate() {
        place[state] = i;
    }
    let edges = || {
        class
            .iter()
            .enumerate()
            .flat_map(|(i, &s)| generator.row(s).map(move |e| (i, e)))
    };
    let mut first = vec![0; n + 1];
    for (_, (to, _)) in edges() {
        first[place[to] + 1] += 1;
    }
    for i in 0..n {
        first[i + 1] += first[i];
    }
    let mut next = first.clone();
    let mut from = vec![0; first[n]];
    let mut rate = vec![0.0; first[n]];
    for (i, (to, r)) in edges() {
        let slot = &mut next[place[to]];
        (from[*slot], rate[*slot]) = (i as u32, r);
        *slot += 1;
    }
    Columns {
        first,
        from,
        rate,
        out: class.iter().map(|&s| generator.out(s)).collect(),
    }
}
