//! Reordering by sending rate, averaged over intervals of 250 ms.
//!
//! A reordering counts where its original was sent. A sender's capture tells of it a round trip
//! later or more, in an interval whose packets have nothing to do with it; so intervals stay open
//! to verdicts for a while before they go to the class of their rate.
//!
//! ```
//! use inorder_metrics::by_rate::Rates;
//!
//! let mut rates = Rates::default();
//! for ms in 0..8 {
//!     rates.sent(ms * 1_000_000, 1_000);
//! }
//! rates.reordered(2_000_000, None);
//! let classes = rates.finish();
//! assert_eq!((classes[0].packets, classes[0].reordered), (8, 1));
//! ```

mod class;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use inorder_base::heap::Heap;

use class::{class_of, rate_class};

pub use class::RateClass;

use crate::by_bytes::Late;

/// The mobile-network paper averages the sending rate over this long ("250 ms", section V).
const RATE_INTERVAL_NS: i64 = 250_000_000;
/// Intervals before the present one that are open to verdicts: 16 s of sending. What becomes known
/// later still counts in the flow's sums, but in no class.
const MAX_OPEN_INTERVALS: usize = 64;

/// Reordered packets by the octave of their extent in bytes: at `n` those from 2^n to 2^(n+1), at 0 also none.
type Octaves = [u32; 40];

#[derive(Clone, Default, Debug)]
struct Interval {
    start_ns: i64,
    bytes: u64,
    packets: u64,
    reordered: u64,
    extents: u64,
    late_ns: i64,
    /// Only with a reordered packet whose extent is known: most intervals have none.
    octaves: Option<Box<Octaves>>,
}

#[derive(Clone, Default, Debug)]
struct Class {
    intervals: u64,
    sum: Interval,
}

/// `now` lies in the interval that begins at `start_ns`.
#[inline(always)]
pub fn same_interval(start_ns: i64, now: i64) -> bool {
    // Before it or after it: one comparison for both.
    (now.wrapping_sub(start_ns) as u64) < RATE_INTERVAL_NS as u64
}

fn start_of(now: i64) -> i64 {
    now.wrapping_sub(now.rem_euclid(RATE_INTERVAL_NS))
}

/// Originals and the reordered among them, by the rate at which they were sent.
#[derive(Debug)]
pub struct Rates {
    present: Interval,
    /// Intervals with packets, other than the present one, ascending.
    open: VecDeque<Interval>,
    /// The latest interval that is no longer open.
    closed_ns: i64,
    /// By class, ascending. (Few: no map of a kilobyte for flows with one.)
    classes: Vec<(i32, Class)>,
}

impl Heap for Rates {
    fn heap_bytes(&self) -> usize {
        let sums = self.classes.iter().map(|(_, class)| &class.sum);
        let open = self.open.iter().chain([&self.present]).chain(sums);
        let octaves = open.filter(|interval| interval.octaves.is_some()).count();
        self.open.heap_bytes() + self.classes.heap_bytes() + octaves * size_of::<Octaves>()
    }
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            present: Interval::default(),
            open: VecDeque::new(),
            closed_ns: i64::MIN,
            classes: Vec::new(),
        }
    }
}

impl Rates {
    /// An original of `bytes` was sent (or, at a receiver, came by) at `now`.
    #[inline]
    pub fn sent(&mut self, now: i64, bytes: u32) {
        if !same_interval(self.present.start_ns, now) {
            self.turn_to(start_of(now));
        }
        self.sent_on(1, u64::from(bytes));
    }

    /// More originals in the same interval.
    #[inline]
    pub fn sent_on(&mut self, packets: u64, bytes: u64) {
        self.present.packets += packets;
        self.present.bytes += bytes;
    }

    /// When the interval that the last original fell into begins, nanoseconds.
    #[inline]
    pub fn interval_ns(&self) -> i64 {
        self.present.start_ns
    }

