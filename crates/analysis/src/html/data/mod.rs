//! The data of the charts of one flow or stream, as rows of numbers that the page's script reads.
//!
//! A page has room for about half a megabyte of them ([`Room`]); what is left out is chosen so that extremes stay, and
//! the caption of the chart says what is drawn.

mod band;
mod bars;
mod burst;
mod events;
mod points;
mod when;

use inorder_base::named;
use inorder_detect::Reordering;
use inorder_detect::{FlowReport, StreamReport};
use serde::Serialize;

use crate::gravity::Subject;

use self::band::Band;
use self::bars::{Bars, Lateness};
pub(crate) use self::burst::Burst;
use self::events::EventRow;
pub(crate) use self::events::{WHAT, evidence, number as marks};
use self::points::Points;
pub(crate) use self::when::ROWS;
use self::when::When;

/// Packets of a sending rate that are worth a point: the share of late packets among fewer is chance.
pub(crate) const MIN_PACKETS: u64 = 30;

/// How much may be drawn of each flow, so that the page stays small whatever the number of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Points of the time-sequence diagram, half of them for the worst burst.
    pub points: usize,
    /// Marks of events and retransmissions, those of the worst burst included.
    pub events: usize,
    /// Intervals in which everything is counted.
    pub bins: usize,
}

impl Room {
    /// Room for each of the sections of a page: what some leave is for the others.
    pub(super) fn shared(sections: &[Subject<'_>]) -> Room {
        /// Points of all flows of a page: about ten bytes each.
        const POINTS: usize = 10_000;
        /// Marks of all flows of a page: about forty bytes each.
        const EVENTS: usize = 4_000;
        /// Intervals of all flows of a page: about six bytes for each kind that happened in one.
        const BINS: usize = 8_000;
        let flows = || {
            sections.iter().filter_map(|subject| match subject {
                Subject::Flow(flow) => Some(*flow),
                Subject::Stream(_) => None,
            })
        };
        Room {
            points: level(flows().map(|flow| flow.records.points.len()), POINTS).min(4_000),
            events: level(flows().map(events::number), EVENTS),
            bins: (BINS / sections.len().max(1)).clamp(40, 240),
        }
    }
}

/// The most that each may take so that all together take no more than `all`.
fn level(wanted: impl Iterator<Item = usize>, all: usize) -> usize {
    let mut wanted: Vec<usize> = wanted.collect();
    wanted.sort_unstable();
    let mut left = all;
    for (done, wants) in wanted.iter().enumerate() {
        let fair = left / (wanted.len() - done);
        if *wants > fair {
            return fair;
        }
        left -= wants;
    }
    all
}

/// The data of the charts of one flow or stream; empty lists for charts that it does not have.
#[derive(Serialize)]
pub(crate) struct Charts {
    pub(crate) band: Band,
    pub(crate) when: When,
    points: Points,
    /// First and last second of the worst burst, and of the whole flow.
    burst: Option<(f64, f64)>,
    whole: (f64, f64),
    pub(crate) events: Vec<EventRow>,
    /// Seconds, Mbit/s of new data, Mbit/s sent again.
    pub(crate) goodput: Vec<(f64, f64, f64)>,
    pub(crate) extents: Bars,
    pub(crate) late: Lateness,
    /// Displacement, percent of the packets.
    rd: Vec<(i64, f64)>,
    by_rate: Vec<RateRow>,
}

/// Rate in Mbit/s, share of packets reordered, packets, mean extent, mean late time in ms.
type RateRow = (f64, f64, u64, f64, f64);

impl Charts {
    /// The charts of a flow.
    pub(super) fn of_flow(flow: &FlowReport, burst: Option<&Burst>, room: Room) -> Charts {
        let range = burst.map(|b| (b.from_ns, b.until_ns));
        let band = Band::of(flow);
        let (from, until) = band.span();
        Charts {
            whole: (from.min(0.0), until.max(seconds(flow, flow.last_ns))),
            band,
            when: When::of(flow, room.bins),
            points: points::of(flow, range, room.points),
            burst: range.map(|(from, until)| (seconds(flow, from), seconds(flow, until))),
            events: events::of(flow, range, room.events),
            goodput: goodput(flow),
            by_rate: by_rate(flow),
            ..Charts::of_order(&flow.reordering)
        }
    }

    /// The charts of a stream: those of its order alone.
    pub(super) fn of_stream(stream: &StreamReport) -> Charts {
        Charts::of_order(&stream.order)
    }

