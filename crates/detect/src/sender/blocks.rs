//! The SACK blocks of one acknowledgement.

use inorder_base::sequence::Offsets;
use inorder_wire::{MAX_SACK_BLOCKS, Segment};

/// The blocks as offsets, in their order: converted once, because an acknowledgement is looked at in many ways.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Apart, because of pairs the compiler converts both at once, which takes longer.
    left: [i64; MAX_SACK_BLOCKS],
    right: [i64; MAX_SACK_BLOCKS],
    len: usize,
}

impl Blocks {
    #[inline]
    pub(super) fn of(seg: &Segment, unwrap: &Offsets) -> Self {
        let (mut left, mut right) = ([0; MAX_SACK_BLOCKS], [0; MAX_SACK_BLOCKS]);
        let listed = seg.sack_blocks();
        let len = listed.len();
        for nth in 0..len.min(MAX_SACK_BLOCKS) {
            left[nth] = unwrap.offset(listed[nth].0);
            right[nth] = unwrap.offset(listed[nth].1);
        }
        Blocks { left, right, len }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, nth: usize) -> Option<(i64, i64)> {
        let left = self.left.get(nth).filter(|_| nth < self.len)?;
        Some((*left, self.right[nth]))
    }

    #[inline]
    pub(super) fn first(&self) -> Option<(i64, i64)> {
        self.get(0)
    }

    #[inline]
    pub(super) fn any(&self, mut is: impl FnMut((i64, i64)) -> bool) -> bool {
        (0..self.len.min(MAX_SACK_BLOCKS)).any(|nth| is((self.left[nth], self.right[nth])))
    }

    /// Where the lowest begins of those above `at`.
    pub(super) fn lowest_above(&self, at: i64) -> Option<i64> {
        let left = self.left.get(..self.len).unwrap_or_default().iter();
        left.copied().filter(|left| *left > at).min()
    }

    /// One past the highest byte in any of them; the lowest number if there are none.
    #[inline]
    pub(super) fn top(&self) -> i64 {
        let right = self.right.get(..self.len).unwrap_or_default();
        right.iter().fold(i64::MIN, |top, right| top.max(*right))
    }
}
