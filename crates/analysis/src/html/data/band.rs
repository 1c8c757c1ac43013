//! The band of limits over time.

use inorder_detect::FlowReport;
use inorder_limits::{Limit, LimitSet, Stretch};
use serde::Serialize;

use super::{rounded, seconds};
use crate::limits::worst;

/// What limited a flow, stretch by stretch.
#[derive(Serialize, Default)]
pub(crate) struct Band {
    /// Begin of the first stretch, seconds.
    from: f64,
    /// The sets of limits that occur, each as places in [`NAMES`]; those that held longest first.
    sets: Vec<Vec<usize>>,
    /// Share of the life that each set held, 0 to 1.
    shares: Vec<f64>,
    /// End of each stretch, seconds, and its set as a place in `sets`. It begins where the one before ends.
    ends: Vec<(f64, usize)>,
    /// The stretch of which somebody may want to know most, as a place in `ends`.
    worst: Option<usize>,
}

impl Band {
    pub(crate) fn of(flow: &FlowReport) -> Band {
        let limits = &flow.limits;
        let Some(first) = limits.stretches.first() else {
            return Band::default();
        };
        let mut sets: Vec<LimitSet> = limits.shares.iter().map(|share| share.limits).collect();
        sets.extend(limits.stretches.iter().map(|stretch| stretch.limits));
        let mut seen = Vec::new();
        sets.retain(|set| !seen.contains(set) && (seen.push(*set), true).1);
        let place = |set: LimitSet| sets.iter().position(|known| *known == set).unwrap_or(0);
        let worst = worst(limits);
        let at = |stretch: &Stretch| worst.is_some_and(|worst| std::ptr::eq(worst, stretch));
        Band {
            from: micros(seconds(flow, first.start_ns)),
            ends: limits
                .stretches
                .iter()
                .map(|s| (micros(seconds(flow, s.end_ns)), place(s.limits)))
                .collect(),
            worst: limits.stretches.iter().position(at),
            shares: sets
                .iter()
                .map(|set| rounded(limits.share_of(*set)))
                .collect(),
            sets: sets.iter().map(|set| numbers(*set)).collect(),
        }
    }

    /// Number of stretches.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// First and last second.
    pub(crate) fn span(&self) -> (f64, f64) {
        (self.from, self.ends.last().map_or(self.from, |end| end.0))
    }
}

/// The limits of a set as places in [`Limit::ALL`].
fn numbers(set: LimitSet) -> Vec<usize> {
    let all = Limit::ALL.iter().enumerate();
    all.filter(|(_, limit)| set.contains(**limit))
        .map(|(place, _)| place)
        .collect()
}

fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
