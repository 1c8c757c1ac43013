//! A direction at its end: what its throughput was, and what limited it.

use inorder_base::vantage::Vantage;
use inorder_cost::{Cost, Flow};

use super::Recorder;
use crate::bound::bound;
use crate::judge::Judge;
use crate::{Life, Limits};

impl Recorder {
    /// What the throughput was with what unnecessary recoveries cost, and what limited the transfer over its `life`.
    pub fn finish(&mut self, life: &Life<'_>) -> (Cost, Limits) {
        let mut cost = self.cost(life);
        let limits = self.limits(life, cost.bottleneck_bps);
        bound(&mut cost, &limits, life.rtt_ns);
        (cost, limits)
    }

    fn cost(&mut self, life: &Life<'_>) -> Cost {
        self.series.settle();
        Flow {
            series: &self.series,
            dispersion: &self.dispersion,
            episodes: &self.episodes,
            flights: self.flights.as_deref(),
            closures: &self.closures,
            reductions: life.recoveries,
            delivered: self.delivered.max(self.una),
            last_news_ns: self.last_news_ns,
            idle_ns: self.idle_ns,
            packets: self.segments.all,
            short: self.segments.short,
            window_full: self.window_full,
            at_sender: self.vantage == Vantage::Sender,
            mss: life.mss,
            rtt_ns: life.rtt_ns,
            spurious: life.spurious,
        }
        .cost()
    }

    fn limits(&mut self, life: &Life<'_>, line_bps: Option<u64>) -> Limits {
        self.catch_up(i64::MAX);
        let progress = self.progress();
        let last_data_ns = self.rounds.last_sent_ns();
        let last_came_ns = self.rounds.last_came_ns();
        let (largest_window, awaited_ns) = (self.rounds.largest_window, self.rounds.awaited_ns);
        let largest_ns = self.rounds.largest_ns;
        let held_short = self.rounds.held_short;
        let (rows, silences) = self.rounds.finish(life.last_ns, &progress);
        Judge {
            life,
            rows: &rows,
            silences,
            episodes: &self.episodes,
            series: &self.series,
            marked: &self.marked,
            vantage: self.vantage,
            line_bps,
            lag_ns: self.lag.as_ref().map_or(0, |lag| lag.ns()),
            last_data_ns,
            last_came_ns,
            awaited_ns,
            held_short,
            largest_window,
            largest_ns,
            closed_ns: self.closures.total_ns(),
        }
        .limits()
    }
}
