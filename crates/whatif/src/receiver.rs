//! The receiver behind a card.

use std::collections::VecDeque;

use crate::runs::Data;

/// Ranges above a hole remembered; beyond, the oldest hole counts as closed.
const MAX_RANGES_ABOVE_HOLE: usize = 1024;
/// The largest window (RFC 7323 section 2.3): a hole farther back than this has been closed by
/// something that was not captured.
const MAX_WINDOW: i64 = 1 << 30;

/// What a receiver has, copies and all, and the duplicate acknowledgements it sends.
///
/// Mostly there is one hole at most, so the highest range is kept apart from the others.
#[derive(Clone, Default, Debug)]
pub(crate) struct Receiver {
    /// The left edge: RCV.NXT of RFC 9293.
    next: i64,
    /// Where the highest range begins, if there is a hole.
    high: i64,
    /// End of the highest data: the left edge, if there is no hole.
    top: i64,
    /// The other ranges above the left edge, ascending, apart from each other.
    below: VecDeque<(i64, i64)>,
    /// One for each segment that arrives above the left edge (RFC 5681 section 4.2); see also
    /// [`Receiver::skip_to`].
    pub(crate) dupacks: u64,
}

heap!(Receiver: below);

impl Receiver {
    pub(crate) fn feed(&mut self, stretch: &[Data]) {
        stretch.iter().for_each(|data| self.deliver(data));
    }

    /// End of the highest data.
    #[inline]
    pub(crate) fn top(&self) -> i64 {
        self.top
    }

    /// Data in order has come, up to `next`. Above a hole it would be answered with duplicate
    /// acknowledgements; they are not counted, for they are the same sorted and unsorted.
    #[inline]
    pub(crate) fn skip_to(&mut self, next: i64) {
        if !self.has_hole() {
            self.next = next;
        }
        self.top = next;
        self.give_up(next);
    }

    /// The receiver has said that it has everything below `una`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, una: i64) {
        if self.has_hole() && una > self.next {
            self.next = una.min(self.top);
            self.absorb();
        }
    }

    #[inline]
    pub(crate) fn deliver(&mut self, data: &Data) {
        let end = data.end();
        if data.start <= self.next {
            self.next = self.next.max(end);
            self.absorb();
            return;
        }
        self.dupacks += data.count;
        if data.start > self.top {
            if self.has_hole() {
                self.below.push_back((self.high, self.top));
            }
            (self.high, self.top) = (data.start, end);
        } else if data.start >= self.high {
            self.top = self.top.max(end);
        } else {
            self.insert(data.start, end);
        }
        self.give_up(end);
    }

    /// Takes over what `other` has, but not the count.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        (self.next, self.high, self.top) = (other.next, other.high, other.top);
        self.below.clone_from(&other.below);
    }

    /// What is delivered next means the same to `other`, whatever the count so far.
    #[inline]
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.next, self.top) == (other.next, other.top)
            && (!self.has_hole() || (self.high == other.high && self.below == other.below))
    }

    /// Everything below `next` has come, and nothing above.
    pub(crate) fn is_complete(&self, next: i64) -> bool {
        self.next == next && self.top == next
    }

    #[inline]
    fn has_hole(&self) -> bool {
        self.next < self.top
    }

    /// Gives up holes that are too far below `end`, or too many.
    #[inline]
    fn give_up(&mut self, end: i64) {
        let too_far = end.saturating_sub(self.next) > MAX_WINDOW;
        if too_far || self.below.len() >= MAX_RANGES_ABOVE_HOLE {
            self.close_first();
        }
    }

    #[cold]
    fn close_first(&mut self) {
        if self.has_hole() {
            self.next = self.below.front().map_or(self.high, |range| range.0);
            self.absorb();
        }
    }

    /// Moves the left edge over what has been received above it.
    #[inline]
    fn absorb(&mut self) {
        while let Some(&(start, end)) = self.below.front()
            && start <= self.next
        {
            self.next = self.next.max(end);
            self.below.pop_front();
        }
        if self.high <= self.next {
            self.next = self.next.max(self.top);
        }
        // Only the highest range is as high as that.
        self.top = self.top.max(self.next);
    }

    /// Data that begins above the left edge and below the highest range.
    #[inline(never)]
    fn insert(&mut self, start: i64, end: i64) {
        if end >= self.high {
            (self.high, self.top) = (start, self.top.max(end));
            while let Some(&(below, reach)) = self.below.back()
                && reach >= self.high
            {
                self.high = self.high.min(below);
                self.below.pop_back();
            }
            return;
        }
        let first = self.below.partition_point(|range| range.1 < start);
        let mut merged = (start, end);
        while let Some(&range) = self.below.get(first)
            && range.0 <= end
        {
            merged = (merged.0.min(range.0), merged.1.max(range.1));
            self.below.remove(first);
        }
        self.below.insert(first, merged);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES: usize = 120;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Deliver { start: i64, len: u32, count: u64 },
        Acknowledged(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let deliver = (0i64..80, 1u32..6, 1u64..8);
        let step = prop_oneof![
            9 => deliver.prop_map(|(start, len, count)| Step::Deliver { start, len, count }),
            1 => (0i64..120).prop_map(Step::Acknowledged),
        ];
        prop::collection::vec(step, 0..60)
    }

    /// Byte by byte.
    #[derive(Default)]
    struct Twin {
        has: Vec<bool>,
        dupacks: u64,
    }

    impl Twin {
        fn next(&self) -> i64 {
            self.has.iter().position(|has| !has).unwrap_or(0) as i64
        }

        fn top(&self) -> i64 {
            self.has.iter().rposition(|has| *has).map_or(0, |i| i + 1) as i64
        }

        fn step(&mut self, step: Step) {
            match step {
                Step::Deliver { start, len, count } => {
                    for i in 0..count as i64 {
                        let start = start + i * i64::from(len);
                        self.dupacks += u64::from(start > self.next());
                        self.has[start as usize..][..len as usize].fill(true);
                    }
                }
                // A receiver that has no hole has more than it has said.
                Step::Acknowledged(una) => {
                    let below = una.min(self.top()) as usize;
                    self.has[..below].fill(true);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_bytes(steps in steps()) {
            let mut receiver = Receiver::default();
            let mut twin = Twin { has: vec![false; BYTES], dupacks: 0 };
            for step in steps {
                twin.step(step);
                match step {
                    Step::Deliver { start, len, count } => {
                        receiver.deliver(&Data { start, len, retransmission: false, count });
                    }
                    Step::Acknowledged(una) => receiver.acknowledged(una),
                }
                let told = (receiver.next, receiver.top(), receiver.dupacks);
                prop_assert_eq!(told, (twin.next(), twin.top(), twin.dupacks));
            }
        }

        #[test]
        fn the_same_data_in_any_order_make_receivers_alike(
            data in prop::collection::vec((0i64..80, 1u32..6), 0..30),
            turn in any::<prop::sample::Index>(),
        ) {
            let receive = |data: &[(i64, u32)]| {
                let mut receiver = Receiver::default();
                for &(start, len) in data {
                    receiver.deliver(&Data { start, len, retransmission: false, count: 1 });
                }
                receiver
            };
            let mut turned = data.clone();
            turned.rotate_left(if data.is_empty() { 0 } else { turn.index(data.len()) });
            let (one, mut other) = (receive(&data), receive(&turned));
            prop_assert!(one.is_like(&other));
            other.copy_from(&one);
            prop_assert!(one.is_like(&other));
            other.deliver(&Data { start: 100, len: 1, retransmission: false, count: 1 });
            prop_assert!(!one.is_like(&other));
        }
    }
}
