//! The zero-copy sends of a socket.
//!
//! With `SO_ZEROCOPY` each send with `MSG_ZEROCOPY` gets the next number, and when all of its bytes are acknowledged, the
//! error queue tells so; consecutive numbers that nobody has read yet become one range (Linux
//! `Documentation/networking/msg_zerocopy.rst`).

use std::collections::VecDeque;

/// The zero-copy sends of a socket.
#[derive(Debug, Clone, Default)]
pub(super) struct ZeroCopy {
    /// `SO_ZEROCOPY`.
    pub(super) on: bool,
    /// Number of the next send.
    next: i64,
    /// Sends that are not acknowledged: where each one ends in the stream, bytes, and its number.
    pending: VecDeque<(u64, i64)>,
    /// Ranges of numbers that nobody has read.
    ready: VecDeque<(i64, i64)>,
    /// How many sends have been acknowledged.
    pub(super) told: u64,
}

impl ZeroCopy {
    /// A send ended at `end` in the stream.
    pub(super) fn sent(&mut self, end: u64) {
        self.pending.push_back((end, self.next));
        self.next += 1;
    }

    /// The peer has acknowledged the stream up to `end`.
    pub(super) fn acknowledged(&mut self, end: u64) {
        while self.pending.front().is_some_and(|&(last, _)| last <= end) {
            let Some((_, number)) = self.pending.pop_front() else {
                return;
            };
            self.told += 1;
            match self.ready.back_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => self.ready.push_back((number, number)),
            }
        }
    }

    /// The oldest range of finished sends, which is read by this.
    pub(super) fn read(&mut self) -> Option<(i64, i64)> {
        self.ready.pop_front()
    }

    /// True if a notification waits to be read.
    pub(super) fn notifies(&self) -> bool {
        !self.ready.is_empty()
    }
}
