//! Whether what happens in a coloured net can be repeated without end, each time with more tokens.
//!
//! It can if nothing but numbers grows on the way, and these have no influence. Equal tokens in a place are a number if there are
//! always as many of them as any transition asks for: all conditions on the place have the same result as with more of them, and whichever is
//! taken is the same. Equal firings under way are a number if no server, no room and no `cancel` counts them.

use super::handle::Token;
use super::place::Place;
use super::rule::Rule;
use super::space::{Content, UnderWay};
use super::spec::Count;

/// The rules and places of a net, as far as they tell which numbers matter.
pub(super) struct Repeats<'s, T> {
    rules: &'s [Rule<T>],
    places: &'s [Place<T>],
    /// How many tokens of each place are enough; `None` where more may still matter.
    enough: Vec<Option<u32>>,
}

impl<'s, T: Token + Ord> Repeats<'s, T> {
    pub(super) fn new(rules: &'s [Rule<T>], places: &'s [Place<T>]) -> Self {
        let enough = |(index, place): (usize, &Place<T>)| {
            let most = rules.iter().try_fold(0, |most: u32, rule| {
                asked(rule, index as u32).map(|asked| most.max(asked))
            });
            most.filter(|_| place.capacity == u32::MAX)
        };
        Self {
            rules,
            places,
            enough: places.iter().enumerate().map(enough).collect(),
        }
    }

    /// Whether the way, from its last content back to its first, can be repeated.
    pub(super) fn can(&self, way: &[&Content<T>]) -> bool {
        let (Some(high), Some(low)) = (way.first(), way.last()) else {
            return false;
        };
        if high.outside != low.outside || !self.has_more_under_way(high, low) {
            return false;
        }
        let all: Vec<Vec<Lane<'_, T>>> = way.iter().map(|c| lanes(c, self.places)).collect();
        let (Some(high), Some(low)) = (all.first(), all.last()) else {
            return false;
        };
        (0..low.len()).all(|at| {
            let is_number = |enough| {
                all.iter()
                    .all(|lanes| lanes[at].is_number(enough, &low[at]))
            };
            let enough = self.enough[low[at].place];
            let is_equal = high[at].len == low[at].len && high[at].tokens == low[at].tokens;
            is_equal || (high[at].len >= low[at].len && enough.is_some_and(is_number))
        })
    }

    /// Whether the firings under way are those of `low` and others that have no influence. Both are in the same order.
    fn has_more_under_way(&self, high: &Content<T>, low: &Content<T>) -> bool {
        let mut left = low.under_way.iter().peekable();
        let has_no_influence = |firing: &UnderWay<T>| {
            let rule = &self.rules[firing.rule as usize];
            rule.servers == u32::MAX && rule.under_way.is_none() && rule.conditions.rooms.is_empty()
        };
        let mut all = high.under_way.iter();
        all.all(|firing| left.next_if_eq(&firing).is_some() || has_no_influence(firing))
            && left.next().is_none()
    }
}

/// The tokens of one key of a place; none of plain tokens, which are equal.
pub(super) struct Lane<'c, T> {
    /// The index of the place.
    pub(super) place: usize,
    len: u32,
    pub(super) tokens: &'c [T],
}

impl<T: PartialEq> Lane<'_, T> {
    /// Whether it holds as many tokens as are enough, all of them equal to those of another one.
    fn is_number(&self, enough: u32, other: &Self) -> bool {
        let first = other.tokens.first();
        let are_equal = self.tokens.iter().all(|token| Some(token) == first);
        enough == 0 || (self.len >= enough && are_equal)
    }
}

/// The tokens of every key of every place.
pub(super) fn lanes<'c, T: Token>(
    content: &'c Content<T>,
    places: &[Place<T>],
) -> Vec<Lane<'c, T>> {
    let keys = |(index, place): (usize, &Place<T>)| {
        std::iter::repeat_n((index, place.is_plain()), place.keys as usize)
    };
    let mut tokens = &content.tokens[..];
    let of_keys = places.iter().enumerate().flat_map(keys);
    let of_keys = of_keys.zip(&content.lens);
    let lanes = of_keys.map(|((place, is_plain), &len)| {
        let (own, others) = tokens.split_at(if is_plain { 0 } else { len as usize });
        tokens = others;
        Lane {
            place,
            len,
            tokens: own,
        }
    });
    lanes.collect()
}

/// The most tokens of a place that a firing asks for; `None` if more may matter.
fn asked<T>(rule: &Rule<T>, place: u32) -> Option<u32> {
    if rule.resets.contains(&place) {
        return None;
    }
    let mut asked: u32 = 0;
    for take in rule.takes.iter().filter(|take| take.place == place) {
        asked = asked.saturating_add(take.count);
    }
    for spend in rule.spends.iter().filter(|spend| spend.place == place) {
        match spend.count {
            Count::Fixed(count) => asked = asked.saturating_add(count),
            Count::By(_) => return None,
        }
    }
    let whole = rule.conditions.inhibitors.iter();
    let inhibitors = whole.chain(&rule.colour_inhibitors);
    let inhibitors = inhibitors.filter(|need| need.place == place);
    Some(inhibitors.fold(asked, |most, need| most.max(need.count)))
}
