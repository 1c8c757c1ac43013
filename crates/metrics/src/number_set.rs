//! A set of numbers most of which lie just above a rising base.

/// Numbers `base ..= MAX_SEQ`, the near ones in a bitmap, the few others in a list.
///
/// The owner keeps the base and passes it in; it may rise only past numbers that are not in
/// the set.
#[derive(Clone, Debug)]
pub(crate) struct NumberSet {
    /// Bit `number % span` for numbers `base .. base + span`, span a power of two.
    bits: Box<[u64]>,
    far: Vec<u64>,
    far_min: u64,
}

/// Bits `from .. from + n` of a word, `n` from 1 to 64 - `from`.
#[inline]
fn mask(from: u64, n: u64) -> u64 {
    (u64::MAX >> (64 - n)) << from
}

impl NumberSet {
    /// With a bitmap of at least `span` numbers.
    pub fn new(span: usize) -> Self {
        let words = span.div_ceil(64).next_power_of_two().max(4);
        NumberSet {
            bits: vec![0; words].into(),
            far: Vec::new(),
            far_min: u64::MAX,
        }
    }

    #[inline]
    fn span(&self) -> u64 {
        64 * self.bits.len() as u64
    }

    #[inline]
    fn word(&self, number: u64) -> usize {
        (number / 64) as usize & (self.bits.len() - 1)
    }

    #[inline]
    pub fn contains(&self, base: u64, number: u64) -> bool {
        if number - base >= self.span() {
            return number >= self.far_min && self.far.contains(&number);
        }
        let word = self.bits.get(self.word(number)).copied().unwrap_or(0);
        word >> (number % 64) & 1 != 0
    }

    /// Applies `change` to the bits of the near numbers `first .. first + n`, word by word.
    #[inline]
    fn change(&mut self, first: u64, n: u64, change: impl Fn(&mut u64, u64)) {
        let (mut number, mut left) = (first, n);
        while left > 0 {
            let here = left.min(64 - number % 64);
            let word = self.word(number);
            if let Some(bits) = self.bits.get_mut(word) {
                change(bits, mask(number % 64, here));
            }
            number += here;
            left -= here;
        }
    }

    /// Adds `first .. first + n`, none of which may be in the set.
    #[inline]
    pub fn insert_run(&mut self, base: u64, first: u64, n: u64) {
        let reach = self.span().saturating_sub(first - base);
        let near = n.min(reach);
        self.change(first, near, |bits, mask| *bits |= mask);
        if near < n {
            self.far.extend(first + near..first + n);
            self.far_min = self.far_min.min(first + near);
        }
    }

    /// Removes the near numbers `first .. first + n`, all of which must be in the set.
    #[inline]
    pub fn remove_run(&mut self, first: u64, n: u64) {
        self.change(first, n, |bits, mask| *bits &= !mask);
    }

    /// Removes one number.
    pub fn remove(&mut self, base: u64, number: u64) {
        if number - base < self.span() {
            return self.remove_run(number, 1);
        }
        if let Some(at) = self.far.iter().position(|far| *far == number) {
            self.far.swap_remove(at);
            self.far_min = self.far.iter().copied().min().unwrap_or(u64::MAX);
        }
    }

    /// How many consecutive near numbers from `first` on are in the set; counts up to `most`,
    /// which may not exceed the span.
    #[inline]
    pub fn consecutive(&self, first: u64, most: u64) -> u64 {
        let mut found = 0;
        while found < most {
            let number = first + found;
            let word = self.bits.get(self.word(number)).copied().unwrap_or(0);
            let ones = u64::from((word >> (number % 64)).trailing_ones());
            found += ones;
            if ones < 64 - number % 64 {
                break;
            }
        }
        found.min(most)
    }

    /// The smallest number.
    pub fn first(&self, base: u64) -> Option<u64> {
        let words = self.bits.len() as u64;
        let aligned = base - base % 64;
        // The word of the base is looked at twice: first its bits from the base on, at last,
        // when those are known to be clear, the ones below, the top of the span.
        let near = (0..=words).find_map(|step| {
            let start = aligned + 64 * step;
            let mut bits = self.bits.get(self.word(start)).copied()?;
            if step == 0 {
                bits &= u64::MAX << (base % 64);
            }
            (bits != 0).then(|| start + u64::from(bits.trailing_zeros()))
        });
        near.or((self.far_min < u64::MAX).then_some(self.far_min))
    }

    /// The base has risen: far numbers may be near now.
    #[inline]
    pub fn advance(&mut self, base: u64) {
        if self.far_min < u64::MAX && self.far_min - base < self.span() {
            self.fetch_near(base);
        }
    }

    #[cold]
    fn fetch_near(&mut self, base: u64) {
        let far = std::mem::take(&mut self.far);
        self.far_min = u64::MAX;
        for number in far {
            self.insert_run(base, number, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Twin: a tree set, under rising bases.
        #[test]
        fn agrees_with_a_tree_set(
            steps in prop::collection::vec((0u8..4, 0u64..600, 1u64..150), 1..60),
            start in 0u64..1000,
        ) {
            let (mut set, mut twin) = (NumberSet::new(200), BTreeSet::new());
            let mut base = start;
            for (action, offset, n) in steps {
                let number = base + offset;
                match action {
                    0 => {
                        let new = (number..number + n).all(|x| !twin.contains(&x));
                        if new {
                            set.insert_run(base, number, n);
                            twin.extend(number..number + n);
                        }
                    }
                    1 => {
                        if twin.remove(&number) {
                            set.remove(base, number);
                        }
                    }
                    _ => {
                        if let Some(first) = twin.first().copied() {
                            base = first;
                            set.advance(base);
                            let run = set.consecutive(base, n);
                            let near = |x: &u64| *x < base + 256;
                            let exact = (base..base + n).filter(near);
                            let exact = exact.take_while(|x| twin.contains(x)).count();
                            prop_assert_eq!(run, exact as u64);
                            set.remove_run(base, run);
                            twin.retain(|x| *x >= base + run);
                            base += run;
                            set.advance(base);
                        }
                    }
                }
                prop_assert_eq!(set.first(base), twin.first().copied());
                for x in base..base + 800 {
                    prop_assert_eq!(set.contains(base, x), twin.contains(&x));
                }
            }
        }
    }
}
