//! Segments that come in order, which most do: a few additions each, and one booking for many.

use inorder_metrics::by_rate::same_interval;
use inorder_wire::Segment;

use super::{Arrival, NEVER_NS};
use crate::explanation::Explanation;

/// Segments that came in order last and are not booked yet: what most segments are takes a few
/// additions in one place, and one booking is for many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Where it goes on.
    pub(super) next: i64,
    /// Segments of one interval of the rate, which begins here, may join.
    interval_ns: i64,
    packets: u64,
    /// The longest segment that may join; 0 when none may.
    max_len: u32,
    /// Minimum pause after the previous segment, nanoseconds, behind which a segment may be a retransmission and does not join
    /// the run.
    pause_ns: i64,
}

/// Minimum pause that ends a run while no round trip is known, nanoseconds.
const PAUSE_WITHOUT_RTT_NS: i64 = 10_000_000;

impl Arrival {
    /// Takes the data of `seg`, first byte at `start`, if it is what the common case is: one
    /// full or short segment, the next in order. `mss` is the wire payload of a full segment.
    #[inline(always)]
    pub(crate) fn in_order(&mut self, seg: &Segment, start: i64, mss: u32) -> bool {
        let run = &mut self.run;
        let fits = seg.payload_len <= run.max_len.min(mss);
        let soon = seg.ts_ns - self.times.top_ns < run.pause_ns;
        if start != run.next
            || start >= self.edge
            || !fits
            || !soon
            || !same_interval(run.interval_ns, seg.ts_ns)
        {
            return self.begin_run(seg, start, mss, false);
        }
        run.next += i64::from(seg.payload_len);
        run.packets += 1;
        self.times.top_ns = seg.ts_ns;
        true
    }

    /// As [`Arrival::in_order`]; those that continue it form a run. `looked_at`: a pause before it has been looked into.
    #[inline(never)]
    pub(super) fn begin_run(
        &mut self,
        seg: &Segment,
        start: i64,
        mss: u32,
        looked_at: bool,
    ) -> bool {
        self.book_run();
        if !looked_at {
            self.note_overtaking(seg, start);
        }
        let outside = start >= self.edge;
        if !looked_at && self.is_announced(start) {
            return false;
        }
        if start != self.order.next() || seg.payload_len > mss || self.watchful || outside {
            return false;
        }
        let complete = self.order.holes().is_empty();
        let pause_ns = match self.times.pause_ns {
            _ if complete && !self.explanations.has(Explanation::SentOrder) => i64::MAX,
            0 if complete => PAUSE_WITHOUT_RTT_NS,
            known => known,
        };
        let paused = seg.ts_ns - self.times.top_ns >= pause_ns && self.times.top_ns != NEVER_NS;
        if paused && !(looked_at && complete) {
            return false; // Perhaps it repeats what was lost or is late behind the highest data seen.
        }
        self.times.top_ns = seg.ts_ns;
        self.collector.sent(seg.ts_ns, seg.payload_len);
        let label = self
            .order
            .append(1, u64::from(seg.payload_len), seg.payload_len);
        self.collector.in_order(label);
        if self.awaits_next() || !self.announced.is_empty() {
            return true;
        }
        self.run = Run {
            next: self.order.next(),
            interval_ns: self.collector.interval_ns(),
            max_len: self.order.mss(),
            pause_ns,
            ..Run::default()
        };
        true
    }

    /// Ends the run; to be called before anything looks at what it stands for.
    #[inline]
    pub(super) fn book_run(&mut self) {
        let Run { packets, next, .. } = std::mem::take(&mut self.run);
        if packets > 0 {
            let bytes = (next - self.order.next()) as u64;
            self.collector.sent_on(packets, bytes);
            let label = self.order.append(packets, bytes, 0);
            self.collector.in_order_run(label, packets);
        }
    }
}
