//! Reorder buffer-occupancy density, RBD (RFC 5236 sections 3.7 to 3.11 and 7.2).

use std::collections::VecDeque;

use crate::bound::{MAX_SEQ, accepted};

/// Density of the occupancy of a hypothetical buffer that restores the order (RFC 5236 section 7.2).
///
/// The buffer holds packets with numbers above the expected number `E`, at most the threshold `BT` of them. A packet
/// that finds the buffer full gives up `E`, which moves on to the next number present. The occupancy is counted after
/// each packet that is neither a copy nor below `E`.
///
/// The expected number starts as the smallest of the first `BT + 1` arrivals, unless the
/// first number sent is given: a stream need not be seen from its beginning.
///
/// ```
/// let mut rbd = inorder_metrics::BufferDensity::new(4);
/// for seq in [1, 4, 2, 5, 3, 6, 7, 8] {
///     rbd.update(seq);
/// }
/// let density: Vec<_> = rbd.finish().density().collect();
/// assert_eq!(density, [(0, 0.625), (1, 0.25), (2, 0.125)]);
/// ```
#[derive(Clone, Debug)]
pub struct BufferDensity {
    threshold: u16,
    /// E of RFC 5236 section 3.7; before `settled`, the number after the consecutive first arrivals.
    expected: u64,
    settled: bool,
    /// The first arrivals, as long as they are consecutive and end before `expected`.
    first_run: u64,
    /// The first arrivals as soon as they are not consecutive.
    first: Vec<u64>,
    buffer: Runs,
    empty: u64,
    /// For each occupancy from 1: packets that found it, minus packets that found one less.
    rises: Vec<i64>,
    ignored: u64,
    given_up: u64,
}

inorder_base::heap!(BufferDensity: first, buffer, rises);

/// Buffered packets as ascending runs of consecutive numbers.
#[derive(Clone, Default, Debug)]
struct Runs {
    runs: VecDeque<(u64, u64)>,
    packets: usize,
}

inorder_base::heap!(Runs: runs);

impl Runs {
    fn first(&self) -> Option<u64> {
        self.runs.front().map(|run| run.0)
    }

    fn last(&self) -> Option<u64> {
        self.runs.back().map(|run| run.1)
    }

    /// Adds `first .. first + n`, all larger than the numbers present; `n` > 0.
    fn append(&mut self, first: u64, n: usize) {
        let end = first + (n as u64 - 1);
        self.packets += n;
        match self.runs.back_mut() {
            Some(last) if last.1 + 1 == first => last.1 = end,
            _ => self.runs.push_back((first, end)),
        }
    }

    /// Removes the run that starts with `seq` and returns the number after it.
    fn take(&mut self, seq: u64) -> Option<u64> {
        let (start, end) = *self.runs.front()?;
        if start != seq {
            return None;
        }
        self.runs.pop_front();
        self.packets -= (end - start + 1) as usize;
        Some(end + 1)
    }

    /// False if `seq` is present already.
    fn insert(&mut self, seq: u64) -> bool {
        let at = match self.runs.back_mut() {
            Some(last) if last.1 + 1 == seq => {
                last.1 = seq;
                self.packets += 1;
                return true;
            }
            Some(last) if last.1 < seq => self.runs.len(),
            _ => self.runs.partition_point(|run| run.1 < seq),
        };
        let joins_next = match self.runs.get(at) {
            Some(next) if next.0 <= seq => return false,
            Some(next) => next.0 == seq + 1,
            None => false,
        };
        self.packets += 1;
        let before = at
            .checked_sub(1)
            .filter(|i| self.runs.get(*i).is_some_and(|r| r.1 + 1 == seq));
        match (before, joins_next) {
            (Some(before), true) => {
                let end = self.runs.remove(at).map_or(seq, |run| run.1);
                self.set_end(before, end);
            }
            (Some(before), false) => self.set_end(before, seq),
            (None, true) => self.set_start(at, seq),
            (None, false) => self.runs.insert(at, (seq, seq)),
        }
        true
    }

    fn set_end(&mut self, index: usize, end: u64) {
        if let Some(run) = self.runs.get_mut(index) {
            run.1 = end;
        }
    }

    fn set_start(&mut self, index: usize, start: u64) {
        if let Some(run) = self.runs.get_mut(index) {
            run.0 = start;
        }
    }
}

impl BufferDensity {
    /// With the threshold BT, packets; the stream may start at any number.
    pub fn new(threshold: u16) -> Self {
        BufferDensity {
            threshold,
            expected: 0,
            settled: false,
            first_run: 0,
            first: Vec::new(),
            buffer: Runs::default(),
            empty: 0,
            rises: Vec::new(),
            ignored: 0,
            given_up: 0,
        }
    }

    /// As [`new`](Self::new), for a stream whose first number sent, `start`, is known.
    pub fn with_start(threshold: u16, start: u64) -> Self {
        BufferDensity {
            expected: start,
            settled: true,
            ..BufferDensity::new(threshold)
        }
    }

    /// Counts the next arrival; `seq` is at most [`MAX_SEQ`].
    #[inline]
    pub fn update(&mut self, seq: u64) {
        if seq > MAX_SEQ {
            self.ignored += 1;
        } else if self.settled {
            self.place(seq);
        } else {
            self.learn(seq);
        }
    }

