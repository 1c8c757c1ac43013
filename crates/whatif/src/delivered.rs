//! Data in the order it reaches the stack: how much of it is reordered, and which duplicate
//! acknowledgements the receiver sends.

use std::collections::VecDeque;

use crate::receiver::Receiver;
use crate::runs::Data;

/// Gaps between originals remembered; of an original later than that only a lower bound of its
/// extent is known.
const MAX_GAPS_REMEMBERED: usize = 1024;

/// What has been counted of one order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counted {
    pub(crate) reordered: u64,
    pub(crate) max_extent: u64,
    pub(crate) dupacks: u64,
}

impl Counted {
    pub(crate) fn add(&mut self, more: &Counted) {
        self.reordered += more.reordered;
        self.max_extent = self.max_extent.max(more.max_extent);
        self.dupacks += more.dupacks;
    }
}

/// Both views of one delivered order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Delivered {
    originals: Originals,
    pub(crate) receiver: Receiver,
}

heap!(Delivered: originals, receiver);

impl Delivered {
    pub(crate) fn feed(&mut self, stretch: &[Data]) {
        for data in stretch {
            if !data.retransmission {
                self.originals.deliver(data);
            }
            self.receiver.deliver(data);
        }
    }

    pub(crate) fn counts(&self) -> Counted {
        Counted {
            reordered: self.originals.reordered,
            max_extent: self.originals.max_extent,
            dupacks: self.receiver.dupacks,
        }
    }

    /// The counts, which begin again.
    pub(crate) fn take_counts(&mut self) -> Counted {
        let counts = self.counts();
        (self.originals.reordered, self.originals.max_extent) = (0, 0);
        self.receiver.dupacks = 0;
        counts
    }

    /// Only originals arrived, in order, up to `next`; `originals` in all.
    #[inline]
    pub(crate) fn skip_to(&mut self, next: i64, originals: u64) {
        self.originals.next = next;
        self.originals.position = originals;
        self.receiver.skip_to(next);
    }

    /// Nothing is missing, and the highest data is an original and ends at `next`.
    pub(crate) fn is_complete(&self, next: i64) -> bool {
        self.originals.next == next && self.receiver.is_complete(next)
    }

    /// Only originals arrived behind all that came, in order, up to `next`; this number of them.
    pub(crate) fn pass(&mut self, next: i64, originals: u64) {
        self.originals.next = next;
        self.originals.position += originals;
        self.receiver.skip_to(next);
    }

    /// The highest data is an original and ends at `next`.
    #[inline]
    pub(crate) fn is_level(&self, next: i64) -> bool {
        self.originals.next == next && self.receiver.top() == next
    }

    /// What is delivered next means the same to `other`, whatever the counts so far.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.originals.is_like(&other.originals) && self.receiver.is_like(&other.receiver)
    }
}

/// Reordering of the originals (RFC 4737 sections 3.3 and 4.2).
#[derive(Clone, Default, Debug)]
pub(crate) struct Originals {
    /// NextExp of section 3.
    next: i64,
    /// Originals delivered.
    position: u64,
    gaps: VecDeque<Gap>,
    /// The last gap that was forgotten.
    forgotten: Option<Gap>,
    reordered: u64,
    max_extent: u64,
}

heap!(Originals: gaps);

/// Originals not delivered, below one that was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gap {
    start: i64,
    end: i64,
    /// Position of the first original above it.
    opened_at: u64,
}

impl Originals {
    #[inline]
    fn deliver(&mut self, data: &Data) {
        if data.start == self.next {
            self.next = data.end();
            self.position += data.count;
        } else {
            self.deliver_any(data);
        }
    }

    fn deliver_any(&mut self, data: &Data) {
        let late = self.late_in(data);
        for i in 0..late {
            self.late(data.at(i), data.at(i + 1));
            self.position += 1;
        }
        let start = data.at(late);
        if late > 0 {
            self.next = self.next.max(start);
        }
        if late == data.count {
            return;
        }
        if start > self.next {
            self.gaps.push_back(Gap {
                start: self.next,
                end: start,
                opened_at: self.position,
            });
            self.forget_oldest();
        }
        self.next = data.end();
        self.position += data.count - late;
    }

    /// How many of the segments begin below NextExp.
    fn late_in(&self, data: &Data) -> u64 {
        match self.next.saturating_sub(data.start) {
            ..=0 => 0,
            _ if data.at(data.count.saturating_sub(1)) < self.next => data.count,
            below => (below as u64)
                .div_ceil(u64::from(data.len.max(1)))
                .min(data.count),
        }
    }

    fn late(&mut self, start: i64, end: i64) {
        self.reordered += 1;
        let i = self.first_above(start);
        let gap = self.gaps.get(i).copied().filter(|gap| gap.start < end);
        if gap.is_some() {
            self.cut(i, start, end);
        }
        // Gaps forgotten before that one were opened before it, too.
        let forgotten = self.forgotten.filter(|gap| start < gap.end);
        if let Some(gap) = gap.or(forgotten) {
            let extent = self.position.saturating_sub(gap.opened_at);
            self.max_extent = self.max_extent.max(extent);
        }
    }

    /// The first gap that ends above `start`: mostly there is only one.
    #[inline]
    fn first_above(&self, start: i64) -> usize {
        match self.gaps.front() {
            Some(gap) if gap.end <= start => self.gaps.partition_point(|gap| gap.end <= start),
            _ => 0,
        }
    }

    /// Takes `start..end` out of gap `i`.
    fn cut(&mut self, i: usize, start: i64, end: i64) {
        let Some(gap) = self.gaps.get_mut(i) else {
            return;
        };
        let rest = Gap { start: end, ..*gap };
        match (gap.start < start, end < gap.end) {
            (true, true) => {
                gap.end = start;
                self.gaps.insert(i + 1, rest);
                self.forget_oldest();
            }
            (true, false) => gap.end = start,
            (false, true) => *gap = rest,
            (false, false) => {
                self.gaps.remove(i);
            }
        }
    }

    /// One gap more than are remembered: a new one, or one that late data has cut in two.
    fn forget_oldest(&mut self) {
        if self.gaps.len() > MAX_GAPS_REMEMBERED {
            self.forgotten = self.gaps.pop_front();
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.next == other.next
            && self.position == other.position
            && self.gaps == other.gaps
            && self.forgotten == other.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wide gap, of which late data comes from the middle of what is left: each cuts a gap in two.
    #[test]
    fn late_data_that_cuts_gaps_does_not_make_them_any_number() {
        let data = |start: i64| Data {
            start,
            len: 1,
            retransmission: false,
            count: 1,
        };
        let mut originals = Originals::default();
        originals.deliver(&data(0));
        originals.deliver(&data(100_000));
        for n in 1..10_000 {
            originals.deliver(&data(100_000 - 3 * n));
        }
        assert_eq!(originals.gaps.len(), MAX_GAPS_REMEMBERED);
        assert_eq!((originals.reordered, originals.max_extent), (9_999, 9_999));
    }
}
