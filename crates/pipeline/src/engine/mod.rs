//! Blocks in, packets to whoever wants them, on one thread or several.
//!
//! One thread reads, parses and consumes packet by packet. On several, work comes in two kinds:
//! *read and parse block k* (reading under a lock, parsing in any order) and *consume shard s of
//! some blocks* (in block order within a shard). Connections are spread over shards by hash, so
//! each consumer sees its connections' packets in file order whatever the number of threads, and
//! results do not depend on it.

#[cfg(feature = "threads")]
mod batch;
mod fragments;
#[cfg(feature = "threads")]
mod parallel;
mod serial;
mod sink;
mod tally;
#[cfg(all(test, feature = "files", feature = "threads"))]
mod tests;
mod tidy;

use std::sync::Arc;

use inorder_capture::{Block, CaptureError};

use crate::Watch;
use crate::source::{Input, Reader};

pub(crate) use serial::Serial;
pub use sink::Sink;
pub use tally::{Frames, Tally};

/// What came of reading a capture into sinks of one's own.
#[derive(Debug)]
#[non_exhaustive]
pub struct Consumed<S> {
    /// The sinks: one on one thread, otherwise one a shard. Together they were given every packet.
    pub sinks: Vec<S>,
    /// Counts over all frames.
    pub tally: Tally,
    /// Why reading ended before the end, if it did; everything before was consumed.
    pub error: Option<CaptureError>,
    /// Format of the first file, for people.
    pub format: String,
}

/// Reads `input` to its end, or until `watch` stops it, into sinks that `sink` makes.
///
/// This is the engine below [`Analyzer`](crate::Analyzer), for those who look for something else
/// in the packets. Fails only when the input cannot be opened. `threads` beyond the first need
/// the feature `threads`.
///
/// ```
/// use std::sync::Arc;
/// use inorder_pipeline::{Input, Sink, Unwatched, consume};
/// use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};
///
/// /// Counts bytes of TCP payload.
/// #[derive(Default)]
/// struct Payload(u64);
///
/// impl Sink for Payload {
///     fn tcp(&mut self, _: &FlowKey, _: Dir, segment: &Segment) {
///         self.0 += u64::from(segment.payload_len);
///     }
///     fn numbered(&mut self, _: StreamKey, _: &Numbered) {}
/// }
///
/// # #[cfg(feature = "files")] {
/// let trace = Input::file("../../testdata/captures/gro-jitter-a.rcv.pcap.gz");
/// let consumed = consume(trace, 2, Arc::new(Unwatched), Payload::default)?;
/// let bytes: u64 = consumed.sinks.iter().map(|sink| sink.0).sum();
/// assert!(bytes > 100_000 && consumed.error.is_none());
/// # }
/// # Ok::<(), inorder_capture::CaptureError>(())
/// ```
pub fn consume<S: Sink>(
    input: Input,
    threads: usize,
    watch: Arc<dyn Watch>,
    sink: impl Fn() -> S,
) -> Result<Consumed<S>, CaptureError> {
    let mut reader = Reader::open(input, watch)?;
    let (sinks, tally) = match threads {
        #[cfg(feature = "threads")]
        2.. => parallel::run(&mut reader, sink, threads),
        _ => {
            let mut serial = Serial::new(sink());
            let mut block = Block::default();
            while let Some(frames_before) = reader.read(&mut block) {
                serial.consume(&block, frames_before);
            }
            let (sink, tally) = serial.finish();
            (vec![sink], tally)
        }
    };
    Ok(Consumed {
        sinks,
        tally,
        format: reader.format(),
        error: reader.into_error(),
    })
}
