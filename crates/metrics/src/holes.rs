//! The missing numbers below the highest number received.

use std::collections::VecDeque;

/// A range of missing numbers and the arrival that skipped it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hole {
    pub lo: u64,
    /// The last missing number (inclusive).
    pub hi: u64,
    /// Number of the discontinuity that opened the hole.
    pub opener: u64,
    /// Position of the opening arrival among the first copies, from 1.
    pub position: u64,
    pub time_ns: i64,
    /// Value of [`Holes::bytes`] when the hole was opened, minus the bytes that do not lie above the hole. The
    /// difference to the present value is the number of bytes received above the hole.
    pub below: u64,
}

/// Disjoint holes in ascending order, which is also the order in which they were opened.
#[derive(Clone, Default, Debug)]
pub(crate) struct Holes {
    holes: VecDeque<Hole>,
    /// Reference to which all `below` are relative; the arithmetic wraps.
    bytes: u64,
    /// `below` of the hole older than all others (the numbers before the first arrival). It is kept up to date,
    /// although that hole is stored only when a packet falls into it.
    oldest_below: u64,
}

inorder_base::heap!(Holes: holes);

/// Number of newest holes that are searched one by one; most late packets fall into these.
const NEAR: usize = 6;

impl Holes {
    pub(crate) fn len(&self) -> usize {
        self.holes.len()
    }

    /// The oldest opener with missing numbers, not counting the first arrival (0).
    pub(crate) fn oldest_opener(&self) -> u64 {
        let mut openers = self.holes.iter().map(|hole| hole.opener);
        openers.find(|opener| *opener > 0).unwrap_or(u64::MAX)
    }

    pub(crate) fn pop_front(&mut self) -> Option<Hole> {
        self.holes.pop_front()
    }

    /// Adds the bytes of arrivals in order: they are above every hole.
    #[inline]
    pub(crate) fn in_order(&mut self, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
    }

    /// Opens a hole above all others; call this before [`in_order`](Self::in_order) of the arrival that opens it.
    pub(crate) fn open(&mut self, mut hole: Hole) {
        hole.below = self.bytes;
        self.holes.push_back(hole);
    }

    /// Opens a hole below all others, attributed to the first arrival.
    pub(crate) fn open_oldest(&mut self, mut hole: Hole) {
        hole.below = self.oldest_below;
        self.holes.push_front(hole);
    }

    /// Index of the hole that contains `seq`.
    #[inline]
    pub(crate) fn find(&self, seq: u64) -> Option<usize> {
        let len = self.holes.len();
        for (back, hole) in self.holes.iter().rev().take(NEAR).enumerate() {
            if hole.lo <= seq {
                return (seq <= hole.hi).then_some(len - 1 - back);
            }
        }
        let index = self.holes.partition_point(|hole| hole.hi < seq);
        let hole = self.holes.get(index)?;
        (hole.lo <= seq).then_some(index)
    }

    /// Removes `seq` from hole `index`, which must contain it. Returns the hole as it was before and the bytes
    /// received above it so far.
    pub(crate) fn fill(&mut self, index: usize, seq: u64, bytes: u64) -> Option<(Hole, u64)> {
        let hole = *self.holes.get(index)?;
        let above = self.bytes.wrapping_sub(hole.below);
        let newer_is_shorter = index >= self.holes.len() / 2;
        self.count_above_older(index, bytes, newer_is_shorter);
        let (low_delta, high_delta) = if newer_is_shorter {
            (0, bytes)
        } else {
            (bytes.wrapping_neg(), 0)
        };
        let low = (hole.lo < seq).then(|| Hole {
            hi: seq - 1,
            below: hole.below.wrapping_add(low_delta),
            ..hole
        });
        let high = (seq < hole.hi).then(|| Hole {
            lo: seq + 1,
            below: hole.below.wrapping_add(high_delta),
            ..hole
        });
        self.replace(index, low, high);
        Some((hole, above))
    }

    /// A late packet's bytes lie above the holes older than `index` and below the newer ones. Either the reference is
    /// raised and the newer holes are corrected, or the older holes are corrected, whichever are fewer.
    fn count_above_older(&mut self, index: usize, bytes: u64, newer_is_shorter: bool) {
        if newer_is_shorter {
            self.bytes = self.bytes.wrapping_add(bytes);
            for hole in self.holes.range_mut(index + 1..) {
                hole.below = hole.below.wrapping_add(bytes);
            }
        } else {
            self.oldest_below = self.oldest_below.wrapping_sub(bytes);
            for hole in self.holes.range_mut(..index) {
                hole.below = hole.below.wrapping_sub(bytes);
            }
        }
    }

    fn replace(&mut self, index: usize, low: Option<Hole>, high: Option<Hole>) {
        match (low, high) {
            (Some(low), Some(high)) => {
                self.set(index, low);
                self.holes.insert(index + 1, high);
            }
            (Some(one), None) | (None, Some(one)) => self.set(index, one),
            (None, None) => drop(self.holes.remove(index)),
        }
    }

    fn set(&mut self, index: usize, hole: Hole) {
        if let Some(slot) = self.holes.get_mut(index) {
            *slot = hole;
        }
    }
}
