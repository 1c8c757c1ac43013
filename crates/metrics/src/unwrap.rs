//! From wrapping sequence numbers to numbers that only grow (RFC 1982).

/// The largest number the metrics accept; above it a packet is counted as ignored.
///
/// Half of the `u64` space, so that every difference of two numbers fits an `i64`.
pub const MAX_SEQ: u64 = (1 << 63) - 1;

/// How many of `n` numbers from `first` on are accepted.
#[inline]
pub(crate) fn accepted(first: u64, n: u64) -> u64 {
    n.min((MAX_SEQ + 1).saturating_sub(first))
}

/// Extends wrapping sequence numbers to `u64`.
///
/// A number is taken to lie within half the space of the highest seen so far, as RFC 1982
/// section 3.2 compares serial numbers. The distance of exactly half the space, undefined
/// there, is read as "older". The first number is placed one whole space above zero, so
/// that numbers just before it stay representable.
///
/// ```
/// use inorder_metrics::Unwrapper;
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
        let space = 1u64 << self.bits;
        let raw = raw & (space - 1);
        let Some(highest) = self.highest else {
            self.highest = Some(space + raw);
            return space + raw;
        };
        // Shifting the difference to the top lets the arithmetic shift back extend its sign.
        let unused = 64 - self.bits;
        let delta = (raw.wrapping_sub(highest) << unused) as i64 >> unused;
        let extended = highest.wrapping_add_signed(delta);
        if delta > 0 {
            self.highest = Some(extended);
        }
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1982 section 3.2 for 8-bit numbers: who is greater than whom.
    #[test]
    fn eight_bit_comparisons() {
        for (low, high) in [(0, 1), (0, 44), (0, 100), (44, 100), (100, 200), (200, 255)] {
            let mut up = Unwrapper::new(8).unwrap();
            let first = up.extend(low);
            assert_eq!(up.extend(high), first + (high - low));
            let mut down = Unwrapper::new(8).unwrap();
            let first = down.extend(high);
            assert_eq!(down.extend(low), first - (high - low));
        }
        let mut wraps = Unwrapper::new(8).unwrap();
        let first = wraps.extend(255);
        assert_eq!(wraps.extend(0), first + 1);
        assert_eq!(wraps.extend(44), first + 45);
        assert_eq!(wraps.extend(255), first);
    }

    /// An old number arriving late does not move the point of reference.
    #[test]
    fn the_highest_number_is_the_reference() {
        let mut seq = Unwrapper::new(8).unwrap();
        let first = seq.extend(0);
        let found = [100, 0, 200].map(|raw| seq.extend(raw) - first);
        assert_eq!(found, [100, 0, 200]);
    }

    #[test]
    fn widths() {
        assert_eq!(Unwrapper::new(0), None);
        assert_eq!(Unwrapper::new(65), None);
        let mut whole = Unwrapper::new(64).unwrap();
        assert_eq!(whole.extend(u64::MAX), u64::MAX);
        assert_eq!(whole.extend(0), 0);
    }

    #[test]
    fn many_turns_of_the_space() {
        let mut seq = Unwrapper::new(16).unwrap();
        let first = seq.extend(7);
        for step in 1..1_000_000u64 {
            assert_eq!(seq.extend((7 + step) & 0xffff), first + step);
        }
    }
}
