//! Positive numbers for eliminations, which multiply thousands of ratios.

/// What an elimination needs of its numbers. None is negative, and nothing is subtracted.
pub(super) trait Positive: Copy {
    const ZERO: Self;
    fn of(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    /// True if it is so small or so large that a product with it may have lost digits.
    fn is_at_the_edge(self) -> bool;
    /// This number as a share of `largest`.
    fn share_of(self, largest: Self) -> f64;
    fn exceeds(self, other: Self) -> bool;
}

/// Far enough from the smallest and largest numbers of 64 bits that one product more stays within them.
const EDGE: f64 = 1e-140;

impl Positive for f64 {
    const ZERO: Self = 0.0;

    fn of(value: f64) -> Self {
        value
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn over(self, other: Self) -> Self {
        self / other
    }

    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn is_at_the_edge(self) -> bool {
        !(EDGE..1.0 / EDGE).contains(&self)
    }

    fn share_of(self, largest: Self) -> f64 {
        self / largest
    }

    fn exceeds(self, other: Self) -> bool {
        self > other
    }
}

/// A number with an exponent of its own: `mantissa * 2^(256 * exponent)`. The mantissa stays between `2^-128` and `2^128`,
/// so that it never leaves the range of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    mantissa: f64,
    exponent: i32,
}

/// `2^128` and its inverse.
const HIGH: f64 = f64::from_bits((1023 + 128) << 52);
const LOW: f64 = 1.0 / HIGH;
/// `2^256` and its inverse.
const STEP: f64 = HIGH * HIGH;
const BACK: f64 = 1.0 / STEP;

impl Wide {
    fn normal(mut mantissa: f64, mut exponent: i32) -> Self {
        if mantissa == 0.0 {
            return Self::ZERO;
        }
        while mantissa >= HIGH {
            mantissa *= BACK;
            exponent += 1;
        }
        while mantissa < LOW {
            mantissa *= STEP;
            exponent -= 1;
        }
        Self { mantissa, exponent }
    }
}

impl Positive for Wide {
    const ZERO: Self = Self {
        mantissa: 0.0,
        exponent: 0,
    };

    fn of(value: f64) -> Self {
        Self::normal(value, 0)
    }

    fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 {
            return other;
        }
        if other.mantissa == 0.0 {
            return self;
        }
        let (more, less) = match self.exponent >= other.exponent {
            true => (self, other),
            false => (other, self),
        };
        match more.exponent - less.exponent {
            0 => Self::normal(more.mantissa + less.mantissa, more.exponent),
            1 => Self::normal(more.mantissa + less.mantissa * BACK, more.exponent),
            _ => more,
        }
    }

    fn times(self, other: Self) -> Self {
        Self::normal(
            self.mantissa * other.mantissa,
            self.exponent + other.exponent,
        )
    }

    fn over(self, other: Self) -> Self {
        Self::normal(
            self.mantissa / other.mantissa,
            self.exponent - other.exponent,
        )
    }

    fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    fn is_at_the_edge(self) -> bool {
        false
    }

    fn share_of(self, largest: Self) -> f64 {
        let share = self.over(largest);
        share.mantissa * libm::exp2(256.0 * f64::from(share.exponent))
    }

    fn exceeds(self, other: Self) -> bool {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return self.mantissa > other.mantissa;
        }
        (self.exponent, self.mantissa) > (other.exponent, other.mantissa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_far_below_the_smallest_number_keep_their_digits() {
        let tiny = Wide::of(1e-200);
        let product = (0..50).fold(Wide::of(1.0), |product, _| product.times(tiny));
        let back = (0..50).fold(product, |number, _| number.over(tiny));
        assert!((back.share_of(Wide::of(1.0)) - 1.0).abs() < 1e-13);
        assert_eq!(product.share_of(Wide::of(1.0)), 0.0);
        let twice = product.plus(product);
        assert!(twice.exceeds(product) && Wide::of(1.0).exceeds(twice));
        assert!((twice.share_of(product) - 2.0).abs() < 1e-15);
    }

    #[test]
    fn sums_across_exponents_equal_those_of_plain_numbers() {
        let numbers = [1e-300, 3e-120, 2e-39, 7.0, 5e38, 4e39, 9e110];
        for a in numbers {
            for b in numbers {
                let sum = Wide::of(a).plus(Wide::of(b));
                assert!(
                    (sum.share_of(Wide::of(a + b)) - 1.0).abs() < 1e-15,
                    "{a} {b}"
                );
                assert_eq!(Wide::of(a).exceeds(Wide::of(b)), a > b);
            }
        }
    }
}
