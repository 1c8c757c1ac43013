//! Block after block out of one file, or out of several as if they were one.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inorder_capture::{Block, Capture, CaptureError, Compression};

use super::stdin::Stdin;
use super::stopped;

/// Told how far reading is.
pub trait Progress: Sync {
    /// `read` of `total` bytes of all files are read; `total` is `None` for a pipe.
    fn at(&self, read: u64, total: Option<u64>);
}

/// Reads blocks until the files end, are damaged, or the user stops.
pub struct Reader<'a> {
    /// Files not opened yet, the next one last.
    waiting: Vec<PathBuf>,
    capture: Capture,
    stop: &'static AtomicBool,
    progress: &'a dyn Progress,
    /// Frames delivered from earlier files; numbers go on counting.
    frames_before: u64,
    frames: u64,
    bytes_before: u64,
    format: String,
    ended: bool,
    error: Option<CaptureError>,
}

impl<'a> Reader<'a> {
    /// Opens the first of `files`.
    pub fn open(
        files: &[PathBuf],
        stop: &'static AtomicBool,
        progress: &'a dyn Progress,
    ) -> Result<Self, CaptureError> {
        let mut waiting: Vec<PathBuf> = files.iter().rev().cloned().collect();
        let capture = open(&waiting.pop().unwrap_or_else(|| "-".into()), stop)?;
        Ok(Reader {
            waiting,
            format: describe(&capture),
            capture,
            stop,
            progress,
            frames_before: 0,
            frames: 0,
            bytes_before: 0,
            ended: false,
            error: None,
        })
    }

    /// Reads the next block and what to add to its frame numbers; `None` when there is no more.
    pub fn read(&mut self, block: &mut Block) -> Option<u64> {
        while !self.ended && !stopped(self.stop) {
            let result = self.capture.read_block(block);
            self.progress
                .at(self.bytes_before + self.capture.bytes_read(), self.total());
            let more = match result {
                Ok(more) => more,
                Err(error) => {
                    // Stopped in the middle of a record, the input is not damaged.
                    self.error = Some(error).filter(|_| !stopped(self.stop));
                    self.ended = true;
                    false
                }
            };
            let before = self.frames_before;
            self.frames += block.len() as u64;
            if !more && !self.ended {
                self.next_file();
            }
            if !block.is_empty() {
                return Some(before);
            }
        }
        None
    }

    fn next_file(&mut self) {
        self.bytes_before += self.capture.bytes_read();
        self.frames_before = self.frames;
        let Some(path) = self.waiting.pop() else {
            self.ended = true;
            return;
        };
        match open(&path, self.stop) {
            Ok(capture) => self.capture = capture,
            Err(error) => {
                self.error = Some(error);
                self.ended = true;
            }
        }
    }

    /// Bytes of all files, as far as known.
    fn total(&self) -> Option<u64> {
        let mut total = self.bytes_before.checked_add(self.capture.total_bytes()?)?;
        for path in &self.waiting {
            total = total.checked_add(std::fs::metadata(path).ok()?.len())?;
        }
        Some(total)
    }

    /// Format of the first file, for people.
    pub fn format(&self) -> String {
        self.format.clone()
    }

    /// Why reading ended before the end.
    pub fn into_error(self) -> Option<CaptureError> {
        self.error
    }
}

fn open(path: &Path, stop: &'static AtomicBool) -> Result<Capture, CaptureError> {
    if path.as_os_str() == "-" {
        return Capture::from_reader("standard input", Box::new(Stdin::new(stop)));
    }
    Capture::open(path)
}

fn describe(capture: &Capture) -> String {
    let info = capture.info();
    match info.compression {
        Compression::Plain => info.format.to_string(),
        packed => format!("{} in {packed}", info.format),
    }
}
