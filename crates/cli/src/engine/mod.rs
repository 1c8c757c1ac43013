//! Captures in, packets to whoever wants them, on one thread or several.
//!
//! One thread reads, parses and consumes packet by packet. On several, work comes in two kinds:
//! *read and parse block k* (reading under a lock, parsing in any order) and *consume shard s of
//! some blocks* (in block order within a shard). Connections are spread over shards by hash, so
//! each consumer sees its connections' packets in file order whatever the number of threads, and
//! results do not depend on it.

mod batch;
mod fragments;
mod parallel;
mod reader;
mod serial;
mod stdin;
mod tally;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use fragments::Reassembling;
use inorder_capture::CaptureError;
use inorder_wire::{Dir, FlowKey, Numbered, Other, Packet, Segment, StreamKey};

pub use reader::{Progress, Reader};
pub use tally::Tally;

/// Shards that TCP connections are spread over; one more takes all other packets.
pub const TCP_SHARDS: usize = 8;
/// The shard of numbered packets other than TCP.
pub const NUMBERED_SHARD: usize = TCP_SHARDS;
/// All shards.
pub const SHARDS: usize = TCP_SHARDS + 1;

/// Takes the packets of one shard, in the order of the capture.
pub trait Sink: Send {
    /// A TCP segment.
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment);
    /// A packet of another numbered service.
    fn numbered(&mut self, key: StreamKey, packet: &Numbered);
    /// A fragment of a TCP segment; `shard` is this sink's, `None` if there is only one.
    fn fragment(&mut self, _packet: &Packet, _shard: Option<usize>) {}
    /// A moment to drop what is over, the same in every shard: the next packets come from a
    /// block that begins at `now_ns`.
    fn tidy_up(&mut self, _now_ns: i64) {}
}

/// What came of reading.
pub struct Done<S> {
    /// One consumer a shard, all packets seen; only one of one thread.
    pub sinks: Vec<S>,
    /// Counts over all frames.
    pub tally: Tally,
    /// Why reading ended before the end, if it did; everything before was consumed.
    pub error: Option<CaptureError>,
    /// Format of the first file.
    pub format: String,
}

/// Reads `files`, as one capture, to the end, or until `stop` is set.
///
/// `sink` makes the consumer of a shard. Fails only when the first file cannot be opened.
pub fn run<S: Sink>(
    files: &[PathBuf],
    threads: usize,
    stop: &'static AtomicBool,
    progress: &dyn Progress,
    sink: impl Fn() -> S,
) -> Result<Done<S>, CaptureError> {
    let mut reader = Reader::open(files, stop, progress)?;
    let sink = || Reassembling::new(sink());
    let mut sinks: Vec<Reassembling<S>> = match threads {
        0 | 1 => vec![sink()],
        _ => (0..SHARDS).map(|_| sink()).collect(),
    };
    let mut tally = match sinks.as_mut_slice() {
        [sink] => serial::run(&mut reader, sink),
        sinks => parallel::run(&mut reader, sinks, threads),
    };
    // Every shard's table is the same.
    let unused = sinks.first().map_or(0, Reassembling::unused_frames);
    tally.skip_more(Other::Fragment, unused);
    Ok(Done {
        sinks: sinks.into_iter().map(Reassembling::into_sink).collect(),
        tally,
        format: reader.format(),
        error: reader.into_error(),
    })
}

/// The shard of a connection.
#[inline]
pub fn shard_of(key: &FlowKey) -> usize {
    // The consumer looks connections up by the highest bits; these are others.
    (key.rough_hash() >> 40) as usize % TCP_SHARDS
}

/// True when the user asked to stop.
fn stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
