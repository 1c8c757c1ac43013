//! Keeps track of the rules known to be enabled, and of those that must be checked again.

use super::place::{PlaceWakes, Wakes};
use super::rule::Rule;

/// Bit sets over the rules, which are sorted by priority, and over the places.
pub(crate) struct Agenda {
    /// The known state of these rules may be outdated.
    doubtful: Box<[u64]>,
    /// These rules are enabled, unless they are also outdated.
    enabled: Box<[u64]>,
    /// These places hold a token.
    marked: Box<[u64]>,
    /// For every rule, as many words as `marked` has: the places that must hold a token. Most checks need only these.
    inputs: Box<[u64]>,
}

impl Agenda {
    /// Starts with all rules outdated; `lens` are the numbers of tokens in the places.
    pub(crate) fn new<T>(rules: &[Rule<T>], lens: impl ExactSizeIterator<Item = u32>) -> Self {
        let words = lens.len().div_ceil(64).max(1);
        let mut agenda = Self {
            doubtful: vec![0; rules.len().div_ceil(64)].into(),
            enabled: vec![0; rules.len().div_ceil(64)].into(),
            marked: vec![0; words].into(),
            inputs: vec![0; rules.len() * words].into(),
        };
        for (place, len) in lens.enumerate() {
            agenda.marked[place / 64] |= u64::from(len > 0) << (place % 64);
        }
        for (index, rule) in rules.iter().enumerate() {
            agenda.doubt(index as u32);
            for place in rule.inputs() {
                agenda.inputs[index * words + place as usize / 64] |= 1 << (place % 64);
            }
        }
        agenda
    }

    #[inline]
    pub(crate) fn doubt(&mut self, rule: u32) {
        self.doubtful[rule as usize / 64] |= 1 << (rule % 64);
    }

    /// The place with this index lost tokens, and `left` remain; `emptied` is true if a lane is now empty.
    #[inline]
    pub(crate) fn lost(&mut self, index: u32, left: u32, wakes: &PlaceWakes, emptied: bool) {
        mark(&mut self.doubtful, &wakes.on_loss);
        if left == 0 {
            self.marked[index as usize / 64] &= !(1 << (index % 64));
            for &(word, bits) in &wakes.on_empty {
                self.enabled[word as usize] &= !bits;
            }
        } else if emptied {
            // These rules can only become disabled.
            for &(word, bits) in &wakes.on_empty {
                let word = word as usize;
                self.doubtful[word] |= bits & self.enabled[word];
            }
        }
    }

    /// The place with this index gained tokens; `filled` is true if a lane was empty before.
    #[inline]
    pub(crate) fn gained(&mut self, index: u32, wakes: &PlaceWakes, filled: bool) {
        mark(&mut self.doubtful, &wakes.on_gain);
        if filled {
            self.marked[index as usize / 64] |= 1 << (index % 64);
            mark(&mut self.doubtful, &wakes.on_fill);
        }
    }

    /// Checks all outdated rules: `is_enabled` is called for rules whose inputs all hold tokens.
    #[inline]
    pub(crate) fn settle(&mut self, mut is_enabled: impl FnMut(usize) -> bool) {
        for word in 0..self.doubtful.len() {
            let mut left = std::mem::take(&mut self.doubtful[word]);
            let mut enabled = self.enabled[word] & !left;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let rule = word * 64 + bit as usize;
                if self.has_inputs(rule) && is_enabled(rule) {
                    enabled |= 1 << bit;
                }
            }
            self.enabled[word] = enabled;
        }
    }

    #[inline]
    fn has_inputs(&self, rule: usize) -> bool {
        let words = self.marked.len();
        let inputs = &self.inputs[rule * words..][..words];
        inputs
            .iter()
            .zip(&self.marked)
            .all(|(inputs, marked)| marked & inputs == *inputs)
    }

    /// The enabled rule if there is exactly one.
    #[inline]
    pub(crate) fn only(&self) -> Only {
        let mut found = Only::None;
        for (word, &bits) in self.enabled.iter().enumerate() {
            if bits == 0 {
                continue;
            }
            if found != Only::None || bits & (bits - 1) != 0 {
                return Only::Several;
            }
            found = Only::One(word * 64 + bits.trailing_zeros() as usize);
        }
        found
    }

    /// Appends the enabled rules to `list` until `wanted` returns false.
    #[inline]
    pub(crate) fn enabled(&self, list: &mut Vec<u32>, mut wanted: impl FnMut(usize) -> bool) {
        for (word, &bits) in self.enabled.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let rule = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                if !wanted(rule) {
                    return;
                }
                list.push(rule as u32);
            }
        }
    }
}

/// How many rules are enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    None,
    One(usize),
    Several,
}

#[inline]
fn mark(bits: &mut [u64], wakes: &Wakes) {
    for &(word, more) in wakes {
        bits[word as usize] |= more;
    }
}
