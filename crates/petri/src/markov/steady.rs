//! The long run of a chain.

use super::chain::Chain;
use super::links::Links;
use super::solve::{Solving, stationary};
use super::{MarkovError, Solution};
use crate::reachability::Terminal;
use crate::reachability::components::Components;

impl Chain {
    /// The distribution of markings in the long run.
    ///
    /// Refused if the net can end in different sets of markings, whose probabilities would depend on the initial
    /// marking. A net that ends in a deadlock is in it with probability 1.
    pub fn steady_state(&self) -> Result<Solution<'_>, MarkovError> {
        self.steady_state_while(|_| true)
    }

    /// The solution; it ends with an error when `keep_going` returns false.
    pub(crate) fn steady_state_while(
        &self,
        mut keep_going: impl FnMut(Solving) -> bool,
    ) -> Result<Solution<'_>, MarkovError> {
        let classes = recurrent_classes(&self.generator);
        let [class] = classes.as_slice() else {
            return Err(self.several(&classes));
        };
        let mut p = vec![0.0; self.len()];
        let rows = self.generator.within(class);
        let (shares, balance) = stationary(&rows, &mut keep_going)?;
        for (&state, share) in class.iter().zip(shares) {
            p[state] = share;
        }
        Ok(Solution::new(self, p, Some(balance)))
    }

    fn several(&self, classes: &[Vec<usize>]) -> MarkovError {
        let text = |class: &Vec<usize>| {
            let number = self.tangible[class[0]];
            Terminal::of(&self.graph, number, class.len()).text(&self.net)
        };
        MarkovError::SeveralRecurrentClasses {
            classes: classes.iter().map(text).collect(),
        }
    }
}

/// Sets of states that are reachable from each other and are never left.
fn recurrent_classes(generator: &Links) -> Vec<Vec<usize>> {
    let components = Components::find(generator.len(), |i, edge| generator.neighbour(i, edge));
    let stays = |members: &Vec<usize>| {
        let own = components.of[members[0]];
        members
            .iter()
            .all(|&i| generator.of(i).all(|(j, _)| components.of[j] == own))
    };
    components.members().into_iter().filter(stays).collect()
}
