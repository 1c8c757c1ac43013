//! The standard input and named pipes, read so that waiting for them can be interrupted.
//!
//! There is no portable way to interrupt a blocking read, nor the opening of a named pipe into which nobody writes yet. A thread
//! of its own therefore opens and reads, and the reader waits for that thread only until the watch stops it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use inorder_capture::{Capture, CaptureError};

use crate::Watch;

/// Bytes read at once: the capacity of a Linux pipe.
const CHUNK: usize = 1 << 16;
/// Maximum number of chunks that wait to be consumed.
const CHUNKS: usize = 16;
/// How often the watch is asked whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// What may have nothing to read for any time; it ends when the watch stops it.
pub struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    at: usize,
    watch: Arc<dyn Watch>,
}

impl Pipe {
    /// Starts reading the standard input. What is read ahead is lost when the reader is dropped.
    pub fn stdin(watch: Arc<dyn Watch>) -> Self {
        Pipe::of(watch, || Ok(io::stdin().lock()))
    }

    /// Starts opening and reading a file. If it cannot be opened, the first read says why.
    pub fn file(path: &Path, watch: Arc<dyn Watch>) -> Self {
        let path = path.to_owned();
        Pipe::of(watch, || File::open(path))
    }

    fn of<R: Read>(
        watch: Arc<dyn Watch>,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> Self {
        let (sender, chunks) = sync_channel(CHUNKS);
        // The thread ends when the input ends, when the reader is dropped, or with the program.
        std::thread::spawn(move || match open() {
            Ok(input) => send(input, &sender),
            // Nobody waits any more if this fails.
            Err(error) => drop(sender.send(Err(error))),
        });
        Pipe {
            chunks,
            current: Vec::new(),
            at: 0,
            watch,
        }
    }

    /// Waits for the next chunk; false at the end.
    fn next(&mut self) -> io::Result<bool> {
        while !self.watch.stop() {
            match self.chunks.recv_timeout(LOOK) {
                Ok(chunk) => {
                    self.current = chunk?;
                    self.at = 0;
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// Reads until the end, an error, or until nobody takes the chunks any more.
fn send(mut input: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let result = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                chunk.truncate(length);
                Ok(chunk)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = result.is_err();
        if sender.send(result).is_err() || last {
            return;
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.current.len() && !self.next()? {
            return Ok(0);
        }
        let rest = self.current.get(self.at..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.at += length;
        Ok(length)
    }
}

/// Opens a capture: a file, a named pipe, or with `-` the standard input. Whatever is waited for, the watch ends the waiting.
///
/// # Errors
/// The file cannot be read or is no capture, or the watch stopped the reading before there was enough to tell: then the system's error
/// is [`ErrorKind::Interrupted`].
pub fn open(path: &Path, watch: &Arc<dyn Watch>) -> Result<Capture, CaptureError> {
    let (name, reader) = match path.as_os_str() == "-" {
        true => ("standard input".to_owned(), Pipe::stdin(Arc::clone(watch))),
        false if is_pipe(path) => {
            let name = path.display().to_string();
            (name, Pipe::file(path, Arc::clone(watch)))
        }
        false => return Capture::open(path),
    };
    let opened = Capture::from_reader(&name, Box::new(reader));
    opened.map_err(|error| match watch.stop() {
        true => CaptureError::Io {
            name,
            offset: 0,
            source: io::Error::new(ErrorKind::Interrupted, "interrupted while waiting for it"),
        },
        false => error,
    })
}

/// True of what can be read only once: a pipe, a terminal.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|about| !about.is_file() && !about.is_dir())
}
