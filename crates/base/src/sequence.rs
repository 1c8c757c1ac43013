//! Sequence numbers that wrap, extended to 64-bit numbers that do not (RFC 1982).
//!
//! A number is assumed to lie within half the sequence space of a reference, as RFC 1982 section 3.2 compares serial
//! numbers. A distance of exactly half the space, undefined there, counts as "older". Everything here applies this
//! one rule, [`nearest`], with different references:
//!
//! | reference | function or type |
//! |---|---|
//! | given by the caller | [`nearest`] |
//! | the highest number so far, of any width | [`Unwrapper`] |
//! | the highest offset reported by the caller, 32 bits | [`Offsets`] |

/// The 64-bit number nearest to `reference` whose low `bits` bits equal those of `number`; 1 to 64 bits. Higher bits
/// of `number` are ignored.
///
/// ```
/// use inorder_base::sequence::nearest;
///
/// let reference = (1 << 32) | 0xffff_fffe;
/// assert_eq!(nearest(reference, 3, 32), (2 << 32) | 3);
/// assert_eq!(nearest(reference, 0xffff_0000, 32), (1 << 32) | 0xffff_0000);
/// ```
#[inline(always)]
pub const fn nearest(reference: u64, number: u64, bits: u32) -> u64 {
    // Shifting the difference to the top lets the arithmetic shift back extend its sign.
    let unused = 64 - bits;
    let delta = (number.wrapping_sub(reference) << unused).cast_signed() >> unused;
    reference.wrapping_add_signed(delta)
}

/// Extends numbers of any width, each near the highest one so far.
///
/// The first number is placed one whole space above zero, so that numbers just before it stay representable.
///
/// ```
/// use inorder_base::sequence::Unwrapper;
///
/// let mut seq = Unwrapper::new(16).unwrap();
/// let first = seq.extend(65_535);
/// assert_eq!(seq.extend(0), first + 1);
/// assert_eq!(seq.extend(65_534), first - 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwrapper {
    bits: u32,
    highest: Option<u64>,
}

impl Unwrapper {
    /// For numbers of `bits` width, 1 to 64; `None` for other widths.
    ///
    /// With 64 bits nothing wraps and [`extend`](Self::extend) is the identity.
    pub fn new(bits: u32) -> Option<Self> {
        (1..=64).contains(&bits).then_some(Unwrapper {
            bits,
            highest: None,
        })
    }

    /// The number `raw` stands for; bits of `raw` above the width are ignored.
    #[inline]
    pub fn extend(&mut self, raw: u64) -> u64 {
        if self.bits == 64 {
            return raw;
        }
        let Some(highest) = self.highest else {
            let space = 1u64 << self.bits;
            let first = space + (raw & (space - 1));
            self.highest = Some(first);
            return first;
        };
        let extended = nearest(highest, raw, self.bits);
        // Compared by distance, because numbers below the first one may wrap below zero.
        if extended.wrapping_sub(highest).cast_signed() > 0 {
            self.highest = Some(extended);
        }
        extended
    }
}

/// Converts the 32-bit sequence numbers of a byte stream to offsets from its first byte.
///
/// ```
/// use inorder_base::sequence::Offsets;
///
/// let mut stream = Offsets::new(0xffff_ff00);
/// assert_eq!(stream.offset(0x0000_0100), 512);
/// stream.advance(512);
/// assert_eq!(stream.offset(0xffff_fe00), -256);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offsets {
    base: u32,
    high: i64,
}

impl Offsets {
    /// `base` is the sequence number of offset 0.
    pub const fn new(base: u32) -> Self {
        Offsets { base, high: 0 }
    }

    /// The offset of `seq`, negative before the first byte: the one nearest to the highest known.
    #[inline]
    pub const fn offset(&self, seq: u32) -> i64 {
        let from_base = seq.wrapping_sub(self.base) as u64;
        nearest(self.high.cast_unsigned(), from_base, u32::BITS).cast_signed()
    }

    /// The highest offset reported.
    #[inline]
    pub const fn highest(&self) -> i64 {
        self.high
    }

    /// Reports that data up to `offset` was seen: later numbers are read as near to it.
    #[inline]
    pub fn advance(&mut self, offset: i64) {
        self.high = self.high.max(offset);
    }
}
