//! Lists of numbers that differ little from one to the next, in few bytes.
//!
//! A number is written as seven bits to a byte, the lowest first; the eighth says that more follow (LEB128, as in DWARF 5
//! section 7.6). Signed numbers are interleaved before, so that small ones are short whatever their sign.

use crate::heap;

/// Room is made for this part more at a time: most lists end soon.
const GROWTH_PART: usize = 4;
/// Least room that is made, bytes.
const MIN_GROWTH: usize = 24;

/// Signed numbers interleaved, so that small ones are short whatever their sign.
#[inline]
pub fn folded(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

/// What [`folded`] was given.
#[inline]
pub fn unfolded(folded: u64) -> i64 {
    (folded >> 1 ^ (folded & 1).wrapping_neg()).cast_signed()
}

/// Numbers that were written one behind the other.
///
/// ```
/// use inorder_base::packed::{Draft, Packed};
///
/// let (mut packed, mut draft) = (Packed::default(), Draft::<20>::default());
/// [7, -8].into_iter().for_each(|number| draft.push(number));
/// packed.reserve(20);
/// packed.push(&draft);
/// assert!(packed.numbers().eq([7, -8]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Packed {
    bytes: Vec<u8>,
}

heap!(Packed: bytes);

impl Packed {
    /// Makes room for `bytes` more, and for few beyond.
    #[inline]
    pub fn reserve(&mut self, bytes: usize) {
        if self.bytes.capacity() - self.bytes.len() < bytes {
            let more = (self.bytes.len() / GROWTH_PART).max(MIN_GROWTH);
            self.bytes.reserve_exact(more.max(bytes));
        }
    }

    /// Appends the numbers of a draft.
    #[inline]
    pub fn push<const N: usize>(&mut self, draft: &Draft<N>) {
        self.bytes.extend_from_slice(&draft.bytes[..draft.len]);
    }

    /// The numbers in their order.
    #[inline]
    pub fn numbers(&self) -> Numbers<'_> {
        Numbers { left: &self.bytes }
    }
}

/// Numbers in at most `N` bytes that are written down together: a list looks for room at every byte.
#[derive(Debug)]
pub struct Draft<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Default for Draft<N> {
    #[inline]
    fn default() -> Self {
        Draft {
            bytes: [0; N],
            len: 0,
        }
    }
}

impl<const N: usize> Draft<N> {
    /// Writes a number behind the others. It takes ten bytes at most; the draft must have room for it.
    #[inline]
    pub fn push(&mut self, number: i64) {
        let mut left = folded(number);
        while left > 0x7f {
            self.push_byte(left as u8 | 0x80);
            left >>= 7;
        }
        self.push_byte(left as u8);
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }
}

/// Reads what was written.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    left: &'a [u8],
}

impl Iterator for Numbers<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        let (&first, mut left) = self.left.split_first()?;
        let (mut byte, mut bits, mut shift) = (first, u64::from(first & 0x7f), 0);
        while byte & 0x80 != 0 {
            (byte, left) = left.split_first().map(|(byte, left)| (*byte, left))?;
            shift += 7;
            bits |= u64::from(byte & 0x7f) << shift;
        }
        self.left = left;
        Some(unfolded(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_out_as_they_went_in(
            numbers in prop::collection::vec(prop_oneof![any::<i64>(), -70i64..70], 0..40),
        ) {
            let mut packed = Packed::default();
            for &number in &numbers {
                let mut draft = Draft::<10>::default();
                draft.push(number);
                packed.reserve(10);
                packed.push(&draft);
            }
            prop_assert!(packed.numbers().eq(numbers.iter().copied()));
        }
    }

    #[test]
    fn small_numbers_take_a_byte() {
        let (mut packed, mut draft) = (Packed::default(), Draft::<148>::default());
        (-64..64).for_each(|number| draft.push(number));
        assert_eq!(draft.len, 128);
        draft.push(i64::MIN);
        draft.push(i64::MAX);
        assert_eq!(draft.len, 148);
        packed.push(&draft);
        assert_eq!(packed.numbers().last(), Some(i64::MAX));
    }
}
