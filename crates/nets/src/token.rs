//! Tokens at run time: the fields of a record in words of 32 bits.

/// A token of at most `N` words. Narrow fields have one word, 64-bit fields two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Token<const N: usize>([u32; N]);

impl<const N: usize> Default for Token<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Token<N> {
    #[inline]
    pub(crate) fn word(&self, at: usize) -> u32 {
        self.0[at]
    }

    #[inline]
    pub(crate) fn set_word(&mut self, at: usize, value: u32) {
        self.0[at] = value;
    }

    /// The 64 bits from this word on.
    #[inline]
    pub(crate) fn wide(&self, at: usize) -> i64 {
        (u64::from(self.0[at]) | u64::from(self.0[at + 1]) << 32).cast_signed()
    }

    #[inline]
    pub(crate) fn set_wide(&mut self, at: usize, value: i64) {
        let bits = value.cast_unsigned();
        self.0[at] = bits as u32;
        self.0[at + 1] = (bits >> 32) as u32;
    }
}
