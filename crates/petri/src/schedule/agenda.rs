//! Keeps track of the rules known to be enabled, and of those that must be checked again.

use std::ops::Range;

use inorder_base::random::Random;

/// Rules to check again, as (word of a bit set, bits).
pub(crate) type Wakes = Vec<(u32, u64)>;

/// Rules to check again after a change of a place.
#[derive(Default)]
pub(crate) struct PlaceWakes {
    /// A lane that was empty has a token now.
    pub(crate) on_fill: Wakes,
    /// Any token arrived.
    pub(crate) on_gain: Wakes,
    /// A lane became empty; only rules that were enabled are checked.
    pub(crate) on_empty: Wakes,
    /// Any token left.
    pub(crate) on_loss: Wakes,
}

/// Adds a rule behind all that were added before.
pub(crate) fn add(wakes: &mut Wakes, rule: usize) {
    let (word, bit) = ((rule / 64) as u32, 1 << (rule % 64));
    match wakes.last_mut() {
        Some((last, bits)) if *last == word => *bits |= bit,
        _ => wakes.push((word, bit)),
    }
}

/// Bit sets over the rules, which are sorted by priority, and over the places.
#[derive(Clone)]
pub(crate) struct Agenda {
    /// The known state of these rules may be outdated.
    doubtful: Box<[u64]>,
    /// These rules are enabled, unless they are also outdated.
    enabled: Box<[u64]>,
    /// These places hold a token.
    marked: Box<[u64]>,
    /// For every rule, as many words as `marked` has: the places that must hold a token. Most checks need only these.
    /// Empty if they are not known.
    inputs: Box<[u64]>,
    /// The candidates of the current choice.
    ready: Vec<u32>,
}

impl Agenda {
    /// Starts with all rules outdated; `lens` are the numbers of tokens in the places.
    pub(crate) fn new(rules: usize, lens: impl ExactSizeIterator<Item = u32>) -> Self {
        let mut agenda = Self {
            doubtful: vec![0; rules.div_ceil(64)].into(),
            enabled: vec![0; rules.div_ceil(64)].into(),
            marked: vec![0; lens.len().div_ceil(64).max(1)].into(),
            inputs: Box::default(),
            ready: Vec::new(),
        };
        for (place, len) in lens.enumerate() {
            agenda.marked[place / 64] |= u64::from(len > 0) << (place % 64);
        }
        (0..rules as u32).for_each(|rule| agenda.doubt(rule));
        agenda
    }

    /// With the places that must hold a token, for each rule.
    pub(crate) fn with_inputs<I: Iterator<Item = u32>>(
        mut self,
        inputs: impl ExactSizeIterator<Item = I>,
    ) -> Self {
        let words = self.marked.len();
        self.inputs = vec![0; inputs.len() * words].into();
        for (rule, inputs) in inputs.enumerate() {
            for place in inputs {
                self.inputs[rule * words + place as usize / 64] |= 1 << (place % 64);
            }
        }
        self
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
        let (inputs, marked) = (&self.inputs[..], &self.marked[..]);
        let words = 0..self.doubtful.len();
        settle(&mut self.doubtful, &mut self.enabled, words, |rule| {
            has_inputs(inputs, marked, rule) && is_enabled(rule)
        });
    }

    /// Checks the outdated rules of some words.
    #[inline]
    pub(crate) fn settle_words(
        &mut self,
        words: Range<usize>,
        is_enabled: impl FnMut(usize) -> bool,
    ) {
        settle(&mut self.doubtful, &mut self.enabled, words, is_enabled);
    }

    /// One of the enabled rules of the highest priority, at random by weight; `rank` has the priority and the weight of a
    /// rule.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        random: &mut Random,
        rank: impl Fn(usize) -> (u32, f64),
    ) -> Option<usize> {
        match self.only() {
            Only::None => None,
            Only::One(rule) => Some(rule),
            Only::Several => Some(self.pick(random, rank)),
        }
    }

    fn pick(&mut self, random: &mut Random, rank: impl Fn(usize) -> (u32, f64)) -> usize {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        let (mut highest, mut total) = (None, 0.0);
        self.enabled(&mut ready, |rule| {
            let (priority, weight) = rank(rule);
            let is_equal = *highest.get_or_insert(priority) == priority;
            total += if is_equal { weight } else { 0.0 };
            is_equal
        });
        let mut chosen = ready.last().map_or(0, |&last| last as usize);
        if ready.len() > 1 {
            let mut left = random.unit() * total;
            for &rule in &ready {
                left -= rank(rule as usize).1;
                if left < 0.0 {
                    chosen = rule as usize;
                    break;
                }
            }
        }
        self.ready = ready;
        chosen
    }

    /// The enabled rule if there is exactly one.
    #[inline]
    fn only(&self) -> Only {
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
enum Only {
    None,
    One(usize),
    Several,
}

#[inline]
fn settle(
    doubtful: &mut [u64],
    enabled: &mut [u64],
    words: Range<usize>,
    mut is_enabled: impl FnMut(usize) -> bool,
) {
    for word in words {
        let mut left = std::mem::take(&mut doubtful[word]);
        let mut bits = enabled[word] & !left;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let rule = word * 64 + bit as usize;
            if is_enabled(rule) {
                bits |= 1 << bit;
            }
        }
        enabled[word] = bits;
    }
}

#[inline]
fn has_inputs(inputs: &[u64], marked: &[u64], rule: usize) -> bool {
    let words = marked.len();
    let inputs = &inputs[rule * words..][..words];
    inputs
        .iter()
        .zip(marked)
        .all(|(inputs, marked)| marked & inputs == *inputs)
}

#[inline]
fn mark(bits: &mut [u64], wakes: &[(u32, u64)]) {
    for &(word, more) in wakes {
        bits[word as usize] |= more;
    }
}
