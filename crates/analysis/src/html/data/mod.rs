//! The data of the charts of one flow or stream, as rows of numbers that the page's script reads.
//!
//! A page has room for about half a megabyte of them ([`Room`]); what is left out is chosen so that extremes stay, and
//! the caption of the chart says what is drawn.

mod bars;
mod burst;
mod events;
mod points;

use inorder_detect::Reordering;
use inorder_detect::{FlowReport, StreamReport};
use serde::Serialize;

use self::bars::{Bars, Lateness};
pub(crate) use self::burst::Burst;
use self::events::EventRow;
pub(crate) use self::events::WHAT;
use self::points::Points;

/// Packets of a sending rate that are worth a point: the share of late packets among fewer is chance.
pub(crate) const MIN_PACKETS: u64 = 30;

/// How much may be drawn of each flow, so that the page stays small whatever the number of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Points of the time-sequence diagram, half of them for the worst burst.
    pub points: usize,
    /// Events, those of the worst burst included.
    pub events: usize,
}

impl Room {
    /// Room for each of `sections` flows.
    pub fn for_each_of(sections: usize) -> Room {
        /// Points of all flows of a page: about ten bytes each.
        const POINTS: usize = 10_000;
        /// Events of all flows of a page: about forty bytes each.
        const EVENTS: usize = 2_500;
        let each = |all: usize, most: usize| (all / sections.max(1)).min(most);
        Room {
            points: each(POINTS, 4_000),
            events: each(EVENTS, 1_000),
        }
    }
}

/// The data of the charts of one flow or stream; empty lists for charts that it does not have.
#[derive(Serialize)]
pub(crate) struct Charts {
    points: Points,
    /// First and last second of the worst burst, and of the whole flow.
    burst: Option<(f64, f64)>,
    pub(crate) span: f64,
    pub(crate) events: Vec<EventRow>,
    /// Seconds, Mbit/s of new data, Mbit/s sent again.
    pub(crate) goodput: Vec<(f64, f64, f64)>,
    /// Seconds of each recovery, and whether nothing had been lost.
    recoveries: Vec<(f64, bool)>,
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
    pub fn of_flow(flow: &FlowReport, burst: Option<&Burst>, room: Room) -> Charts {
        let range = burst.map(|b| (b.from_ns, b.until_ns));
        Charts {
            points: points::of(flow, range, room.points),
            burst: range.map(|(from, until)| (seconds(flow, from), seconds(flow, until))),
            span: seconds(flow, flow.last_ns),
            events: events::of(flow, range, room.events),
            goodput: goodput(flow),
            recoveries: recoveries(flow, room.events),
            by_rate: by_rate(flow),
            ..Charts::of_order(&flow.reordering)
        }
    }

    /// The charts of a stream: those of its order alone.
    pub fn of_stream(stream: &StreamReport) -> Charts {
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
            points: Points::default(),
            burst: None,
            span: 0.0,
            events: Vec::new(),
            goodput: Vec::new(),
            recoveries: Vec::new(),
            extents: Bars::of(&known.extents),
            late: Lateness::of(&known.late_ns),
            rd: density(known),
            by_rate: Vec::new(),
        }
    }

    /// The charts that tell something, in the order of the page.
    pub fn present(&self) -> Vec<Chart> {
        [
            (Chart::Sequence, !self.points.is_empty()),
            (Chart::Goodput, self.goodput.len() > 3),
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

/// A chart of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chart {
    /// Time and sequence.
    Sequence,
    /// Goodput over time.
    Goodput,
    /// Distribution of late times.
    Late,
    /// Extents.
    Extents,
    /// Reorder density.
    Density,
    /// Reordering by sending rate.
    ByRate,
}

impl Chart {
    /// Its name in the page's script.
    pub fn name(self) -> &'static str {
        match self {
            Chart::Sequence => "sequence",
            Chart::Goodput => "goodput",
            Chart::Late => "late",
            Chart::Extents => "extents",
            Chart::Density => "rd",
            Chart::ByRate => "by_rate",
        }
    }

    /// True if it takes the whole width.
    pub fn is_wide(self) -> bool {
        matches!(self, Chart::Sequence | Chart::Goodput)
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

/// The recoveries, at most `most`, evenly chosen.
fn recoveries(flow: &FlowReport, most: usize) -> Vec<(f64, bool)> {
    let list = &flow.recoveries.list;
    let step = list.len().div_ceil(most.max(1)).max(1);
    let spurious = inorder_detect::RecoveryVerdict::Spurious;
    let row =
        |r: &inorder_detect::Recovery| (rounded(seconds(flow, r.start_ns)), r.verdict == spurious);
    list.iter().step_by(step).map(row).collect()
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
