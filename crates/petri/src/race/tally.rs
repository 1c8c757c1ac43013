//! Sums over the history of a run.

use crate::net::Net;

/// Sums over places and transitions. With `n` tokens or clocks at time `t`, the integral of their number is `n * t +
/// moment`, where `moment` is the sum of the times of departures minus that of arrivals.
#[derive(Clone)]
pub(crate) struct Tallies {
    pub(crate) places: Vec<PlaceTally>,
    pub(crate) transitions: Vec<TransitionTally>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct PlaceTally {
    pub(crate) moment: i128,
    pub(crate) arrivals: u64,
    pub(crate) peak: u32,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct TransitionTally {
    pub(crate) firings: u64,
    /// Number of running clocks.
    pub(crate) busy: u32,
    pub(crate) busy_moment: i128,
    pub(crate) active_moment: i128,
}

impl Tallies {
    pub(crate) fn new(net: &Net) -> Self {
        let place = |tokens| PlaceTally {
            peak: tokens,
            ..PlaceTally::default()
        };
        Self {
            places: net.places.iter().map(|p| place(p.tokens)).collect(),
            transitions: vec![TransitionTally::default(); net.transitions.len()],
        }
    }

    /// A place lost and gained tokens and holds `held` now.
    pub(crate) fn change(&mut self, place: usize, lost: u32, gained: u32, held: u32, now: u64) {
        let tally = &mut self.places[place];
        tally.moment += (i128::from(lost) - i128::from(gained)) * i128::from(now);
        tally.arrivals += u64::from(gained);
        tally.peak = tally.peak.max(held);
    }

    pub(crate) fn start_clock(&mut self, transition: u32, now: u64) {
        let tally = &mut self.transitions[transition as usize];
        tally.busy_moment -= i128::from(now);
        if tally.busy == 0 {
            tally.active_moment -= i128::from(now);
        }
        tally.busy += 1;
    }

    pub(crate) fn stop_clock(&mut self, transition: u32, now: u64) {
        let tally = &mut self.transitions[transition as usize];
        tally.busy_moment += i128::from(now);
        tally.busy -= 1;
        if tally.busy == 0 {
            tally.active_moment += i128::from(now);
        }
    }
}
