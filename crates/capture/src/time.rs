//! Timestamps of a pcapng interface.

/// Valid capture times, nanoseconds since the Unix epoch: the years 1896 to 2116. The difference of any two fits in
/// 64 bits, so subtraction cannot overflow.
pub const TIMES_NS: std::ops::RangeInclusive<i64> = -(1 << 61)..=1 << 62;

/// Converts timestamps of an interface to nanoseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clock {
    scale: Scale,
    offset_ns: i128,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    /// One unit is this many nanoseconds.
    Times(u64),
    /// This many units are one nanosecond.
    Divide(u128),
    /// One unit is two to the power of minus this many seconds.
    Binary(u32),
}

impl Clock {
    /// From the options `if_tsresol` and `if_tsoffset` (seconds).
    pub(crate) fn new(tsresol: u8, tsoffset: i64) -> Clock {
        let exponent = u32::from(tsresol & 0x7f);
        let scale = match (tsresol & 0x80, exponent) {
            (0, 0..=9) => Scale::Times(10u64.pow(9 - exponent)),
            // Finer than 128 bits can represent: every 64-bit timestamp lies within the first nanosecond.
            (0, _) => Scale::Divide(10u128.checked_pow(exponent - 9).unwrap_or(u128::MAX)),
            _ => Scale::Binary(exponent),
        };
        Clock {
            scale,
            offset_ns: i128::from(tsoffset) * 1_000_000_000,
        }
    }

    /// Nanoseconds since the epoch; times outside [`TIMES_NS`] are clamped to its ends.
    #[inline]
    pub(crate) fn to_ns(self, units: u64) -> i64 {
        let ns = match self.scale {
            Scale::Times(factor) => u128::from(units) * u128::from(factor),
            Scale::Divide(divisor) => u128::from(units) / divisor,
            Scale::Binary(exponent) => (u128::from(units) * 1_000_000_000)
                .checked_shr(exponent)
                .unwrap_or(0),
        };
        // The product is below 2^94, so the sum cannot overflow an i128.
        let ns = ns as i128 + self.offset_ns;
        ns.clamp(i128::from(*TIMES_NS.start()), i128::from(*TIMES_NS.end())) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resolution_gives_the_same_second() {
        for (resolution, units) in [
            (0, 1),
            (3, 1_000),
            (6, 1_000_000),
            (9, 1_000_000_000),
            (12, 1_000_000_000_000),
            (18, 1_000_000_000_000_000_000),
            (0x80, 1),
            (0x80 | 10, 1024),
            (0x80 | 32, 1 << 32),
        ] {
            assert_eq!(
                Clock::new(resolution, 0).to_ns(units),
                1_000_000_000,
                "{resolution}"
            );
        }
    }

    #[test]
    fn the_offset_may_be_negative() {
        assert_eq!(Clock::new(6, -2).to_ns(500_000), -1_500_000_000);
    }

    #[test]
    fn nothing_overflows() {
        for resolution in 0..=255 {
            for offset in [i64::MIN, -1, 0, i64::MAX] {
                for units in [0, 1, u64::MAX] {
                    let _ = Clock::new(resolution, offset).to_ns(units);
                }
            }
        }
        assert_eq!(Clock::new(0, 0).to_ns(u64::MAX), *TIMES_NS.end());
        assert_eq!(Clock::new(6, i64::MIN).to_ns(0), *TIMES_NS.start());
    }
}
