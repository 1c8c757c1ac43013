//! Sequence numbers without the wrap: 32-bit numbers to signed 64-bit stream offsets.

/// Turns sequence numbers of one direction into byte offsets from its first data byte.
///
/// A number is read as the offset nearest to the highest one seen (RFC 1982 arithmetic), so a
/// capture may start anywhere and run for any number of wraps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwrapper {
    base: u32,
    high: i64,
}

impl Unwrapper {
    /// `base` is the sequence number of offset 0.
    pub(crate) fn new(base: u32) -> Self {
        Unwrapper { base, high: 0 }
    }

    /// The offset of `seq`.
    #[inline]
    pub(crate) fn offset(&self, seq: u32) -> i64 {
        let high_seq = self.base.wrapping_add(self.high as u32);
        self.high + i64::from(seq.wrapping_sub(high_seq) as i32)
    }

    /// Data up to `offset` has been seen: later numbers are read near it.
    #[inline]
    pub(crate) fn advance(&mut self, offset: i64) {
        self.high = self.high.max(offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_two_wraps_and_read_backwards() {
        let mut u = Unwrapper::new(0xffff_ff00);
        let mut expected = 0i64;
        for step in 0..20u32 {
            let seq = 0xffff_ff00u32.wrapping_add(step.wrapping_mul(0x2000_0000));
            assert_eq!(u.offset(seq), expected);
            u.advance(expected);
            assert_eq!(u.offset(seq.wrapping_sub(1448)), expected - 1448);
            expected += 0x2000_0000;
        }
    }
}
