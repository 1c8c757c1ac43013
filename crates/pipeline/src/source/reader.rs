//! Reads blocks from one file, or from several files as if they were one.

use std::collections::VecDeque;
use std::sync::Arc;

use inorder_capture::{Block, Capture, CaptureError, Compression, FileInfo};

use super::input::{Input, Part};
use crate::Watch;

/// Reads blocks until the parts end, are damaged, or the watch stops reading.
pub(crate) struct Reader {
    /// Parts that are not opened yet, in reverse order.
    waiting: VecDeque<Part>,
    capture: Capture,
    watch: Arc<dyn Watch>,
    /// Frames delivered from earlier parts; added to the frame numbers of the current part.
    frames_before: u64,
    frames: u64,
    bytes_before: u64,
    format: String,
    ended: bool,
    error: Option<CaptureError>,
}

impl Reader {
    /// Opens the first part.
    pub(crate) fn open(input: Input, watch: Arc<dyn Watch>) -> Result<Self, CaptureError> {
        let mut waiting = input.parts;
        let nothing = || Part::Reader("nothing".to_owned(), Box::new(std::io::empty()));
        let first = waiting.pop_front().unwrap_or_else(nothing);
        let capture = open(first, &watch)?;
        Ok(Reader {
            waiting,
            format: describe(capture.info()),
            capture,
            watch,
            frames_before: 0,
            frames: 0,
            bytes_before: 0,
            ended: false,
            error: None,
        })
    }

    /// Reads the next block. Returns the number to add to its frame numbers, or `None` at the end.
    pub(crate) fn read(&mut self, block: &mut Block) -> Option<u64> {
        while !self.ended && !self.watch.stop() {
            let result = self.capture.read_block(block);
            self.watch
                .progress(self.bytes_before + self.capture.bytes_read(), self.total());
            let more = match result {
                Ok(more) => more,
                Err(error) => {
                    // An input that the user stopped in the middle of a record is not damaged.
                    self.error = Some(error).filter(|_| !self.watch.stop());
                    self.ended = true;
                    false
                }
            };
            let before = self.frames_before;
            self.frames += block.len() as u64;
            if !more && !self.ended {
                self.next_part();
            }
            if !block.is_empty() {
                return Some(before);
            }
        }
        None
    }

    fn next_part(&mut self) {
        self.bytes_before += self.capture.bytes_read();
        self.frames_before = self.frames;
        let Some(part) = self.waiting.pop_front() else {
            self.ended = true;
            return;
        };
        match open(part, &self.watch) {
            Ok(capture) => self.capture = capture,
            Err(error) => {
                self.error = Some(error);
                self.ended = true;
            }
        }
    }

    /// Bytes of all parts, if known.
    fn total(&self) -> Option<u64> {
        let mut total = self.bytes_before.checked_add(self.capture.total_bytes()?)?;
        for part in &self.waiting {
            total = total.checked_add(length(part)?)?;
        }
        Some(total)
    }

    /// Format of the first part, as text for people.
    pub(crate) fn format(&self) -> String {
        self.format.clone()
    }

    /// Why reading ended early, if it did.
    pub(crate) fn into_error(self) -> Option<CaptureError> {
        self.error
    }
}

fn open(part: Part, watch: &Arc<dyn Watch>) -> Result<Capture, CaptureError> {
    match part {
        Part::File(path) => super::pipe::open(&path, watch),
        Part::Reader(name, reader) => Capture::from_reader(&name, reader),
    }
}

/// Size of a part in bytes, if the system knows it.
fn length(part: &Part) -> Option<u64> {
    match part {
        Part::File(path) => Some(std::fs::metadata(path).ok()?.len()),
        Part::Reader(..) => None,
    }
}

/// Format and compression, as text for people.
fn describe(info: &FileInfo) -> String {
    match info.compression {
        Compression::Plain => info.format.to_string(),
        packed => format!("{} in {packed}", info.format),
    }
}
