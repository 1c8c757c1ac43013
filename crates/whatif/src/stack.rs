//! What reaches the stack behind one card.

use crate::delivered::{Counted, Delivered};
use crate::receiver::Receiver;
use crate::runs::is_sorted;
use crate::sorters::Sorters;
use inorder_base::heap::{self, Heap};

/// The orders in which one card delivers: unsorted, and sorted in blocks of each size.
///
/// Once all of a stretch is delivered, its order hardly ever matters to what comes next: the orders
/// then go on as one, each with counts of its own.
#[derive(Debug)]
pub(crate) struct Stack {
    unsorted: Receiver,
    /// What `unsorted` has is kept in `unsorted`; else it is what the first of `sorted` has.
    apart: bool,
    /// For each block size, or one for all.
    sorted: Vec<Delivered>,
    /// What is not in the counts of `sorted`, for each block size.
    before: Vec<Counted>,
}

impl Heap for Stack {
    fn heap_bytes(&self) -> usize {
        let sorted = self.sorted.heap_bytes() + heap::sum(&self.sorted);
        self.unsorted.heap_bytes() + sorted + self.before.heap_bytes()
    }
}

/// What sorting has left.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Left {
    pub(crate) reordered: u64,
    pub(crate) max_extent: u32,
    pub(crate) dupacks_saved: u64,
}

impl Stack {
    pub(crate) fn new(block_sizes: usize) -> Self {
        Stack {
            unsorted: Receiver::default(),
            apart: false,
            sorted: vec![Delivered::default()],
            before: vec![Counted::default(); block_sizes],
        }
    }

    /// Delivers what the sorters have been given, up to which nothing is held: one batch, or a
    /// part of one.
    pub(crate) fn deliver(&mut self, sorters: &mut Sorters) {
        match self.sorted.as_mut_slice() {
            [one] if is_sorted(sorters.unsorted()) => {
                let before = one.receiver.dupacks;
                one.feed(sorters.unsorted());
                if self.apart {
                    self.unsorted.feed(sorters.unsorted());
                } else {
                    self.unsorted.dupacks += one.receiver.dupacks - before;
                }
            }
            _ => self.deliver_each(sorters),
        }
    }

    /// Delivers in every order by itself.
    fn deliver_each(&mut self, sorters: &mut Sorters) {
        if let [one] = self.sorted.as_mut_slice() {
            if !self.apart {
                self.unsorted.copy_from(&one.receiver);
            }
            if !sorters.is_one_block() {
                self.split(sorters.len());
            }
        }
        self.apart = true;
        self.unsorted.feed(sorters.unsorted());
        let in_order = is_sorted(sorters.unsorted());
        for (n, delivered) in self.sorted.iter_mut().enumerate() {
            match in_order {
                true => delivered.feed(sorters.unsorted()),
                false => delivered.feed(sorters.sorted(n)),
            }
        }
    }

    /// From now on the block sizes are followed each for itself.
    fn split(&mut self, block_sizes: usize) {
        if let [one] = self.sorted.as_mut_slice() {
            let counts = one.take_counts();
            self.before.iter_mut().for_each(|sum| sum.add(&counts));
            self.sorted = vec![one.clone(); block_sizes];
        }
    }

    /// Follows as one what has become alike.
    fn join(&mut self) {
        let Some((first, others)) = self.sorted.split_first_mut() else {
            return;
        };
        if !others.is_empty() && others.iter().all(|other| other.is_like(first)) {
            for (delivered, before) in self.sorted.iter_mut().zip(&mut self.before) {
                before.add(&delivered.take_counts());
            }
            self.sorted.truncate(1);
        }
        if let [one] = self.sorted.as_slice() {
            self.apart = !self.unsorted.is_like(&one.receiver);
        }
    }

    /// The delivered order is that of the arrivals up to `next`, which are `originals` originals.
    pub(crate) fn skip_to(&mut self, next: i64, originals: u64) {
        if self.apart {
            self.unsorted.skip_to(next);
        }
        for delivered in &mut self.sorted {
            delivered.skip_to(next, originals);
        }
    }

    /// The receiver has said that it has everything below `una`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, una: i64) {
        if self.apart {
            self.unsorted.acknowledged(una);
        }
        for delivered in &mut self.sorted {
            delivered.receiver.acknowledged(una);
        }
    }

    /// An original that begins at `next` means the same to all: the highest data ends there.
    pub(crate) fn is_level(&mut self, next: i64) -> bool {
        if self.apart {
            self.join();
        }
        (!self.apart || self.unsorted.top() == next) && self.sorted.iter().all(|d| d.is_level(next))
    }

    /// With the block size of this number.
    pub(crate) fn left(&self, b: usize) -> Left {
        let (Some(sorted), Some(before)) = (
            self.sorted.get(b).or(self.sorted.first()),
            self.before.get(b),
        ) else {
            return Left::default();
        };
        let mut counts = *before;
        counts.add(&sorted.counts());
        Left {
            reordered: counts.reordered,
            max_extent: u32::try_from(counts.max_extent).unwrap_or(u32::MAX),
            dupacks_saved: self.unsorted.dupacks.saturating_sub(counts.dupacks),
        }
    }
}
