//! The run, and what is recorded.

use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Count, Duration, DurationOrOff, Flag, Share, Size32};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// Duration and number of repetitions.
    pub struct Run in "run", check Run::check {
        /// Simulated time of a run.
        duration_ns as "duration": Duration, default "10 s", above "0 s";
        /// Time from which measures count; at least 1 ns shorter than `duration`.
        warm_up_ns as "warm_up": Duration, default "0 s";
        /// Seed of all random streams; repetition n uses a seed derived from it and n.
        seed: Count, default "1";
        /// Runs of each cell.
        repetitions: Count, default "1", from "1";
        /// Confidence level of the intervals over repetitions (Student's t).
        confidence: Share, default "95 %", above "0 %", below "100 %";
    }
}

impl Run {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        require(
            self.warm_up_ns < self.duration_ns,
            r.place("warm_up"),
            "the run ends before its warm-up",
            "warm_up shorter than duration",
        )
    }
}

keys! {
    /// What is recorded in addition to the counters.
    pub struct Output in "output" {
        /// Interval at which window, threshold, throughput and other values of each flow are sampled.
        trace_interval_ns as "trace_interval": DurationOrOff, default "off", above "0 s";
        /// Records every change of the window, every retransmission with its delay, every round-trip time.
        events: Flag, default "false";
        /// Computes all metrics of RFC 4737 and RFC 5236 before and after the receiver's card, not only the share of
        /// reordered packets.
        metrics: Flag, default "false";
        /// Bytes kept of each packet in captures, including the IP header; less than 40 would cut headers.
        snap_bytes as "snap_length": Size32, default "128 B", from "40 B";
        /// Beside captures, a file NAME.pairs.csv says which frame of one end is which of the other, and what the receiver did with
        /// it.
        pairs: Flag, default "false";
        /// Beside captures, a file NAME.limits.csv says what limited each direction of each flow at each time, from the sender's own
        /// state and the queues of its path.
        limits: Flag, default "false";
    }
}