    fn of_order(order: &Reordering) -> Charts {
        /// Of fewer late packets the facts say as much as a chart.
        const MIN_LATE: u64 = 10;
        let nothing = Reordering::default();
        let known = match order.reordered >= MIN_LATE {
            true => order,
            false => &nothing,
        };
        Charts {
            band: Band::default(),
            when: When::default(),
            points: Points::default(),
            burst: None,
            whole: (0.0, 0.0),
            events: Vec::new(),
            goodput: Vec::new(),
            extents: Bars::of(&known.extents),
            late: Lateness::of(&known.late_ns),
            rd: density(known),
            by_rate: Vec::new(),
        }
    }

    /// The charts that tell something, in the order of the page.
    pub(super) fn present(&self) -> Vec<Chart> {
        [
            (Chart::Limits, self.band.len() > 0),
            (Chart::Goodput, self.goodput.len() > 3),
            (Chart::When, self.when.total() > 0),
            (Chart::Sequence, !self.points.is_empty()),
            (Chart::Late, self.late.len() > 2),
            (Chart::Extents, self.extents.len() > 1),
            (Chart::Density, self.rd.len() > 2),
            (Chart::ByRate, self.by_rate.len() > 2),
        ]
        .into_iter()
        .filter_map(|(chart, present)| present.then_some(chart))
        .collect()
    }
}

named! {
    /// A chart of a section.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Chart {
        /// What limited it over time.
        Limits = "limits",
        /// Goodput over time.
        Goodput = "goodput",
        /// Everything that happened, over time.
        When = "when",
        /// Time and sequence.
        Sequence = "sequence",
        /// Distribution of late times.
        Late = "late",
        /// Extents.
        Extents = "extents",
        /// Reorder density.
        Density = "rd",
        /// Reordering by sending rate.
        ByRate = "by_rate",
    }
}

impl Chart {
    /// True if time goes from left to right: it takes the whole width, and all of these move together.
    pub(super) fn is_over_time(self) -> bool {
        matches!(
            self,
            Chart::Limits | Chart::Goodput | Chart::When | Chart::Sequence
        )
    }
}

fn seconds(flow: &FlowReport, at_ns: i64) -> f64 {
    at_ns.saturating_sub(flow.first_ns) as f64 / 1e9
}

/// Five significant digits: more than a chart shows.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Goodput over time, unless the flow carried nothing.
fn goodput(flow: &FlowReport) -> Vec<(f64, f64, f64)> {
    let bins = &flow.cost.goodput;
    if bins.iter().all(|bin| bin.goodput_bps + bin.again_bps == 0) {
        return Vec::new();
    }
    let mbit = |bps: u64| rounded(bps as f64 / 1e6);
    let row = |bin: &inorder_detect::GoodputBin| {
        let at = rounded(seconds(flow, bin.start_ns));
        (at, mbit(bin.goodput_bps), mbit(bin.again_bps))
    };
    bins.iter().map(row).collect()
}

/// The reorder density in percent; nothing if no packet was displaced.
fn density(order: &Reordering) -> Vec<(i64, f64)> {
    if order.reordered == 0 {
        return Vec::new();
    }
    let density = order.displacements.density();
    density.map(|(d, p)| (d, rounded(100.0 * p))).collect()
}

/// Reordering by rate; nothing if no packet was late.
fn by_rate(flow: &FlowReport) -> Vec<RateRow> {
    let classes = flow
        .by_rate
        .iter()
        .filter(|r| r.packets >= MIN_PACKETS && r.rate_bps > 0);
    if classes.clone().all(|r| r.reordered == 0) {
        return Vec::new();
    }
    classes
        .map(|r| {
            (
                rounded(r.rate_bps as f64 / 1e6),
                rounded(r.reordered as f64 / r.packets as f64),
                r.packets,
                rounded(r.mean_extent),
                rounded(r.mean_late_ns / 1e6),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_leave_is_for_the_others() {
        let most = |wanted: &[usize]| level(wanted.iter().copied(), 100);
        assert_eq!(most(&[1_976, 3, 0]), 97);
        assert_eq!(most(&[200, 200]), 50);
        assert_eq!(most(&[10, 20]), 100);
        for wanted in [vec![5, 80, 90, 1], vec![1_000; 7], vec![0; 3]] {
            let most = most(&wanted);
            assert!(wanted.iter().map(|n| n.min(&most)).sum::<usize>() <= 100);
        }
    }
}
