//! A capture whose bytes are pushed piece by piece.

use std::sync::Arc;

use inorder_capture::{Block, CaptureError, PushCapture};

use crate::detector::{Detector, Detectors};
use crate::engine::Serial;
use crate::source::describe;
use crate::{Analysis, Error, Selection, Watch};

/// Bytes taken at a time, about the size of a block, so that few bytes are in memory twice.
const PIECE: usize = 1 << 18;

/// An analysis that is handed its capture piece by piece; made by
/// [`Analyzer::push`](crate::Analyzer::push).
///
/// Everything happens on the caller's thread and nothing waits, so it runs without threads and files, for example in
/// a browser. The analysis is the same as for a file with the same bytes, for any size of the pieces.
///
/// ```
/// use inorder_pipeline::Analyzer;
/// # let bytes = std::fs::read("../../testdata/captures/gro-jitter-a.rcv.pcap.gz").unwrap();
///
/// let mut upload = Analyzer::new().push("upload.pcap.gz");
/// for piece in bytes.chunks(1_500) {
///     if !upload.push(piece) {
///         break; // Damaged: what follows would not be read.
///     }
/// }
/// let analysis = upload.finish()?;
/// assert_eq!(analysis.file, "upload.pcap.gz");
/// # Ok::<(), inorder_pipeline::Error>(())
/// ```
pub struct Push {
    name: String,
    capture: PushCapture,
    block: Block,
    serial: Serial<Detector>,
    detectors: Detectors,
    watch: Arc<dyn Watch>,
    bytes: u64,
    error: Option<CaptureError>,
}

impl std::fmt::Debug for Push {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Push")
            .field("name", &self.name)
            .field("bytes", &self.bytes)
            .field("frames", &self.frames())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl Push {
    pub(crate) fn new(
        name: String,
        detectors: Detectors,
        selection: Selection,
        watch: Arc<dyn Watch>,
    ) -> Self {
        Push {
            capture: PushCapture::new(&name),
            name,
            block: Block::default(),
            serial: Serial::new(detectors.make(), selection),
            detectors,
            watch,
            bytes: 0,
            error: None,
        }
    }

    /// Takes the next bytes of the capture. Returns false if further bytes would be ignored, because the capture is
    /// damaged or not a capture at all ([`Push::finish`] returns the error), or because the watch stopped it.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        for piece in bytes.chunks(PIECE) {
            if self.ended() {
                break;
            }
            self.bytes += piece.len() as u64;
            self.capture.push(piece);
            self.drain();
            self.watch.progress(self.bytes, None);
        }
        !self.ended()
    }

    /// Frames analysed so far.
    pub fn frames(&self) -> u64 {
        self.serial.frames()
    }

    /// Ends the capture and returns the analysis of everything that was pushed.
    pub fn finish(mut self) -> Result<Analysis, Error> {
        if !self.ended() {
            self.capture.close();
            self.drain();
        }
        let stopped = self.watch.stop();
        let format = match (self.capture.info(), self.error.take()) {
            (None, Some(error)) => return Err(Error::Open(error)),
            (None, None) => String::new(),
            (Some(info), error) => {
                self.error = error;
                describe(info)
            }
        };
        let (sink, mut tally) = self.serial.finish();
        tally.unproved(sink.gate());
        let mut analysis = Analysis::of(self.name, format, &tally);
        self.detectors.finish(vec![sink], &mut analysis);
        Error::unless_whole(analysis, self.error, stopped)
    }

    fn ended(&self) -> bool {
        self.error.is_some() || self.watch.stop()
    }

    /// Analyses the complete blocks.
    fn drain(&mut self) {
        let mut more = true;
        while more && !self.watch.stop() {
            more = match self.capture.read_block(&mut self.block) {
                Ok(true) => true,
                Ok(false) => return,
                Err(error) => {
                    self.error = Some(error);
                    false
                }
            };
            self.serial.consume(&self.block, 0);
        }
    }
}
