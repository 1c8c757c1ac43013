//! All metrics of a stream at once.

use crate::bound::{MAX_SEQ, accepted};
use crate::order::DEFAULT_MAX_HOLES;
use crate::{
    Arrival, BufferDensity, DEFAULT_N_MAX, DEFAULT_THRESHOLD, Gaps, Occupancy, Order, OrderCounts,
    Reordering, Tally,
};

/// Thresholds and limits of [`Metrics`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Displacement threshold DT of reorder density, packets.
    pub displacement_threshold: u16,
    /// Occupancy threshold BT of reorder buffer-occupancy density, packets.
    pub buffer_threshold: u16,
    /// Largest n counted of n-reordering; larger ones are counted there.
    pub n_max: usize,
    /// Holes remembered: how far back, in discontinuities, a late packet is recognised.
    pub max_holes: usize,
    /// Number of the first packet sent, where known; smaller ones are ignored.
    pub start: Option<u64>,
}

impl Default for Config {
    /// Thresholds of [`DEFAULT_THRESHOLD`].
    fn default() -> Self {
        Config {
            displacement_threshold: DEFAULT_THRESHOLD,
            buffer_threshold: DEFAULT_THRESHOLD,
            n_max: DEFAULT_N_MAX,
            max_holes: DEFAULT_MAX_HOLES,
            start: None,
        }
    }
}

/// Runs every metric over one stream.
///
/// Packets that continue the numbers are only counted; the metrics are told of the run when
/// it ends. A packet in order thus costs about a nanosecond whatever is measured.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// The number that continues the stream; no number while there is none.
    next: u64,
    /// What a stream that begins with a run begins with.
    start: u64,
    /// The run not yet told of.
    pending: u64,
    pending_bytes: u64,
    /// Its first packet, if that skipped numbers: `order` was told of it. Packets and bytes.
    skipping: u64,
    skipping_bytes: u64,
    order: Order,
    tally: Tally,
    occupancy: BufferDensity,
}

/// What [`Metrics::finish`] hands over.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Received, reordered, duplicates, missing.
    pub counts: OrderCounts,
    /// Reordering discontinuities and the gaps between them.
    pub gaps: Gaps,
    /// What is read as [`METRICS`](crate::METRICS).
    pub order: Reordering,
    /// Reorder buffer-occupancy density.
    pub occupancy: Occupancy,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new(Config::default())
    }
}

impl Metrics {
    /// No packets yet.
    pub fn new(config: Config) -> Self {
        let bt = config.buffer_threshold;
        let occupancy = config.start.map_or_else(
            || BufferDensity::new(bt),
            |start| BufferDensity::with_start(bt, start),
        );
        let start = config.start.unwrap_or(0);
        Metrics {
            next: u64::MAX,
            start: config.start.unwrap_or(1),
            pending: 0,
            pending_bytes: 0,
            skipping: 0,
            skipping_bytes: 0,
            order: Order::with_limits(config.max_holes, config.start),
            tally: Tally::with_runs(
                config.displacement_threshold,
                start,
                config.n_max,
                config.max_holes,
            ),
            occupancy,
        }
    }

    /// The next arrival: number (up to [`MAX_SEQ`]), time in nanoseconds, payload in bytes.
    #[inline]
    pub fn update(&mut self, seq: u64, time_ns: i64, bytes: u32) -> Arrival {
        if seq == self.next && seq <= MAX_SEQ {
            self.next += 1;
            self.pending += 1;
            self.pending_bytes = self.pending_bytes.saturating_add(u64::from(bytes));
            return Arrival::InOrder { skipped: 0 };
        }
        self.update_general(seq, time_ns, bytes)
    }

    /// `n` packets that follow the highest number so far, of together `bytes` bytes, in
    /// O(1). `time_ns` is when the first of them arrived; it matters only at the start of a
    /// stream, which then begins at the known start, or at 1. Numbers beyond [`MAX_SEQ`] are
    /// left out.
    #[inline]
    pub fn in_order_run(&mut self, n: u64, time_ns: i64, bytes: u64) {
        if n == 0 {
            return;
        }
        let (mut n, mut bytes) = (n, bytes);
        if self.next == u64::MAX {
            // The first packet alone, so that there is something to follow.
            let first_bytes = u32::try_from(bytes / n).unwrap_or(u32::MAX);
            self.update_general(self.start, time_ns, first_bytes);
            n -= 1;
            bytes -= u64::from(first_bytes);
        }
        let n = accepted(self.next, n);
        self.next += n;
        self.pending += n;
        self.pending_bytes = self.pending_bytes.saturating_add(bytes);
    }

    /// Tells the metrics of the run that ended.
    fn flush(&mut self) {
        let (n, bytes) = (self.pending, self.pending_bytes);
        if n == 0 {
            return;
        }
        let first = self.next - n;
        self.order
            .in_order_run(n - self.skipping, 0, bytes - self.skipping_bytes);
        self.tally.run(first, n, bytes);
        self.occupancy.update_run(first, n);
        (self.pending, self.pending_bytes) = (0, 0);
        (self.skipping, self.skipping_bytes) = (0, 0);
    }

    #[inline(never)]
    fn update_general(&mut self, seq: u64, time_ns: i64, bytes: u32) -> Arrival {
        self.flush();
        let arrival = self.order.update(seq, time_ns, bytes);
        self.tell(seq, bytes, &arrival);
        arrival
    }

    /// Tells the other metrics what `order` found.
    #[inline(never)]
    fn tell(&mut self, seq: u64, bytes: u32, arrival: &Arrival) {
        match arrival {
            Arrival::InOrder { .. } => {
                self.next = seq + 1;
                (self.pending, self.pending_bytes) = (1, bytes.into());
                (self.skipping, self.skipping_bytes) = (1, bytes.into());
                return;
            }
            Arrival::Reordered(late) => self.tally.late(seq, late),
            Arrival::Duplicate => self.tally.other(seq),
            Arrival::Unclassified => {
                self.tally.ambiguous();
                self.tally.other(seq);
            }
        }
        self.occupancy.update(seq);
    }

    /// Packets counted so far.
    pub fn counts(&mut self) -> OrderCounts {
        self.flush();
        *self.order.counts()
    }

    /// Ends the stream.
    pub fn finish(mut self) -> Summary {
        self.flush();
        let (counts, gaps) = self.order.finish();
        Summary {
            counts,
            gaps,
            order: self.tally.finish(),
            occupancy: self.occupancy.finish(),
        }
    }
}
