//! The stay-back window of reorder density while packets are out of order.

use std::collections::VecDeque;

use crate::displacement::Displacements;
use crate::number_set::NumberSet;

/// The RFC's `window` and `buf`, from which packets leave as soon as can be.
///
/// The RFC's packets leave when `DT` others have come after them. The receive index is then
/// given to the oldest if its number is in the window or in `buf`, and else skipped; but a
/// number once there stays until it is an index, so an index there already is given at once
/// and only a missing one is waited for. This changes no acceptance either: numbers below
/// the index are either there, copies, or skipped as in the RFC. The exception is a packet
/// too early by more than `DT`: it ceases to be there when discarded, and has to wait.
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
pub(crate) enum State {
    /// All packets are in `run .. next`; the first receive index is not known.
    Starting,
    /// No packet stays back, and the numbers from `next - ahead` on are there: indices not
    /// taken yet. Packets that follow are displaced by `-ahead`; by 0 unless packets were
    /// discarded as too late, whose indices fell to later ones.
    Calm { ahead: u64 },
    /// All but `run .. next` are in the window.
    Disturbed,
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

    /// Goes on, empty, from receive index `index`; it and the next, together `known`
    /// numbers, are there. Keeps the counts.
    pub fn restart(&mut self, index: u64, known: u64) {
        self.index = index;
        self.known.insert_run(index, index, known);
    }

    /// An arrival; false when it is skipped: a copy, or below the receive index.
    pub fn update(&mut self, seq: u64) -> bool {
        if seq < self.index || self.known.contains(self.index, seq) {
            return false;
        }
        self.push(seq, 1);
        self.leave(self.threshold);
        true
    }

    /// Arrivals `first .. first + n`, all larger than any before; takes as many as it can
    /// at once and returns how many.
    ///
    /// Larger numbers known too soon change nothing: whenever a packet leaves a full window
    /// some smaller number at or above the receive index is known, and the smallest counts.
    pub fn update_run(&mut self, first: u64, n: u64) -> u64 {
        let n = n.min(u64::from(self.threshold) + 1);
        self.push(first, n);
        self.leave(self.threshold);
        n
    }

    /// Packets displaced by `-ahead`, without any that wait.
    pub fn count_early(&mut self, ahead: u64, n: u64) {
        self.counts.count(-(ahead as i64), n);
    }

    /// Lets all that wait leave, at the end of the stream.
    pub fn drain(&mut self) {
        self.leave(0);
    }

    /// The state after all numbers below `next`. When calm, nothing is kept.
    #[inline]
    pub fn state(&mut self, next: u64) -> State {
        let ahead = next - self.index;
        if self.waiting > 0
            || ahead > u64::from(self.threshold)
            || self.known.consecutive(self.index, ahead) < ahead
        {
            return State::Disturbed;
        }
        self.known.remove_run(self.index, ahead);
        State::Calm { ahead }
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

    /// Packets leave while their receive indices are known, or lost because more than `stay`
    /// packets wait.
    #[inline]
    fn leave(&mut self, stay: u16) {
        while let Some(run) = self.runs.front().copied() {
            let full = self.waiting > u64::from(stay);
            let mut n = self.known.consecutive(self.index, run.len);
            if n == 0 {
                if !full {
                    return;
                }
                self.skip_lost();
                n = self.known.consecutive(self.index, run.len).max(1);
            }
            let displacement = self.index.wrapping_sub(run.start) as i64;
            if displacement.unsigned_abs() <= u64::from(self.threshold) {
                self.assign(displacement, n);
            } else if full || displacement > 0 {
                self.discard(run.start, displacement);
            } else {
                return;
            }
        }
    }

    /// The `n` oldest packets leave and take the next receive indices.
    ///
    /// The indices belong to these packets or to other known ones; either way they are
    /// behind now. Early packets stay known: their own numbers are ahead.
    #[inline]
    fn assign(&mut self, displacement: i64, n: u64) {
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
