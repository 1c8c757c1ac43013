//! The run, and what is recorded of it.

use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Count, Duration, DurationOrOff, Flag, Share, Size32};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// How long a run lasts, and how often it is repeated.
    pub struct Run in "run", check Run::check {
        /// Simulated time of a run.
        duration_ns as "duration": Duration, default "10 s", above "0 s";
        /// Measures count from here on; at least 1 ns shorter than `duration`.
        warm_up_ns as "warm_up": Duration, default "0 s";
        /// Seed of all random streams; repetition n runs with a seed derived from it and n.
        seed: Count, default "1";
        /// Runs of each cell.
        repetitions: Count, default "1", from "1";
        /// Confidence of the intervals over repetitions (Student's t).
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
    /// What is recorded beside the counters.
    pub struct Output in "output" {
        /// How often window, threshold, throughput and more of each flow are sampled.
        trace_interval_ns as "trace_interval": DurationOrOff, default "off", above "0 s";
        /// Records every change of the window, every retransmission with its delay, every round-trip time.
        events: Flag, default "false";
        /// Computes all metrics of RFC 4737 and RFC 5236 before and after the receiver's card, not only the share reordered.
        metrics: Flag, default "false";
        /// Bytes kept of each packet in captures, from the IP header on; less than 40 would cut off headers.
        snap_bytes as "snap_length": Size32, default "128 B", from "40 B";
    }
}
