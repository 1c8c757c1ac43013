//! A capture that comes in pieces.

use std::sync::Arc;

use inorder_capture::{Block, CaptureError, PushCapture};

use crate::detector::{self, Detector};
use crate::engine::Serial;
use crate::source::describe;
use crate::{Analysis, Error, Watch};

/// Bytes taken at a time, so that little is in memory twice: about what a block holds.
const PIECE: usize = 1 << 18;

/// An analysis that is handed its capture piece by piece; made by
/// [`Analyzer::push`](crate::Analyzer::push).
///
/// Everything happens on the caller's thread, and nothing is waited for, so that it runs where
/// there are neither threads nor files: in a browser, for one. The analysis is the one of the
/// same bytes in a file, however they are cut into pieces.
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
    pub(crate) fn new(name: String, detector: Detector, watch: Arc<dyn Watch>) -> Self {
        Push {
            capture: PushCapture::new(&name),
            name,
            block: Block::default(),
            serial: Serial::new(detector),
            watch,
            bytes: 0,
            error: None,
        }
    }

    /// The next bytes of the capture; false when no more are of use, because the capture is
    /// damaged or none at all ([`Push::finish`] says why), or because the watch stopped it.
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

    /// The analysis of all that was pushed.
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
        let (sink, tally) = self.serial.finish();
        let mut analysis = Analysis::of(self.name, format, &tally);
        detector::finish(vec![sink], &mut analysis);
        Error::unless_whole(analysis, self.error, stopped)
    }

    fn ended(&self) -> bool {
        self.error.is_some() || self.watch.stop()
    }

    /// Analyses the blocks that are whole.
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
