//! A capture whose bytes are pushed, for programs that cannot wait for input, such as a page in a browser or an event
//! loop.

use crate::block::Block;
use crate::error::CaptureError;
use crate::info::FileInfo;
use crate::reader::{Capture, Opening, Step};
use crate::source::MAGIC_LEN;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads captures of any format, compressed or not, that are pushed in pieces of any size.
///
/// The blocks are the same as those that [`Capture`] reads from a file with the same bytes, for any size of the
/// pieces.
///
/// ```
/// # fn main() -> Result<(), inorder_capture::CaptureError> {
/// # use inorder_capture::{Block, PushCapture};
/// # let bytes: &'static [u8] = &[
/// #     0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 96, 0, 0, 0, 101, 0, 0, 0,
/// #     1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0, 0x45,
/// # ];
/// let mut capture = PushCapture::new("example");
/// let mut block = Block::default();
/// let mut frames = 0;
/// for piece in bytes.chunks(10) {
///     capture.push(piece);
///     while capture.read_block(&mut block)? {
///         frames += block.len();
///     }
/// }
/// capture.close();
/// while capture.read_block(&mut block)? {
///     frames += block.len();
/// }
/// assert_eq!(frames, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PushCapture {
    name: String,
    queue: Arc<Mutex<Queue>>,
    state: State,
}

/// Bytes that were pushed and are not read yet.
#[derive(Default, Debug)]
struct Queue {
    bytes: VecDeque<u8>,
    /// No more bytes will be pushed.
    closed: bool,
}

enum State {
    /// Too few bytes to recognise the compression.
    New,
    /// Too few bytes for the file header.
    Opening(Box<Opening>),
    Open(Box<Capture>),
    /// Not a capture; the caller has received the error.
    Refused,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::New => "New",
            State::Opening(_) => "Opening",
            State::Open(_) => "Open",
            State::Refused => "Refused",
        })
    }
}

impl PushCapture {
    /// Starts without bytes; `name` is used in messages.
    pub fn new(name: &str) -> Self {
        PushCapture {
            name: name.to_owned(),
            queue: Arc::default(),
            state: State::New,
        }
    }

    /// Adds the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        lock(&self.queue).bytes.extend(bytes);
    }

    /// Ends the input; an incomplete record at the end is then damage.
    pub fn close(&mut self) {
        lock(&self.queue).closed = true;
    }

    /// Fills `block` with the next frames. Returns `Ok(false)` if more bytes are needed first, or, after
    /// [`PushCapture::close`], at the end. Until it returns `Ok(true)`, `block` is partly filled: pass the same block
    /// to the next call.
    ///
    /// After an error, `block` contains the frames before it, and every further call
    /// returns `Ok(false)`.
    pub fn read_block(&mut self, block: &mut Block) -> Result<bool, CaptureError> {
        loop {
            let next = match &mut self.state {
                State::New if !is_compression_known(&self.queue) => return Ok(false),
                State::New => {
                    let reader = Box::new(Tap(Arc::clone(&self.queue)));
                    Opening::new(&self.name, reader).map(|o| State::Opening(Box::new(o)))
                }
                State::Opening(opening) => match opening.go_on() {
                    Ok(None) => return Ok(false),
                    Ok(Some(capture)) => Ok(State::Open(Box::new(capture))),
                    Err(error) => Err(error),
                },
                State::Open(capture) => return Ok(capture.advance(block)? == Step::Frames),
                State::Refused => {
                    *block = Block::default();
                    return Ok(false);
                }
            };
            match next {
                Ok(state) => self.state = state,
                Err(error) => {
                    *block = Block::default();
                    self.state = State::Refused;
                    return Err(error);
                }
            }
        }
    }

    /// Bytes read so far, counted as pushed (compressed); the remaining bytes are queued.
    pub fn bytes_read(&self) -> u64 {
        match &self.state {
            State::Open(capture) => capture.bytes_read(),
            _ => 0,
        }
    }

    /// The information in the file's headers, once they have been read.
    pub fn info(&self) -> Option<&FileInfo> {
        match &self.state {
            State::Open(capture) => Some(capture.info()),
            _ => None,
        }
    }
}

fn is_compression_known(queue: &Mutex<Queue>) -> bool {
    let queue = lock(queue);
    queue.closed || queue.bytes.len() >= MAGIC_LEN
}

/// The reading end of the queue.
struct Tap(Arc<Mutex<Queue>>);

impl Read for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut queue = lock(&self.0);
        if queue.bytes.is_empty() && !queue.closed {
            return Err(ErrorKind::WouldBlock.into());
        }
        queue.bytes.read(buffer)
    }
}

/// No code panics while the queue is locked, and even then the queue would be consistent: a poisoned lock can be
/// used.
fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
