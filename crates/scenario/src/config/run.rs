//! The run, its outputs, and network cards.

use crate::error::Problem;
use crate::quantity::{
    count, duration, duration_or_off, flag, packets, require, share, small_size,
};
use crate::reader::Reader;

/// How long a run lasts, and how often it is repeated.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Simulated time, nanoseconds.
    pub duration_ns: i64,
    /// Measures count from here on, nanoseconds.
    pub warm_up_ns: i64,
    /// Of all random streams.
    pub seed: u64,
    /// Runs of each cell.
    pub repetitions: u64,
    /// Of intervals, 0 to 1.
    pub confidence: f64,
}

impl Run {
    pub(crate) fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        let run = Run {
            duration_ns: r.get("duration", duration)?,
            warm_up_ns: r.get("warm_up", duration)?,
            seed: r.get("seed", count)?,
            repetitions: r.get("repetitions", count)?,
            confidence: r.get("confidence", share)?,
        };
        let shorter = run.warm_up_ns < run.duration_ns;
        let what = "the run ends before its warm-up";
        require(
            shorter,
            r.place("warm_up"),
            what,
            "warm_up shorter than duration",
        )?;
        let repeated = run.repetitions > 0;
        require(
            repeated,
            r.place("repetitions"),
            "no run at all",
            "1 repetition or more",
        )?;
        let inside = run.confidence > 0.0 && run.confidence < 1.0;
        require(
            inside,
            r.place("confidence"),
            "an impossible confidence",
            "as \"95 %\"",
        )?;
        Ok(run)
    }
}

/// What is recorded beside the counters.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// From one sample to the next, nanoseconds; `None`: no samples.
    pub trace_interval_ns: Option<i64>,
    /// Record every event of the senders.
    pub events: bool,
    /// Compute all reordering metrics.
    pub metrics: bool,
    /// Bytes kept of each packet in captures, from the IP header on.
    pub snap_bytes: u32,
}

impl Output {
    pub(crate) fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        let output = Output {
            trace_interval_ns: r.get("trace_interval", duration_or_off)?,
            events: r.get("events", flag)?,
            metrics: r.get("metrics", flag)?,
            snap_bytes: r.get("snap_length", small_size)?,
        };
        let some = output.trace_interval_ns != Some(0);
        require(
            some,
            r.place("trace_interval"),
            "endless samples",
            "a longer interval, or \"off\"",
        )?;
        let headers = output.snap_bytes >= 40;
        let expected = "at least 40 B, the headers";
        require(
            headers,
            r.place("snap_length"),
            "headers are cut off",
            expected,
        )?;
        Ok(output)
    }
}

/// A network card.
#[derive(Clone, PartialEq, Debug)]
pub struct Card {
    /// From the first packet to the interrupt, nanoseconds.
    pub coalesce_ns: i64,
    /// So many packets raise it at once.
    pub coalesce_packets: Option<u64>,
    /// From one interrupt to the next at least, nanoseconds.
    pub coalesce_gap_ns: i64,
    /// Packets the ring holds.
    pub ring_packets: u64,
    /// Of the softirq for a packet, nanoseconds.
    pub packet_ns: i64,
    /// Sorting adds so much, nanoseconds.
    pub sorter_ns: i64,
    /// Block size of SRPIC, packets; `None`: nothing is sorted.
    pub srpic_block: Option<u64>,
    /// The paper's listing to the letter.
    pub literal: bool,
    /// Merged segments are at most so many bytes and packets; `None`: nothing is merged.
    pub merge: Option<(u32, u64)>,
}

impl Card {
    pub(crate) fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        let block = r.get("block_size", packets)?;
        let limits = (
            r.get("merge_limit", small_size)?,
            r.get("merge_packets", packets)?,
        );
        let card = Card {
            coalesce_ns: r.get("coalesce", duration)?,
            coalesce_packets: r.maybe("coalesce_packets", packets)?,
            coalesce_gap_ns: r.get("coalesce_gap", duration)?,
            ring_packets: r.get("ring", packets)?,
            packet_ns: r.get("packet_time", duration)?,
            sorter_ns: r.get("sorter_time", duration)?,
            srpic_block: (r.choice("sorter")? == 1).then_some(block),
            literal: r.get("literal", flag)?,
            merge: r.get("merge", flag)?.then_some(limits),
        };
        let ring = (1..=1 << 20).contains(&card.ring_packets);
        require(
            ring,
            r.place("ring"),
            "an impossible ring",
            "1 to 1048576 packets",
        )?;
        let fits = (1..=card.ring_packets).contains(&block);
        require(
            fits,
            r.place("block_size"),
            "an impossible block",
            "1 packet up to the ring",
        )?;
        Ok(card)
    }
}
