//! The standard input, read so that waiting for it can be interrupted.
//!
//! There is no portable way to interrupt a blocking read. A thread of its own therefore reads, and the reader waits
//! for that thread only until the watch stops it.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::Watch;

/// Bytes read at once: the capacity of a Linux pipe.
const CHUNK: usize = 1 << 16;
/// Maximum number of chunks that wait to be consumed.
const CHUNKS: usize = 16;
/// How often the watch is asked whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The standard input; it ends when the watch stops it.
pub struct Stdin {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    at: usize,
    watch: Arc<dyn Watch>,
}

impl Stdin {
    /// Starts reading. What is read ahead is lost when the reader is dropped.
    pub fn new(watch: Arc<dyn Watch>) -> Self {
        let (sender, chunks) = sync_channel(CHUNKS);
        // The thread ends when the input ends, when the reader is dropped, or with the program.
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
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
        });
        Stdin {
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

impl Read for Stdin {
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
