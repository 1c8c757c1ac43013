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
    /// Largest n of n-reordering that is counted; larger ones are counted there.
    pub n_max: usize,
    /// Number of holes remembered: how far back, in discontinuities, a late packet is recognised.
    pub max_holes: usize,
    /// Number of the first packet sent, if known; smaller numbers are ignored.
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

/// Computes every metric of one stream.
///
/// Packets that continue the numbers are only counted, and the metrics receive the run when it ends. A packet in
/// order thus costs about a nanosecond for any number of metrics.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// The number that continues the stream, or a value that no number equals.
    next: u64,
    /// First number of a stream that begins with a run.
    start: u64,
    /// The run that the metrics have not received yet.
    pending: u64,
    pending_bytes: u64,
    /// Packets and bytes of the first packet of the run if it skipped numbers: `order` has received it already.
    skipping: u64,
    skipping_bytes: u64,
    order: Order,
    tally: Tally,
    occupancy: BufferDensity,
}

inorder_base::heap!(Metrics: order, tally, occupancy);

/// The result of [`Metrics::finish`].
#[derive(Clone, Debug)]
pub struct Summary {
    /// Received, reordered, duplicates, missing.
    pub counts: OrderCounts,
    /// Reordering discontinuities and the gaps between them.
    pub gaps: Gaps,
    /// The values of [`METRICS`](crate::METRICS).
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

    /// Counts the next arrival: number (up to [`MAX_SEQ`]), time in nanoseconds, payload in bytes.
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

    /// Notes that a retransmission of `seq`, which is below the highest number, arrived: true if that number was missing.
    /// It enters no metric (RFC 4737 section 6.1 leaves retransmissions out), but the number is no longer missing.
    pub fn retransmitted(&mut self, seq: u64) -> bool {
        self.flush();
        self.order.retransmitted(seq)
    }

    /// Counts `n` packets that follow the highest number so far, `bytes` bytes in total, in O(1). `time_ns` is the
    /// arrival time of the first of them. It only matters at the start of a stream, which then begins at the known
    /// start, or at 1. Numbers beyond [`MAX_SEQ`] are left out.
    #[inline]
    pub fn in_order_run(&mut self, n: u64, time_ns: i64, bytes: u64) {
        if n == 0 {
            return;
        }
        let (mut n, mut bytes) = (n, bytes);
        if self.next == u64::MAX {
            // The first packet is counted alone, so that the rest has a predecessor.
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

    /// Passes the finished run to the metrics.
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

    /// Passes the classification by `order` to the other metrics.
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

    /// What has been counted so far.
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
