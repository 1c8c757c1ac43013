//! What sorting changed: reordering before and after, and the delay it cost.

use std::collections::HashMap;
use std::io::{self, Write};

use inorder_metrics::{Arrival, Order, OrderCounts, Unwrapper};
use inorder_report::{Column, Digits, Files, Kind, Object};
use inorder_sort::Counters;

use super::classify::{Flow, Placed};

/// Gaps remembered of each flow. TCP numbers bytes, so every segment leaves one: a segment late
/// by more than this is not told from a copy.
const MAX_HOLES: usize = 512;

/// Counts as frames come and go.
#[derive(Default)]
pub struct Tally {
    before: Orders,
    after: Orders,
    frames: u64,
    batches: u64,
    batch_max: u64,
    delay_sum_ns: u128,
    delay_max_ns: u64,
}

/// The order of every flow at one side of the sorter.
#[derive(Default)]
struct Orders {
    flows: HashMap<Flow, (Unwrapper, Order)>,
    max_extent: u64,
}

/// What one side adds up to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Side {
    /// First copies of numbered packets.
    pub received: u64,
    /// Of these, reordered (RFC 4737 section 3.3).
    pub reordered: u64,
    /// The largest extent (section 4.2.1), packets.
    pub max_extent: u64,
}

/// The whole run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    pub frames: u64,
    /// Frames that could be sorted.
    pub sortable: u64,
    pub batches: u64,
    /// Frames in the largest batch.
    pub batch_max: u64,
    pub before: Side,
    pub after: Side,
    pub delay_mean_ns: f64,
    pub delay_max_ns: u64,
}

impl Tally {
    pub fn arrived(&mut self, placed: Option<&Placed>, now_ns: i64) {
        self.frames += 1;
        self.before.update(placed, now_ns);
    }

    pub fn delivered(&mut self, placed: Option<&Placed>, arrived_ns: i64, now_ns: i64) {
        self.after.update(placed, now_ns);
        let delay_ns = u64::try_from(now_ns.saturating_sub(arrived_ns)).unwrap_or(0);
        self.delay_sum_ns += u128::from(delay_ns);
        self.delay_max_ns = self.delay_max_ns.max(delay_ns);
    }

    pub fn batch(&mut self, frames: u64) {
        self.batches += 1;
        self.batch_max = self.batch_max.max(frames);
    }

    pub fn summary(&self, sorter: &Counters) -> Summary {
        Summary {
            frames: self.frames,
            sortable: sorter.suitable,
            batches: self.batches,
            batch_max: self.batch_max,
            before: self.before.side(),
            after: self.after.side(),
            delay_mean_ns: self.delay_sum_ns as f64 / self.frames.max(1) as f64,
            delay_max_ns: self.delay_max_ns,
        }
    }
}

impl Orders {
    fn update(&mut self, placed: Option<&Placed>, now_ns: i64) {
        let Some(packet) = placed else { return };
        let known = self.flows.get_mut(&packet.flow);
        let (unwrapper, order) = match known {
            Some(flow) => flow,
            None => {
                let Some(unwrapper) = Unwrapper::new(packet.bits) else {
                    return;
                };
                let order = Order::with_limits(MAX_HOLES, None);
                self.flows.entry(packet.flow).or_insert((unwrapper, order))
            }
        };
        let number = unwrapper.extend(packet.number);
        if let Arrival::Reordered(late) = order.update(number, now_ns, packet.bytes) {
            self.max_extent = self.max_extent.max(late.extent);
        }
    }

    fn side(&self) -> Side {
        let counts = || self.flows.values().map(|(_, order)| order.counts());
        let sum = |of: fn(&OrderCounts) -> u64| counts().map(of).sum();
        Side {
            received: sum(|c| c.received),
            reordered: sum(|c| c.reordered),
            max_extent: self.max_extent,
        }
    }
}

impl Side {
    fn percent(&self) -> f64 {
        100.0 * self.reordered as f64 / self.received.max(1) as f64
    }
}

impl Summary {
    fn batch_mean(&self) -> f64 {
        self.frames as f64 / self.batches.max(1) as f64
    }

    /// A few lines for people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let line = |out: &mut dyn Write, name, side: &Side| {
            writeln!(
                out,
                "reordered {name}  {} of {} packets ({:.2} %), extent at most {}",
                side.reordered,
                side.received,
                side.percent(),
                side.max_extent
            )
        };
        writeln!(
            out,
            "frames            {}, {} of them sortable",
            self.frames, self.sortable
        )?;
        writeln!(
            out,
            "batches           {} of {:.1} frames on average, {} at most",
            self.batches,
            self.batch_mean(),
            self.batch_max
        )?;
        line(out, "before", &self.before)?;
        line(out, "after ", &self.after)?;
        writeln!(
            out,
            "added delay       {:.1} us on average, {:.1} us at most",
            self.delay_mean_ns / 1e3,
            self.delay_max_ns as f64 / 1e3
        )
    }
}

type Of = Column<Summary>;
type OfSide = Column<Side>;

/// One side of the sorter; its names stand twice in a summary, so only nested.
static SIDE: &[OfSide] = &[
    OfSide::new(
        "received",
        Kind::Count,
        "First copies of numbered packets.",
        |s| s.received.into(),
    )
    .only(Files::Json),
    OfSide::new(
        "reordered",
        Kind::Count,
        "Of these, reordered (RFC 4737 section 3.3).",
        |s| s.reordered.into(),
    )
    .only(Files::Json),
    OfSide::new(
        "max_extent",
        Kind::Count,
        "The largest extent (section 4.2.1).",
        |s| s.max_extent.into(),
    )
    .only(Files::Json)
    .unit("packets"),
];

/// What `--json` prints.
pub static SUMMARY: &[Of] = &[
    Of::new("frames", Kind::Count, "Frames read.", |s| s.frames.into()),
    Of::new(
        "sortable",
        Kind::Count,
        "Frames that could be sorted.",
        |s| s.sortable.into(),
    ),
    Of::new("batches", Kind::Count, "Batches the card delivered.", |s| {
        s.batches.into()
    }),
    Of::new("batch_mean", REAL, "Frames of a batch on average.", |s| {
        rounded(s.batch_mean(), 1e3).into()
    }),
    Of::new(
        "batch_max",
        Kind::Count,
        "Frames in the largest batch.",
        |s| s.batch_max.into(),
    ),
    Of::nested(
        "before",
        "Order as the frames came in.",
        &Object {
            columns: SIDE,
            of: |s: &Summary| &s.before,
        },
    ),
    Of::nested(
        "after",
        "Order as the stack gets them.",
        &Object {
            columns: SIDE,
            of: |s: &Summary| &s.after,
        },
    ),
    Of::new("delay_mean_ns", REAL, "Delay added, on average.", |s| {
        rounded(s.delay_mean_ns, 10.0).into()
    })
    .unit("ns"),
    Of::new("delay_max_ns", Kind::Count, "Delay added at most.", |s| {
        s.delay_max_ns.into()
    })
    .unit("ns"),
];

const REAL: Kind = Kind::Number(Digits::Short);

/// To so many parts of one: digits beyond are noise of the division.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
