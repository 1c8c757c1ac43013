//! Lists of numbers that differ little from one to the next, in few bytes.
//!
//! A number is written as seven bits to a byte, the lowest first; the eighth says that more follow (LEB128, as in DWARF 5
//! section 7.6). Signed numbers are interleaved before, so that small ones are short whatever their sign.

/// Room is made for this part more at a time: most lists end soon.
const GROWTH_PART: usize = 4;
/// Least room that is made, bytes.
const MIN_GROWTH: usize = 24;

/// Numbers that were written one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
}

heap!(Packed: bytes);

impl Packed {
    /// Makes room for `bytes` more, and for few beyond.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        if self.bytes.capacity() - self.bytes.len() < bytes {
            let more = (self.bytes.len() / GROWTH_PART).max(MIN_GROWTH);
            self.bytes.reserve_exact(more.max(bytes));
        }
    }

    pub(crate) fn push(&mut self, number: i64) {
        let mut left = ((number << 1) ^ (number >> 63)).cast_unsigned();
        while left > 0x7f {
            self.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.bytes.push(left as u8);
    }

    /// The numbers in their order.
    pub(crate) fn numbers(&self) -> Numbers<'_> {
        Numbers { left: &self.bytes }
    }
}

/// Reads what was written.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a> {
    left: &'a [u8],
}

impl Iterator for Numbers<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let end = 1 + self.left.iter().position(|byte| byte & 0x80 == 0)?;
        let (number, left) = self.left.split_at_checked(end)?;
        self.left = left;
        let bits = number
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 7 | u64::from(byte & 0x7f));
        Some((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
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
                packed.reserve(10);
                packed.push(number);
            }
            prop_assert!(packed.numbers().eq(numbers.iter().copied()));
        }
    }

    #[test]
    fn small_numbers_take_a_byte() {
        let mut packed = Packed::default();
        (-64..64).for_each(|number| packed.push(number));
        assert_eq!(packed.bytes.len(), 128);
        packed.push(i64::MIN);
        packed.push(i64::MAX);
        assert_eq!(packed.bytes.len(), 148);
        assert_eq!(packed.numbers().last(), Some(i64::MAX));
    }
}
