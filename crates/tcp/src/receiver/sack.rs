//! The order in which a receiver reports its blocks (RFC 2018 section 4): first the block with the segment that
//! triggers the acknowledgement, then the blocks most recently reported.

use crate::seq::Seq;

/// Number of blocks remembered; the option has room for at most four.
const CAPACITY: usize = 4;

/// The most recent blocks, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SackList {
    blocks: [(Seq, Seq); CAPACITY],
    count: usize,
}

impl SackList {
    pub(super) fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..self.count]
    }

    /// `block` has just grown or appeared: it becomes the first one, and blocks that it contains are removed.
    pub(super) fn report(&mut self, block: (Seq, Seq)) {
        let mut next = block;
        let mut kept = 0;
        for at in 0..self.count {
            let old = self.blocks[at];
            if old.0 >= block.0 && old.1 <= block.1 {
                continue;
            }
            self.blocks[kept] = next;
            next = old;
            kept += 1;
        }
        if kept < CAPACITY {
            self.blocks[kept] = next;
            kept += 1;
        }
        self.count = kept;
    }

    /// Index of the first block that `block` touches, or the number of blocks.
    pub(super) fn place(&self, block: (Seq, Seq)) -> usize {
        let touches = |old: &(Seq, Seq)| block.0 <= old.1 && old.0 <= block.1;
        let found = self.as_slice().iter().position(touches);
        found.unwrap_or(self.count)
    }

    /// Everything below `floor` is acknowledged.
    pub(super) fn advance(&mut self, floor: Seq) {
        let mut kept = 0;
        for at in 0..self.count {
            let block = self.blocks[at];
            if block.1 > floor {
                self.blocks[kept] = block;
                kept += 1;
            }
        }
        self.count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Similar to RFC 2018 section 4, case 3: every other segment of 500 bytes from 5000 on is lost.
    #[test]
    fn the_newest_block_comes_first() {
        let mut list = SackList::default();
        list.report((5500, 6000));
        list.report((6500, 7000));
        list.report((7500, 8000));
        assert_eq!(list.as_slice(), [(7500, 8000), (6500, 7000), (5500, 6000)]);
        // The fourth segment arrives late: it joins two blocks, and the joined block is first.
        list.report((6500, 8000));
        assert_eq!(list.as_slice(), [(6500, 8000), (5500, 6000)]);
        list.advance(6000);
        assert_eq!(list.as_slice(), [(6500, 8000)]);
    }

    #[test]
    fn a_fifth_block_pushes_out_the_oldest() {
        let mut list = SackList::default();
        for i in 0..5 {
            list.report((10 * i, 10 * i + 5));
        }
        assert_eq!(list.as_slice(), [(40, 45), (30, 35), (20, 25), (10, 15)]);
    }
}