    /// Counts `n` packets with the numbers `first`, `first + 1`, ...; O(1) while the buffer is empty, at most O(BT)
    /// more for each hole that is given up.
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) {
        let (mut seq, mut left) = (first, accepted(first, n));
        self.ignored = self.ignored.saturating_add(n - left);
        while left > 0 {
            if self.settled && self.buffer.packets == 0 && seq == self.expected {
                self.empty += left;
                self.expected += left;
                return;
            }
            let taken = self.stored_run(seq, left);
            seq += taken;
            left -= taken;
        }
    }

    /// Counts the first packets of a run while the buffer is in use; returns how many.
    #[inline]
    fn stored_run(&mut self, first: u64, n: u64) -> u64 {
        let room = usize::from(self.threshold) - self.buffer.packets.min(self.threshold.into());
        let beyond_all = self.buffer.last().is_some_and(|last| last < first);
        if room == 0 || !beyond_all {
            self.update(first);
            return 1;
        }
        let before = self.buffer.packets;
        let taken = usize::try_from(n).map_or(room, |n| n.min(room));
        self.buffer.append(first, taken);
        // One packet found each occupancy between the old and the new one.
        self.count_each(before, taken);
        taken as u64
    }

    /// Handles an arrival before the first number is known.
    fn learn(&mut self, seq: u64) {
        let enough = u64::from(self.threshold) + 1;
        if self.first.is_empty() {
            if self.first_run == 0 || seq == self.expected {
                self.expected = seq + 1;
                self.first_run += 1;
                if self.first_run == enough {
                    self.settle();
                }
                return;
            }
            self.first
                .extend(self.expected - self.first_run..self.expected);
        }
        self.first.push(seq);
        if self.first.len() as u64 == enough {
            self.settle();
        }
    }

    /// Fixes the start as the smallest number so far and replays the first arrivals.
    fn settle(&mut self) {
        self.settled = true;
        if self.first.is_empty() {
            self.empty += self.first_run;
            return;
        }
        let first = std::mem::take(&mut self.first);
        self.expected = first.iter().copied().min().unwrap_or(0);
        for seq in first {
            self.place(seq);
        }
    }

    #[inline]
    fn place(&mut self, seq: u64) {
        if seq < self.expected {
            self.ignored += 1;
            return;
        }
        if seq == self.expected {
            self.expected += 1;
            self.release();
        } else if self.buffer.packets < usize::from(self.threshold) {
            if !self.buffer.insert(seq) {
                self.ignored += 1;
                return;
            }
        } else if !self.place_full(seq) {
            return;
        }
        self.count();
    }

    /// Handles a packet beyond the expected one that finds the buffer full; false if it is a copy.
    fn place_full(&mut self, seq: u64) -> bool {
        // Check whether it is a copy before giving up any number.
        let copy = {
            let at = self.buffer.runs.partition_point(|run| run.1 < seq);
            self.buffer.runs.get(at).is_some_and(|run| run.0 <= seq)
        };
        if copy {
            self.ignored += 1;
            return false;
        }
        let next = self.buffer.first().map_or(seq, |first| first.min(seq));
        self.given_up = self.given_up.saturating_add(next - self.expected);
        self.expected = next;
        self.release();
        if seq == self.expected {
            self.expected += 1;
            self.release();
        } else {
            self.buffer.insert(seq);
        }
        true
    }

    fn release(&mut self) {
        while let Some(next) = self.buffer.take(self.expected) {
            self.expected = next;
        }
    }

    #[inline]
    /// Counts the occupancy after an arrival (RFC 5236 sections 3.8 and 3.10).
    fn count(&mut self) {
        match self.buffer.packets.checked_sub(1) {
            None => self.empty += 1,
            Some(below) => self.count_each(below, 1),
        }
    }

    /// Counts one packet for each of the `n` occupancies above `below`.
    #[inline]
    fn count_each(&mut self, below: usize, n: usize) {
        let above = below + n;
        if above >= self.rises.len() {
            self.rises.resize(above + 1, 0);
        }
        if let Some(rise) = self.rises.get_mut(below) {
            *rise += 1;
        }
        if let Some(rise) = self.rises.get_mut(above) {
            *rise -= 1;
        }
    }

    /// Packets skipped: copies, or numbers given up before they arrived.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Numbers the buffer gave up waiting for, because it was full.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Ends the stream and returns the histogram.
    pub fn finish(mut self) -> Occupancy {
        if !self.settled {
            self.settle();
        }
        // The last entry, above the highest occupancy, only brings the running sum back to zero.
        self.rises.pop();
        let filled = self.rises.iter().scan(0, |count, rise| {
            *count += rise;
            Some(*count as u64)
        });
        Occupancy {
            threshold: self.threshold,
            empty: self.empty,
            filled: filled.collect(),
            ignored: self.ignored,
            given_up: self.given_up,
        }
    }
}

/// Histogram of buffer occupancies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occupancy {
    threshold: u16,
    empty: u64,
    filled: Vec<u64>,
    ignored: u64,
    given_up: u64,
}

impl Occupancy {
    /// The occupancy threshold BT (RFC 5236 section 3.9), packets.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Packets counted, N' of the RFC.
    pub fn total(&self) -> u64 {
        self.empty + self.filled.iter().sum::<u64>()
    }

    /// Non-zero counts as (occupancy in packets, packets), ascending.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = (1..).zip(self.filled.iter().copied());
        [(0, self.empty)]
            .into_iter()
            .chain(filled)
            .filter(|(_, count)| *count > 0)
    }

    /// The density RBD (RFC 5236 section 3.11): (occupancy, share of packets), ascending, without zeros.
    pub fn density(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let total = self.total().max(1) as f64;
        self.counts()
            .map(move |(k, count)| (k, count as f64 / total))
    }

    /// Mean occupancy after an arrival (RFC 5236 section 9), packets.
    pub fn mean(&self) -> f64 {
        self.density().fold(0.0, |sum, (k, p)| sum + k as f64 * p)
    }

    /// The highest occupancy, packets.
    pub fn max(&self) -> u64 {
        self.filled.len() as u64
    }

    /// Packets skipped: copies, or numbers given up before they arrived.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Numbers given up because the buffer was full.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }
}