    /// Originals so far, and their bytes.
    pub fn all_sent(&self) -> (u64, u64) {
        let closed = self.classes.iter().map(|(_, class)| &class.sum);
        let intervals = closed.chain(&self.open).chain([&self.present]);
        intervals.fold((0, 0), |(packets, bytes), i| {
            (packets + i.packets, bytes + i.bytes)
        })
    }

    /// The original sent at `sent_ns` was reordered; `late` says how far, where that is known.
    /// To be called once for an original at most.
    pub fn reordered(&mut self, sent_ns: i64, late: Option<&Late>) {
        let Some(interval) = self.interval_of(sent_ns) else {
            return;
        };
        interval.reordered += 1;
        if let Some(late) = late {
            interval.extents += u64::from(late.extent);
            interval.late_ns = interval.late_ns.saturating_add(late.late_ns.max(0));
            let octaves = interval.octaves.get_or_insert_with(|| Box::new([0; 40]));
            let octave = late.bytes.max(1).ilog2() as usize;
            octaves[octave.min(octaves.len() - 1)] += 1;
        }
    }

    fn interval_of(&mut self, sent_ns: i64) -> Option<&mut Interval> {
        let start_ns = start_of(sent_ns);
        // A clock that goes back can open such an interval once more, but not for packets that
        // went to their class with it the first time.
        if start_ns <= self.closed_ns {
            return None;
        }
        if start_ns == self.present.start_ns {
            return Some(&mut self.present);
        }
        let found = self.open.binary_search_by_key(&start_ns, |i| i.start_ns);
        self.open.get_mut(found.ok()?)
    }

    /// Makes the interval that begins at `start_ns` the present one. The clock may go back.
    #[cold]
    fn turn_to(&mut self, start_ns: i64) {
        let fresh = Interval {
            start_ns,
            ..Interval::default()
        };
        let found = self.open.binary_search_by_key(&start_ns, |i| i.start_ns);
        let next = found.ok().and_then(|i| self.open.remove(i));
        let last = std::mem::replace(&mut self.present, next.unwrap_or(fresh));
        if last.packets > 0 {
            let at = self.open.partition_point(|i| i.start_ns < last.start_ns);
            self.open.insert(at, last);
        }
        if self.open.len() > MAX_OPEN_INTERVALS {
            self.close_first();
        }
    }

    fn close_first(&mut self) {
        if let Some(first) = self.open.pop_front() {
            self.close(&first);
        }
    }

    fn close(&mut self, interval: &Interval) {
        self.closed_ns = self.closed_ns.max(interval.start_ns);
        let number = class_of(interval.bytes);
        let place = self.classes.partition_point(|c| c.0 < number);
        if self.classes.get(place).is_none_or(|c| c.0 != number) {
            self.classes.insert(place, (number, Class::default()));
        }
        let class = &mut self.classes[place].1;
        class.intervals += 1;
        class.sum.bytes += interval.bytes;
        class.sum.packets += interval.packets;
        class.sum.reordered += interval.reordered;
        class.sum.extents += interval.extents;
        class.sum.late_ns = class.sum.late_ns.saturating_add(interval.late_ns);
        if let Some(octaves) = &interval.octaves {
            let sums = class.sum.octaves.get_or_insert_with(|| Box::new([0; 40]));
            for (sum, packets) in sums.iter_mut().zip(&**octaves) {
                *sum = sum.saturating_add(*packets);
            }
        }
    }

    /// The classes that had packets, ascending.
    pub fn finish(&mut self) -> Vec<RateClass> {
        if self.open.is_empty() && self.classes.is_empty() {
            return self.finish_single();
        }
        while !self.open.is_empty() {
            self.close_first();
        }
        if self.present.packets > 0 {
            let present = std::mem::take(&mut self.present);
            self.close(&present);
        }
        self.classes.iter().map(rate_class).collect()
    }

    /// The same, where there is but one interval, as in most short flows: its class needs no place among others.
    fn finish_single(&mut self) -> Vec<RateClass> {
        let sum = std::mem::take(&mut self.present);
        if sum.packets == 0 {
            return Vec::new();
        }
        let class = Class { intervals: 1, sum };
        vec![rate_class(&(class_of(class.sum.bytes), class))]
    }
}
