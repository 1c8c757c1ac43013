//! The marking of a net, and what each of its transitions waits for.

use std::collections::BTreeMap;

use super::engine::Engine;
use super::handle::Token;
use super::place::Place;
use super::rule::Rule;

/// A transition that cannot start, with what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its name.
    pub transition: String,
    /// Conditions that do not hold, such as `a token in queue`.
    pub for_what: Vec<String>,
}

impl<T: Token> Engine<T> {
    /// The places that hold tokens, with their numbers.
    pub fn marked(&self) -> Vec<(String, u32)> {
        let places = self.names().places.iter().zip(self.places());
        let marked = places.filter(|(_, place)| place.len > 0);
        marked
            .map(|(name, place)| (name.clone(), place.len))
            .collect()
    }

    /// What each transition waits for, in the order of the model, when nothing can happen any more.
    pub fn waiting(&self) -> Vec<Waiting> {
        let places: Vec<&Place<T>> = self.places().collect();
        let waiting = |(name, rule): (&String, &Rule<T>)| Waiting {
            transition: name.clone(),
            for_what: conditions(rule, &places, &self.names().places),
        };
        self.in_order().map(waiting).collect()
    }
}

/// The conditions of a rule that do not hold.
fn conditions<T: Token>(rule: &Rule<T>, places: &[&Place<T>], names: &[String]) -> Vec<String> {
    let (len, name) = (
        |place: u32| places[place as usize].len,
        |place: u32| &names[place as usize],
    );
    let mut needed: BTreeMap<u32, u32> = rule.inputs().map(|place| (place, 1)).collect();
    for need in &rule.conditions.needs {
        let most = needed.entry(need.place).or_default();
        *most = need.count.max(*most);
    }
    let mut all: Vec<String> = needed
        .into_iter()
        .filter(|(place, count)| len(*place) < *count)
        .map(
            |(place, count)| match (len(place), count, is_read(rule, place)) {
                (_, 1, false) => format!("a token in {}", name(place)),
                (_, 1, true) => format!("a token to read in {}", name(place)),
                (held, _, false) => format!("{count} tokens in {}, which has {held}", name(place)),
                (held, _, true) => {
                    format!(
                        "{count} tokens to read in {}, which has {held}",
                        name(place)
                    )
                }
            },
        )
        .collect();
    for inhibitor in &rule.conditions.inhibitors {
        if len(inhibitor.place) >= inhibitor.count {
            all.push(format!(
                "fewer than {} in {}, which inhibits it with {}",
                inhibitor.count,
                name(inhibitor.place),
                len(inhibitor.place)
            ));
        }
    }
    for room in &rule.conditions.rooms {
        let place = places[room.place as usize];
        let wanted = u64::from(place.len) + u64::from(place.reserved) + u64::from(room.growth);
        if wanted > u64::from(place.capacity) {
            all.push(format!(
                "room in {}, which is full with {}",
                name(room.place),
                place.len
            ));
        }
    }
    if rule.tally.busy >= rule.servers {
        all.push("a free server".to_owned());
    }
    if all.is_empty() {
        all.push(match (rule.guard.is_some(), rule.joins.len()) {
            (true, _) => "tokens for which its guard holds".to_owned(),
            (false, 2..) => "tokens with the same key in all its places".to_owned(),
            (false, _) => "tokens that fit together".to_owned(),
        });
    }
    all
}

/// Whether the tokens of a place would stay there.
fn is_read<T>(rule: &Rule<T>, place: u32) -> bool {
    let takes = rule.takes.iter().map(|arc| (arc.place, arc.keep));
    let spends = rule.spends.iter().map(|arc| (arc.place, arc.keep));
    takes.chain(spends).all(|arc| arc.0 != place || arc.1)
}

#[cfg(test)]
mod tests {
    use super::super::{Counter, CounterSpec, Model, Queue, QueueSpec};
    use super::*;

    #[test]
    fn a_net_that_stands_still_says_what_each_transition_waits_for() {
        let mut model: Model<u32> = Model::new();
        let full: Counter = model.counter("full", CounterSpec::new(2).capacity(2));
        let queue: Queue = model.queue("queue", QueueSpec::fifo());
        let source = model.counter("source", CounterSpec::new(1));
        model.transition("fill").spend(source, 1).give(full, 1);
        model.transition("three").spend(full, 3);
        model.transition("take").take(queue);
        let mut engine = Engine::new(model, 1).unwrap();
        engine.run_until(10, &mut ()).unwrap();
        assert_eq!(
            engine.marked(),
            [("full".to_owned(), 2), ("source".to_owned(), 1)]
        );
        let waiting: Vec<String> = engine
            .waiting()
            .into_iter()
            .map(|one| format!("{}: {}", one.transition, one.for_what.join(", ")))
            .collect();
        assert_eq!(
            waiting,
            [
                "fill: room in full, which is full with 2",
                "three: 3 tokens in full, which has 2",
                "take: a token in queue",
            ]
        );
    }
}
