//! The interface of a race for the estimators.

use super::Race;
use crate::coloured::RunError;
use crate::statistics::{Layout, PlaceTotal, Simulation, Totals, TransitionTotal, integral};

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
        let tallies = self.tallies();
        let places = tallies
            .places
            .iter()
            .zip(self.marking())
            .map(|(tally, &tokens)| PlaceTotal {
                integral: integral(tokens, now, tally.moment),
                arrivals: tally.arrivals,
                tokens,
                peak: tally.peak,
            });
        let transitions = tallies.transitions.iter().map(|tally| TransitionTotal {
            firings: tally.firings,
            busy: integral(tally.busy, now, tally.busy_moment),
            active: integral(tally.busy.min(1), now, tally.active_moment),
        });
        Totals {
            places: places.collect(),
            transitions: transitions.collect(),
            rewards: self.rewards().integrals().to_vec(),
            rewards_now: self.rewards().values().to_vec(),
        }
    }
}
