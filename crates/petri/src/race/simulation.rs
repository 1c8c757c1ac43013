//! The interface of a race for the estimators.

use super::Race;
use crate::coloured::RunError;
use crate::statistics::{Layout, PlaceTotal, Simulation, Totals, TransitionTotal};

impl Simulation for Race {
    fn layout(&self) -> Layout {
        Race::layout(self)
    }

    fn advance(&mut self, end: u64) -> Result<(), RunError> {
        self.run_until_ticks(end)
    }

    fn stands_still(&self) -> bool {
        self.has_ended()
    }

    fn totals(&self, now: u64) -> Totals {
        let places = self.places.iter().zip(&self.marking);
        let transitions = self.transitions.iter();
        Totals {
            places: places
                .map(|(tally, &tokens)| PlaceTotal::of(tally, tokens, now))
                .collect(),
            transitions: transitions
                .map(|tally| TransitionTotal::of(tally, now))
                .collect(),
            rewards: self.rewards().integrals().to_vec(),
            rewards_now: self.rewards().values().to_vec(),
        }
    }
}
