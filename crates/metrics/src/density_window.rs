//! The stay-back window of reorder density while packets are out of order.

use std::collections::VecDeque;

use crate::displacement::Displacements;
use crate::missing::Missing;

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
/// What is in neither is the missing numbers, all others up to the highest being there.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    threshold: u16,
    runs: VecDeque<Run>,
    /// Packets in `runs`.
    waiting: u64,
    /// The receive index to be given next.
    index: u64,
    /// Numbers from `index` up to the highest that neither wait nor left the window early.
    missing: Missing,
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
            missing: Missing::default(),
            counts: Displacements::new(threshold),
        }
    }

    /// Goes on, empty, from receive index `index`; keeps the counts.
    pub fn restart(&mut self, index: u64) {
        self.index = index;
    }

    /// Numbers `from .. to`, `from` the one after the highest, are skipped.
    #[inline]
    pub fn skip(&mut self, from: u64, to: u64) {
        if from < to {
            self.missing.push(from, to);
        }
    }

    /// An arrival below the highest number; false when it is skipped: a copy, or below the
    /// receive index.
    #[inline]
    pub fn update(&mut self, seq: u64) -> bool {
        let new = self.missing.remove(seq);
        if new {
            self.push(seq, 1);
            self.leave(self.threshold);
        }
        new
    }

    /// Arrivals `first .. first + n` that follow the highest number.
    ///
    /// Larger numbers there too soon change nothing: whenever a packet leaves a full window
    /// some smaller number at or above the receive index is there, and the smallest counts.
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) {
        if n > 0 {
            self.push(first, n);
            self.leave(self.threshold);
        }
    }

    /// Lets all that wait leave, at the end of the stream.
    pub fn drain(&mut self) {
        self.leave(0);
    }

    /// The state after all numbers below `next`. When calm, nothing is kept.
    #[inline]
    pub fn state(&self, next: u64) -> State {
        let ahead = next - self.index;
        if self.waiting > 0 || !self.missing.is_empty() || ahead > u64::from(self.threshold) {
            return State::Disturbed;
        }
        State::Calm { ahead }
    }

    /// Packets displaced by `-ahead`, without any that wait.
    pub fn count_early(&mut self, ahead: u64, n: u64) {
        self.counts.count(-(ahead as i64), n);
    }

    pub fn into_displacements(self) -> Displacements {
        self.counts
    }

    #[inline]
    fn push(&mut self, start: u64, len: u64) {
        self.waiting += len;
        match self.runs.back_mut() {
            Some(last) if last.start + last.len == start => last.len += len,
            _ => self.runs.push_back(Run { start, len }),
        }
    }

    /// Packets leave and take the next receive indices while these are known, or lost
    /// because more than `stay` packets wait.
    #[inline]
    fn leave(&mut self, stay: u16) {
        let threshold = u64::from(self.threshold);
        while let Some(run) = self.runs.front().copied() {
            let surplus = self.waiting.saturating_sub(stay.into());
            let missing = self.missing.first().unwrap_or(u64::MAX);
            if missing == self.index {
                if surplus == 0 {
                    return;
                }
                self.index = self.missing.pop_first().unwrap_or(missing);
                continue;
            }
            let displacement = self.index.wrapping_sub(run.start) as i64;
            let distance = displacement.unsigned_abs();
            if distance <= threshold {
                // The indices are the numbers of these packets or of others; either way they
                // are behind now. Early packets stay known: their own numbers are ahead.
                let n = run.len.min(missing - self.index);
                self.counts.count(displacement, n);
                self.index += n;
                self.remove_oldest(n);
            } else if displacement > 0 {
                let n = run.len.min(distance - threshold);
                self.counts.count_beyond(displacement, n);
                self.remove_oldest(n);
            } else if surplus > 0 {
                let n = run.len.min(surplus);
                self.counts.count_beyond(displacement, n);
                self.missing.insert(run.start, run.start + n);
                self.remove_oldest(n);
            } else {
                return;
            }
        }
    }

    #[inline]
    fn remove_oldest(&mut self, n: u64) {
        self.waiting -= n;
        match self.runs.front_mut() {
            Some(run) if n < run.len => {
                run.start += n;
                run.len -= n;
            }
            _ => drop(self.runs.pop_front()),
        }
    }
}
