//! Integrals of numbers that are computed from the marking.

use crate::net::Net;
use crate::query::Sum;
use crate::statistics::Reward;

/// The numbers, and their integrals over the time so far, in ticks.
#[derive(Clone)]
pub(crate) struct Rewards {
    sums: Vec<Sum>,
    values: Vec<f64>,
    integrals: Vec<f64>,
    since: u64,
    /// With which time counts.
    pub(super) weight: f64,
}

impl Default for Rewards {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Rewards {
    pub(crate) fn new(sums: Vec<Sum>) -> Self {
        Self {
            values: vec![0.0; sums.len()],
            integrals: vec![0.0; sums.len()],
            sums,
            since: 0,
            weight: 1.0,
        }
    }

    /// The integrals begin again at 0.
    pub(super) fn restart(&mut self) {
        self.integrals.fill(0.0);
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = Reward> + '_ {
        self.sums.iter().map(|sum| match sum {
            Sum::Indicator(_) => Reward::Condition,
            _ => Reward::Number,
        })
    }

    /// The marking changed at the time last advanced to, or time begins.
    pub(crate) fn update(&mut self, net: &Net, marking: &[u32]) {
        for (value, sum) in self.values.iter_mut().zip(&self.sums) {
            *value = sum.value(net, marking);
        }
    }

    /// The values last until `now`.
    pub(crate) fn advance(&mut self, now: u64) {
        let ticks = now.saturating_sub(self.since) as f64 * self.weight;
        for (integral, value) in self.integrals.iter_mut().zip(&self.values) {
            *integral += value * ticks;
        }
        self.since = now;
    }

    /// The values now.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The integrals up to the time last advanced to.
    pub(crate) fn integrals(&self) -> &[f64] {
        &self.integrals
    }
}
