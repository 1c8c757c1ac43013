//! What reaches the stack behind one card.

use super::delivered::{Delivered, Receiver};
use super::runs::is_sorted;
use super::sorters::Sorters;

/// The orders in which one card delivers: unsorted, and sorted in blocks of each size.
#[derive(Debug)]
pub(super) struct Stack {
    unsorted: Receiver,
    /// For each block size; one for all as long as it makes no difference.
    sorted: Vec<Delivered>,
}

/// What sorting has left.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Left {
    pub(super) reordered: u64,
    pub(super) max_extent: u32,
    pub(super) dupacks_saved: u64,
}

impl Default for Stack {
    fn default() -> Self {
        Stack {
            unsorted: Receiver::default(),
            sorted: vec![Delivered::default()],
        }
    }
}

impl Stack {
    /// Delivers what the sorters have been given, up to which nothing is held: one batch, or a
    /// part of one.
    pub(super) fn deliver(&mut self, sorters: &mut Sorters) {
        let unsorted = sorters.unsorted();
        self.unsorted.feed(unsorted);
        if is_sorted(unsorted) {
            for delivered in &mut self.sorted {
                delivered.feed(unsorted);
            }
            return;
        }
        if let [one] = self.sorted.as_slice()
            && !sorters.is_one_block()
        {
            self.sorted = vec![one.clone(); sorters.len()];
        }
        for (n, delivered) in self.sorted.iter_mut().enumerate() {
            delivered.feed(sorters.sorted(n));
        }
    }

    /// The delivered order is that of the arrivals up to `next`, with so many originals.
    pub(super) fn skip_to(&mut self, next: i64, originals: u64) {
        self.unsorted.skip_to(next);
        for delivered in &mut self.sorted {
            delivered.skip_to(next, originals);
        }
    }

    /// The receiver has said that it has everything below `una`.
    pub(super) fn acknowledged(&mut self, una: i64) {
        self.unsorted.acknowledged(una);
        for delivered in &mut self.sorted {
            delivered.receiver.acknowledged(una);
        }
    }

    /// An original that begins at `next` means the same to all: the highest data ends there.
    pub(super) fn is_level(&self, next: i64) -> bool {
        self.unsorted.top() == next && self.sorted.iter().all(|d| d.is_level(next))
    }

    /// With the block size of this number.
    pub(super) fn left(&self, b: usize) -> Left {
        let Some(sorted) = self.sorted.get(b).or(self.sorted.first()) else {
            return Left::default();
        };
        Left {
            reordered: sorted.originals.reordered,
            max_extent: u32::try_from(sorted.originals.max_extent).unwrap_or(u32::MAX),
            dupacks_saved: self
                .unsorted
                .dupacks
                .saturating_sub(sorted.receiver.dupacks),
        }
    }
}
