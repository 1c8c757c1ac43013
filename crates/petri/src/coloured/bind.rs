//! Finds the tokens of a firing.
//!
//! Most transitions need no search: the lists of [`Rule`] determine the enabled colours, and the tokens are the first
//! of their queues. With a guard, or with a key or a count computed from tokens, the tokens must be examined; if
//! input queues have random order, all combinations of their tokens are examined.

use inorder_base::random::Random;

use super::bound::Bound;
use super::handle::Token;
use super::place::Place;
use super::rule::{Need, Rule};

/// A binding under examination, with reusable buffers.
#[derive(Default)]
pub(crate) struct Binding<T> {
    /// The tokens, in the order of the arcs.
    pub(crate) tokens: Vec<T>,
    /// The lane of every take arc.
    pub(crate) lanes: Vec<u32>,
    /// The position taken in every lane; 0 but for random places.
    picks: Vec<u32>,
    /// Number of positions from which each one was picked.
    choices: Vec<u32>,
    /// (lane, count) of every spend arc.
    pub(crate) spends: Vec<(u32, u32)>,
}

/// Determines whether the rule, whose inputs hold tokens, is enabled; sets `rule.enabled` and `rule.ways`.
#[inline]
pub(crate) fn look<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    now: u64,
) -> bool {
    rule.ways = 0;
    if !may_start(rule, places) {
        return false;
    }
    for word in 0..rule.enabled.len() {
        let mut colours = joined(rule, places, word);
        if rule.must_bind {
            colours = with_binding(rule, places, binding, now, word as u32 * 64, colours);
        }
        rule.enabled[word] = colours;
        rule.ways += ones(colours);
    }
    rule.ways > 0
}

/// Number of bits set. In most cases it is zero or one, and not every processor counts bits fast.
#[inline]
fn ones(bits: u64) -> u32 {
    match bits {
        0 => 0,
        _ if bits & (bits - 1) == 0 => 1,
        _ => bits.count_ones(),
    }
}

/// The part that does not depend on the content of tokens.
#[inline]
fn may_start<T>(rule: &Rule<T>, places: &[Place<T>]) -> bool {
    let conditions = &rule.conditions;
    rule.tally.busy < rule.servers
        && conditions
            .needs
            .iter()
            .all(|need| places[need.place as usize].len >= need.count)
        && conditions
            .inhibitors
            .iter()
            .all(|i| places[i.place as usize].len < i.count)
        && conditions.rooms.iter().all(|room| {
            let place = &places[room.place as usize];
            u64::from(place.len) + u64::from(place.reserved) + u64::from(room.growth)
                <= u64::from(place.capacity)
        })
}

/// The colours with a token in every keyed place; bit 0 if there is no colour.
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
    match rule.must_search {
        true => find(rule, places, binding, (colour, now), |_| true),
        false => bind(rule, places, binding, now, colour),
    }
}

/// Tries all bindings of a colour at a time, until one is valid and the wanted one; returns whether there is one.
fn find<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    (colour, now): (u32, u64),
    mut is_wanted: impl FnMut(&Binding<T>) -> bool,
) -> bool {
    binding.rewind(rule.takes.len());
    loop {
        if bind(rule, places, binding, now, colour) && is_wanted(binding) {
            return true;
        }
        if !binding.advance() {
            return false;
        }
    }
}

/// Binds the tokens of an enabled colour; one of all bindings, with equal probabilities.
#[inline]
pub(crate) fn choose<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    random: &mut Random,
    colour: u32,
    now: u64,
) {
    if !rule.must_search {
        binding.picks.clear();
        bind(rule, places, binding, now, colour);
        return;
    }
    let mut count = 0;
    find(rule, places, binding, (colour, now), |_| {
        count += 1;
        false
    });
    let mut skip = random.below(count);
    find(rule, places, binding, (colour, now), |_| {
        let is_wanted = skip == 0;
        skip = skip.saturating_sub(1);
        is_wanted
    });
}

/// The picks of all bindings of a colour; the rule must search.
pub(crate) fn all<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    colour: u32,
    now: u64,
) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    find(rule, places, binding, (colour, now), |binding| {
        found.push(binding.picks.clone());
        false
    });
    found
}

/// Binds the tokens at these picks.
pub(crate) fn again<T: Token>(
    rule: &mut Rule<T>,
    places: &[Place<T>],
    binding: &mut Binding<T>,
    picks: &[u32],
    colour: u32,
    now: u64,
) {
    binding.rewind(rule.takes.len());
    binding.picks.copy_from_slice(picks);
    bind(rule, places, binding, now, colour);
}

/// Tries the binding selected by the picks (without picks: the first tokens); returns whether it is valid.
#[inline]
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
    if rule.must_search {
        binding.choices.fill(1);
    }
    for (index, take) in rule.takes.iter_mut().enumerate() {
        let place = &places[take.place as usize];
        let lane = take.lane.of(&binding.bound(colour, now));
        if !binding.take(place, index, lane, take.count) {
            return false;
        }
    }
    for spend in &mut rule.spends {
        let bound = binding.bound(colour, now);
        let (lane, count) = (spend.lane.of(&bound), spend.count.of(&bound));
        if places[spend.place as usize].lane_len(lane) < count {
            return false;
        }
        binding.spends.push((lane, count));
    }
    let free = |i: &Need| places[i.place as usize].lane_len(colour) < i.count;
    rule.colour_inhibitors.iter().all(free)
        && rule
            .guard
            .as_mut()
            .is_none_or(|guard| guard(&binding.bound(colour, now)))
}

impl<T: Token> Binding<T> {
    /// Binds the tokens of one arc, if there are enough.
    #[inline]
    fn take(&mut self, place: &Place<T>, arc: usize, lane: u32, count: u32) -> bool {
        let first = match place.is_random() {
            true => {
                if let Some(choices) = self.choices.get_mut(arc) {
                    *choices = place.lane_len(lane);
                }
                self.pick(arc)
            }
            false => 0,
        };
        for index in first..first + count {
            match place.peek(lane, index) {
                Some(token) => self.tokens.push(token),
                None => return false,
            }
        }
        self.lanes.push(lane);
        true
    }
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

    /// The position of the token for the arc with this index.
    #[inline]
    pub(crate) fn pick(&self, arc: usize) -> u32 {
        self.picks.get(arc).copied().unwrap_or(0)
    }

    fn rewind(&mut self, arcs: usize) {
        self.picks.clear();
        self.picks.resize(arcs, 0);
        self.choices.resize(arcs, 1);
    }

    /// Advances to the next combination of picks; false after the last one. Arcs that the last attempt did not reach
    /// count as having one choice, so that all combinations with the same failure are skipped together.
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
