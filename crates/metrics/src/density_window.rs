//! The stay-back window of reorder density while packets are out of order.

use std::collections::VecDeque;

use crate::displacement::Displacements;
use crate::number_set::NumberSet;

/// The RFC's `window` and `buf`.
///
/// The window is kept as runs of consecutive numbers in order of arrival: all packets of a
/// run that take consecutive receive indices have the same displacement and leave at once.
/// Membership of either is one set of the numbers at or above the receive index.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    threshold: u16,
    runs: VecDeque<Run>,
    /// Packets in `runs`.
    waiting: u64,
    /// The receive index to be given next.
    index: u64,
    /// Numbers at or above `index` that wait, or left the window early.
    known: NumberSet,
    counts: Displacements,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    len: u64,
}

impl Window {
    pub fn new(threshold: u16) -> Self {
        Window {
            threshold,
            runs: VecDeque::new(),
            waiting: 0,
            index: 0,
            // Four times the threshold, so that ordinary losses do not reach beyond.
            known: NumberSet::new(4 * (usize::from(threshold) + 1)),
            counts: Displacements::new(threshold),
        }
    }

    /// Starts anew with the `waiting` packets from `oldest` on; keeps the counts.
    pub fn restart(&mut self, index: u64, oldest: u64, waiting: u64) {
        self.runs.clear();
        self.waiting = 0;
        self.index = index;
        self.known.clear();
        self.push(oldest, waiting);
    }

    /// An arrival; false when it is skipped: a copy, or below the receive index.
    #[inline]
    pub fn update(&mut self, seq: u64) -> bool {
        self.leave();
        if seq < self.index || self.known.contains(self.index, seq) {
            return false;
        }
        self.push(seq, 1);
        self.leave();
        true
    }

    /// Arrivals `first .. first + n`, all larger than any before; takes as many as it can
    /// at once and returns how many.
    ///
    /// Larger numbers known too soon change nothing: whenever a packet leaves a full window
    /// some smaller number at or above the receive index is known, and the smallest counts.
    /// So packets may also stay a while longer, to leave in longer runs, until some arrival
    /// asks for the receive index.
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) -> u64 {
        let n = n.min(u64::from(self.threshold) + 1);
        self.push(first, n);
        if self.waiting > 2 * u64::from(self.threshold) + 1 {
            self.leave();
        }
        n
    }

    /// Lets all that wait leave, at the end of the stream.
    pub fn drain(&mut self) {
        while self.waiting > 0 {
            self.pop(self.waiting);
        }
    }

    /// When everything is in order again: the oldest packet that waits and how many do.
    #[inline]
    pub fn in_order(&self) -> Option<(u64, u64)> {
        let start = match self.runs.len() {
            0 => self.index,
            1 => self.runs.front()?.start,
            _ => return None,
        };
        let full = self.waiting == u64::from(self.threshold);
        // No other number is known then: one that left the window early was at most DT above
        // a receive index already passed, and all numbers up to there wait.
        (full && start == self.index).then_some((start, self.waiting))
    }

    pub fn into_displacements(self) -> Displacements {
        self.counts
    }

    #[inline]
    fn push(&mut self, start: u64, len: u64) {
        if len == 0 {
            return;
        }
        self.waiting += len;
        self.known.insert_run(self.index, start, len);
        match self.runs.back_mut() {
            Some(last) if last.start + last.len == start => last.len += len,
            _ => self.runs.push_back(Run { start, len }),
        }
    }

    /// Packets beyond the threshold need not wait longer.
    #[inline]
    fn leave(&mut self) {
        let stay = u64::from(self.threshold);
        while self.waiting > stay {
            self.pop(self.waiting - stay);
        }
    }

    /// The oldest packets leave and take the next receive indices; at most `most`, which is
    /// not 0.
    #[inline]
    fn pop(&mut self, most: u64) {
        let Some(run) = self.runs.front().copied() else {
            self.waiting = 0;
            return;
        };
        let together = run.len.min(most);
        let mut n = self.known.consecutive(self.index, together);
        if n == 0 {
            self.skip_lost();
            n = self.known.consecutive(self.index, together).max(1);
        }
        let displacement = self.index.wrapping_sub(run.start) as i64;
        if displacement.unsigned_abs() > u64::from(self.threshold) {
            self.discard(run.start, displacement);
            return;
        }
        // The indices belong to these packets or to other known ones; either way they are
        // behind now. Early packets stay known: their own numbers are ahead.
        self.counts.count(displacement, n);
        self.remove_oldest(n);
        self.known.remove_run(self.index, n);
        self.advance(self.index + n);
    }

    fn remove_oldest(&mut self, n: u64) {
        self.waiting -= n;
        if let Some(run) = self.runs.front_mut() {
            run.start += n;
            run.len -= n;
            if run.len == 0 {
                self.runs.pop_front();
            }
        }
    }

    fn discard(&mut self, seq: u64, displacement: i64) {
        self.counts.count_beyond(displacement, 1);
        self.remove_oldest(1);
        if displacement < 0 {
            self.known.remove(self.index, seq);
        }
    }

    /// Moves the receive index past numbers nothing is known of.
    fn skip_lost(&mut self) {
        if let Some(next) = self.known.first(self.index) {
            self.advance(next);
        }
    }

    #[inline]
    fn advance(&mut self, index: u64) {
        self.index = index;
        self.known.advance(index);
    }
}
