//! The window of reorder density (RFC 5236 section 6, "stay-back") while packets are out of order.

use inorder_base::line::Line;

use crate::displacement::Displacements;
use crate::missing::Missing;

/// `window` and `buffer` of RFC 5236 section 7.1; packets leave them as early as their index is determined.
///
/// In the RFC a packet leaves when `DT` others have arrived after it. The receive index then goes to the oldest
/// packet if the index is in the window or in `buffer`, and is skipped otherwise. A number that has arrived stays in one
/// of the two until it is the index. So an index that has arrived can be assigned at once, and only a missing one
/// must be waited for. This accepts the same packets: numbers below the index have been received, are copies, or were
/// skipped as in the RFC. The exception is a packet that is early by more than `DT`: it is forgotten when it is
/// discarded, so its own index must wait.
///
/// The window is stored as runs of consecutive numbers in order of arrival. All packets of a run that take
/// consecutive receive indices have the same displacement and leave together. Only missing numbers are stored
/// separately; all others up to the highest are present.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    threshold: u16,
    runs: Line<Run>,
    /// Packets in `runs`.
    waiting: u64,
    /// The receive index to assign next.
    index: u64,
    /// Numbers from `index` up to the highest that neither wait in the window nor left it early.
    missing: Missing,
    counts: Displacements,
}

inorder_base::heap!(Window: runs, missing, counts);

#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// All packets are in `run .. next`; the first receive index is unknown.
    Starting,
    /// No packet waits, and the numbers from `next - ahead` on have arrived: their indices are free. The packets that
    /// follow are displaced by `-ahead`. `ahead` is 0 unless packets were discarded as too late, whose indices went
    /// to later packets.
    Calm { ahead: u64 },
    /// All packets except `run .. next` are in the window.
    Disturbed,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    len: u64,
}

impl Window {
    pub(crate) fn new(threshold: u16) -> Self {
        Window {
            threshold,
            runs: Line::default(),
            waiting: 0,
            index: 0,
            missing: Missing::default(),
            counts: Displacements::new(threshold),
        }
    }

    /// Continues with an empty window at receive index `index`; keeps the counts.
    pub(crate) fn restart(&mut self, index: u64) {
        self.index = index;
    }

    /// Marks the numbers `from .. to` as skipped; `from` follows the highest number.
    #[inline]
    pub(crate) fn skip(&mut self, from: u64, to: u64) {
        if from < to {
            self.missing.push(from, to);
        }
    }

    /// Takes a packet below the highest number; false if it is skipped, because it is a copy or below the receive
    /// index.
    #[inline]
    pub(crate) fn update(&mut self, seq: u64) -> bool {
        let new = self.missing.remove(seq);
        if new {
            self.push(seq, 1);
            self.leave_if_due();
        }
        new
    }

    /// Takes the arrivals `first .. first + n`, which follow the highest number.
    ///
    /// Taking larger numbers too early changes nothing: whenever a packet leaves a full window, some smaller number
    /// at or above the receive index is present, and the smallest one counts.
    #[inline]
    pub(crate) fn update_run(&mut self, first: u64, n: u64) {
        if n > 0 {
            self.push(first, n);
            self.leave_if_due();
        }
    }

    /// Packets leave when too many wait, or when none is missing that they wait for. Before that it would change nothing: they take the
    /// same indices whenever they leave, and until too many wait none is given up.
    #[inline]
    fn leave_if_due(&mut self) {
        if self.waiting > self.threshold.into() || self.missing.is_empty() {
            self.leave(self.threshold);
        }
    }

    /// Releases all waiting packets at the end of the stream.
    pub(crate) fn drain(&mut self) {
        self.leave(0);
    }

    /// The state after all numbers below `next`. If no packet waits, the window is discarded.
    #[inline]
    pub(crate) fn state(&self, next: u64) -> State {
        let ahead = next - self.index;
        if self.waiting > 0 || !self.missing.is_empty() || ahead > u64::from(self.threshold) {
            return State::Disturbed;
        }
        State::Calm { ahead }
    }

    /// Counts packets displaced by `-ahead`, which do not have to wait.
    pub(crate) fn count_early(&mut self, ahead: u64, n: u64) {
        self.counts.count(-(ahead as i64), n);
    }

    pub(crate) fn into_displacements(self) -> Displacements {
        self.counts
    }

    #[inline]
    fn push(&mut self, start: u64, len: u64) {
        self.waiting += len;
        match self.runs.last_mut() {
            Some(last) if last.start + last.len == start => last.len += len,
            _ => self.runs.push_back(Run { start, len }),
        }
    }

    /// Packets leave and take the next receive indices as long as these are known, or are given up as lost because
    /// more than `stay` packets wait.
    #[inline]
    fn leave(&mut self, stay: u16) {
        let threshold = u64::from(self.threshold);
        while let Some(run) = self.runs.first().copied() {
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
                // The indices are the numbers of these packets or of others, and all of them are behind now. Early
                // packets stay known, because their own numbers are still ahead.
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
        match self.runs.first_mut() {
            Some(run) if n < run.len => {
                run.start += n;
                run.len -= n;
            }
            _ => drop(self.runs.pop_front()),
        }
    }
}
