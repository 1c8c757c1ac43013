//! How much memory may be taken by what logs say.

use std::cell::Cell;
use std::io::{self, Read};

/// Bytes of memory for each byte of an event's text: an object with one member is 7 characters and takes a node with room for 11 members, 640 bytes,
/// beside half as much again while a list of them grows.
const BYTES_OF_TEXT: usize = 192;

/// What is left of the memory that logs may take. What was learnt from the events read so far is counted with what the report
/// will take; an event that does not fit ends the reading.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    most: usize,
    taken: usize,
}

impl Room {
    /// `memory` is for everything, bytes; `None` sets no limit.
    pub fn new(memory: Option<usize>) -> Room {
        Room {
            most: memory.unwrap_or(usize::MAX),
            taken: 0,
        }
    }

    /// True if what is known takes as much as is allowed: the reading of a log ended there.
    pub fn is_used_up(&self) -> bool {
        self.taken >= self.most
    }

    /// What took `before` bytes takes `now`.
    pub(crate) fn change(&mut self, before: usize, now: usize) {
        self.taken = self.taken.saturating_add(now).saturating_sub(before);
    }

    /// Longest text of an event, bytes.
    fn longest_event(&self) -> usize {
        self.most / BYTES_OF_TEXT
    }
}

/// The text of a log: record separators of RFC 7464 become spaces, and an event that is too long for the memory is an error.
pub(crate) struct Text<'a, R> {
    input: R,
    /// Bytes since the last event, which the reader of events sets back.
    since_event: &'a Cell<usize>,
    longest: usize,
}

impl<'a, R: Read> Text<'a, R> {
    pub(crate) fn new(input: R, since_event: &'a Cell<usize>, room: &Room) -> Self {
        Text {
            input,
            since_event,
            longest: room.longest_event(),
        }
    }
}

impl<R: Read> Read for Text<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const RECORD_SEPARATOR: u8 = 0x1e;
        let len = self.input.read(buffer)?;
        let since = self.since_event.get() + len;
        if since > self.longest {
            return Err(io::Error::other(format!(
                "more than {} bytes without an end of an event; expected less, or more memory (--memory)",
                self.longest
            )));
        }
        self.since_event.set(since);
        if let Some(read) = buffer.get_mut(..len) {
            read.iter_mut()
                .filter(|byte| **byte == RECORD_SEPARATOR)
                .for_each(|byte| *byte = b' ');
        }
        Ok(len)
    }
}
