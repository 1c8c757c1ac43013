//! Data in the order it reaches the stack: how much of it is reordered, and which duplicate
//! acknowledgements the receiver sends.

use std::collections::VecDeque;

use super::runs::Data;

/// Gaps between originals remembered; of an original later than that only a lower bound of its
/// extent is known.
const MAX_GAPS: usize = 1024;
/// Ranges above a hole remembered; beyond, the oldest hole counts as closed.
const MAX_RANGES: usize = 1024;
/// The largest window (RFC 7323 section 2.3): a hole farther back than this has been closed by
/// something that was not captured.
const MAX_WINDOW: i64 = 1 << 30;

/// Both views of one delivered order.
#[derive(Clone, Default, Debug)]
pub(super) struct Delivered {
    pub(super) originals: Originals,
    pub(super) receiver: Receiver,
}

impl Delivered {
    pub(super) fn feed(&mut self, stretch: &[Data]) {
        for data in stretch {
            if !data.retransmission {
                self.originals.deliver(data);
            }
            self.receiver.deliver(data);
        }
    }

    /// Nothing but originals in order, up to `next`; so many have there been in all.
    pub(super) fn skip_to(&mut self, next: i64, originals: u64) {
        self.originals.next = next;
        self.originals.position = originals;
        self.receiver.skip_to(next);
    }

    /// The highest data is an original and ends at `next`.
    pub(super) fn is_level(&self, next: i64) -> bool {
        self.originals.next == next && self.receiver.top() == next
    }
}

/// Reordering of the originals (RFC 4737).
#[derive(Clone, Default, Debug)]
pub(super) struct Originals {
    /// NextExp of section 3.
    next: i64,
    /// Originals delivered.
    position: u64,
    gaps: VecDeque<Gap>,
    /// The last gap that was forgotten.
    forgotten: Option<Gap>,
    pub(super) reordered: u64,
    pub(super) max_extent: u64,
}

/// Originals not delivered, below one that was.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: i64,
    end: i64,
    /// Position of the first original above it.
    opened_at: u64,
}

impl Originals {
    fn deliver(&mut self, data: &Data) {
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
            if self.gaps.len() >= MAX_GAPS {
                self.forgotten = self.gaps.pop_front();
            }
            self.gaps.push_back(Gap {
                start: self.next,
                end: start,
                opened_at: self.position,
            });
        }
        self.next = data.end();
        self.position += data.count - late;
    }

    /// How many of the segments begin below NextExp.
    fn late_in(&self, data: &Data) -> u64 {
        match self.next.saturating_sub(data.start) {
            ..=0 => 0,
            below => (below as u64)
                .div_ceil(u64::from(data.len.max(1)))
                .min(data.count),
        }
    }

    fn late(&mut self, start: i64, end: i64) {
        self.reordered += 1;
        let i = self.gaps.partition_point(|gap| gap.end <= start);
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
            }
            (true, false) => gap.end = start,
            (false, true) => *gap = rest,
            (false, false) => {
                self.gaps.remove(i);
            }
        }
    }
}

/// What a receiver has, copies and all, and the duplicate acknowledgements it sends.
#[derive(Clone, Default, Debug)]
pub(super) struct Receiver {
    /// The left edge: RCV.NXT of RFC 9293.
    next: i64,
    /// Data received above, ascending, apart from each other.
    ranges: VecDeque<(i64, i64)>,
    /// One for each segment that arrives above the left edge (RFC 5681 section 4.2); see also
    /// [`Receiver::skip_to`].
    pub(super) dupacks: u64,
}

impl Receiver {
    pub(super) fn feed(&mut self, stretch: &[Data]) {
        stretch.iter().for_each(|data| self.deliver(data));
    }

    /// End of the highest data.
    pub(super) fn top(&self) -> i64 {
        self.ranges.back().map_or(self.next, |range| range.1)
    }

    /// Data in order has come, up to `next`. Above a hole it would be answered with duplicate
    /// acknowledgements; they are not counted, for they are the same sorted and unsorted.
    pub(super) fn skip_to(&mut self, next: i64) {
        match self.ranges.back_mut() {
            Some(range) => range.1 = next,
            None => self.next = next,
        }
        self.give_up(next);
    }

    /// The receiver has said that it has everything below `una`.
    pub(super) fn acknowledged(&mut self, una: i64) {
        if let Some(&(_, top)) = self.ranges.back()
            && una > self.next
        {
            self.next = una.min(top);
            self.absorb();
        }
    }

    fn deliver(&mut self, data: &Data) {
        if data.start <= self.next {
            self.next = self.next.max(data.end());
            self.absorb();
            return;
        }
        self.dupacks += data.count;
        self.insert(data.start, data.end());
        self.give_up(data.end());
    }

    /// Gives up holes that are too far below `end`, or too many.
    fn give_up(&mut self, end: i64) {
        let too_far = end.saturating_sub(self.next) > MAX_WINDOW;
        if too_far || self.ranges.len() > MAX_RANGES {
            self.next = self.ranges.front().map_or(self.next, |range| range.0);
            self.absorb();
        }
    }

    /// Moves the left edge over what has been received above it.
    fn absorb(&mut self) {
        while let Some(&(start, end)) = self.ranges.front()
            && start <= self.next
        {
            self.next = self.next.max(end);
            self.ranges.pop_front();
        }
    }

    fn insert(&mut self, start: i64, end: i64) {
        // Mostly it continues the highest range.
        if let Some(last) = self.ranges.back_mut()
            && last.0 <= start
            && start <= last.1
        {
            last.1 = last.1.max(end);
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < start);
        let mut merged = (start, end);
        while let Some(&range) = self.ranges.get(first)
            && range.0 <= end
        {
            merged = (merged.0.min(range.0), merged.1.max(range.1));
            self.ranges.remove(first);
        }
        self.ranges.insert(first, merged);
    }
}
