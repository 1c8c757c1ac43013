//! Finding the tokens of a firing.
//!
//! Most transitions need no search: the lists of [`Rule`] say for which colours they are enabled, and the tokens
//! are the first of their queues. With a guard, a key told from the tokens, or a count told from them, the tokens
//! have to be looked at; with queues in random order among the inputs, all combinations of their tokens are.

use inorder_random::Random;

use super::bound::Bound;
use super::model::Token;
use super::place::Place;
use super::rule::Rule;

/// A binding under examination, and space to make it in.
#[derive(Default)]
pub(crate) struct Binding<T> {
    /// The tokens, in the order of the arcs.
    pub(crate) tokens: Vec<T>,
    /// The lane of every take arc.
    pub(crate) lanes: Vec<u32>,
    /// The position taken in every lane; 0 but for random places.
    pub(crate) picks: Vec<u32>,
    /// How many positions there were to pick from.
    choices: Vec<u32>,
    /// (lane, count) of every spend arc.
    pub(crate) spends: Vec<(u32, u32)>,
}

/// Number of (transition, colour) pairs enabled: sets `rule.enabled` and counts it.
#[inline]
pub(crate) fn look<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
) -> u32 {
    if !may_start(rule, places) {
        return 0;
    }
    let mut count = 0;
    for word in 0..rule.enabled.len() {
        let mut colours = joined(rule, places, word);
        if rule.must_bind {
            colours = with_binding(rule, places, binding, now, word as u32 * 64, colours);
        }
        rule.enabled[word] = colours;
        count += colours.count_ones();
    }
    count
}

/// What can be told without looking at tokens.
#[inline]
fn may_start<T>(rule: &Rule<T>, places: &[Place<T>]) -> bool {
    rule.busy < rule.servers
        && rule
            .needs
            .iter()
            .all(|need| places[need.place as usize].len >= need.count)
        && rule
            .inhibitors
            .iter()
            .all(|i| places[i.place as usize].len < i.count)
        && rule.rooms.iter().all(|room| {
            let place = &places[room.place as usize];
            u64::from(place.len) + u64::from(place.reserved) + u64::from(room.growth)
                <= u64::from(place.capacity)
        })
}

/// The colours with a token in every place joined by colour; bit 0 when there is no colour.
#[inline]
fn joined<T>(rule: &Rule<T>, places: &[Place<T>], word: usize) -> u64 {
    match &rule.joins[..] {
        [] => 1,
        joins => joins.iter().fold(u64::MAX, |bits, &place| {
            bits & places[place as usize].occupied[word]
        }),
    }
}

fn with_binding<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
    base: u32,
    colours: u64,
) -> u64 {
    let mut kept = 0;
    let mut left = colours;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        if exists(rule, places, binding, now, base + bit) {
            kept |= 1 << bit;
        }
    }
    kept
}

fn exists<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
    colour: u32,
) -> bool {
    binding.rewind(rule.takes.len());
    loop {
        if bind(rule, places, binding, now, colour) {
            return true;
        }
        if !(rule.must_search && binding.advance()) {
            return false;
        }
    }
}

/// Binds the tokens of an enabled colour, choosing at random where there is a choice.
pub(crate) fn choose<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    random: &mut Random,
    now: u64,
    colour: u32,
) {
    binding.rewind(rule.takes.len());
    if !rule.must_search {
        bind(rule, places, binding, now, colour);
        return;
    }
    let found = count(rule, places, binding, now, colour);
    let mut skip = random.below(found);
    binding.rewind(rule.takes.len());
    loop {
        if bind(rule, places, binding, now, colour) {
            if skip == 0 {
                return;
            }
            skip -= 1;
        }
        if !binding.advance() {
            return;
        }
    }
}

fn count<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
    colour: u32,
) -> u64 {
    let mut found = 0;
    loop {
        found += u64::from(bind(rule, places, binding, now, colour));
        if !binding.advance() {
            return found;
        }
    }
}

/// Makes the binding that the picks name; whether it is one.
fn bind<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
    colour: u32,
) -> bool {
    binding.tokens.clear();
    binding.lanes.clear();
    binding.spends.clear();
    binding.choices.fill(1);
    for (index, take) in rule.takes.iter_mut().enumerate() {
        let place = &places[take.place as usize];
        let lane = take.lane.of(&binding.bound(colour, now));
        let held = place.lane_len(lane);
        if held < take.count {
            return false;
        }
        if place.is_random() {
            binding.choices[index] = held;
        }
        let first = binding.picks[index];
        binding
            .tokens
            .extend((first..first + take.count).filter_map(|i| place.peek(lane, i)));
        binding.lanes.push(lane);
    }
    for spend in &mut rule.spends {
        let bound = binding.bound(colour, now);
        let (lane, count) = (spend.lane.of(&bound), spend.count.of(&bound));
        if places[spend.place as usize].lane_len(lane) < count {
            return false;
        }
        binding.spends.push((lane, count));
    }
    let free = |i: &super::rule::Need| places[i.place as usize].lane_len(colour) < i.count;
    rule.colour_inhibitors.iter().all(free)
        && rule
            .guard
            .as_mut()
            .is_none_or(|guard| guard(&binding.bound(colour, now)))
}

impl<T> Binding<T> {
    #[inline]
    pub(crate) fn bound(&self, colour: u32, now: u64) -> Bound<'_, T> {
        Bound {
            tokens: &self.tokens,
            colour,
            now,
            started: now,
        }
    }

    fn rewind(&mut self, arcs: usize) {
        self.picks.clear();
        self.picks.resize(arcs, 0);
        self.choices.resize(arcs, 1);
    }

    /// To the next combination of picks; false after the last. An arc that the last attempt did not come to
    /// counts as having one choice, so that hopeless combinations are skipped together.
    fn advance(&mut self) -> bool {
        for (pick, &choices) in self.picks.iter_mut().zip(&self.choices).rev() {
            *pick += 1;
            if *pick < choices {
                return true;
            }
            *pick = 0;
        }
        false
    }
}
