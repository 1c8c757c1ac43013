//! Reads blocks and delivers packets to sinks, on one thread or several.
//!
//! One thread reads, parses and consumes packet by packet. With several threads there are two kinds of tasks: *read
//! and parse block k* (reading needs a lock, parsing happens in any order) and *consume shard s of some blocks* (in
//! block order within a shard). Connections are assigned to shards by hash, so each sink receives the packets of its
//! connections in file order, and results do not depend on the number of threads.

mod batch;
mod fragments;
mod parallel;
mod place;
mod serial;
mod sink;
mod tally;
#[cfg(test)]
mod tests;
mod tidy;

use std::sync::Arc;

use inorder_capture::{Block, CaptureError};

use crate::source::{Input, Reader};
use crate::{Selection, Watch};
use serial::Serial;

pub use sink::Sink;
pub use tally::{Frames, Tally};

/// The result of reading a capture into sinks.
#[derive(Debug)]
#[non_exhaustive]
pub struct Consumed<S> {
    /// The sinks: a single one if there is one thread, otherwise one for each shard. Together they received every
    /// packet.
    pub sinks: Vec<S>,
    /// Counts over all frames.
    pub tally: Tally,
    /// Why reading ended before the end of the input, if it did; everything before that was consumed.
    pub error: Option<CaptureError>,
    /// Format of the first file, as text for people.
    pub format: String,
}

/// Reads `input` to its end, or until `watch` stops it, into sinks that `sink` makes.
///
/// Packets that `selection` leaves out are only counted.
///
/// This is the engine below [`Analyzer`](crate::Analyzer), for programs that want something else than reports of
/// flows. It fails only if the input cannot be opened.
///
/// ```
/// use std::sync::Arc;
/// use inorder_pipeline::{Input, Selection, Sink, Unwatched, consume};
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
/// let trace = Input::file("../../testdata/captures/gro-jitter-a.rcv.pcap.gz");
/// let everything = Selection::default();
/// let consumed = consume(trace, &everything, 2, Arc::new(Unwatched), Payload::default)?;
/// let bytes: u64 = consumed.sinks.iter().map(|sink| sink.0).sum();
/// assert!(bytes > 100_000 && consumed.error.is_none());
/// # Ok::<(), inorder_capture::CaptureError>(())
/// ```
pub fn consume<S: Sink>(
    input: Input,
    selection: &Selection,
    threads: usize,
    watch: Arc<dyn Watch>,
    sink: impl Fn() -> S,
) -> Result<Consumed<S>, CaptureError> {
    let mut reader = Reader::open(input, watch)?;
    let (sinks, tally) = match threads {
        2.. => parallel::run(&mut reader, selection, sink, threads),
        _ => {
            let mut serial = Serial::new(sink(), selection.clone());
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
