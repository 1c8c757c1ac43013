//! Which transitions a change of a place may enable or disable.

use super::model::{Order, PlaceKind, PlaceSpec};
use super::rule::{Rule, SpendArc, TakeArc};
use super::spec::Count;
use crate::schedule::agenda::{PlaceWakes, Wakes, add};

/// The rules to check again after a change of the place with this index.
pub(crate) fn of_place<T>(rules: &[Rule<T>], index: u32, spec: &PlaceSpec<T>) -> PlaceWakes {
    let at = Place {
        index,
        is_fifo: is_fifo(spec),
    };
    let wakes = |matters: &dyn Fn(&Rule<T>) -> bool| {
        let mut wakes = Wakes::new();
        for (index, _) in rules.iter().enumerate().filter(|(_, rule)| matters(rule)) {
            add(&mut wakes, index);
        }
        wakes
    };
    PlaceWakes {
        on_fill: wakes(&|rule| at.takers(rule) || at.spenders(rule)),
        on_gain: wakes(&|rule| at.limits(rule) || at.gain_matters(rule)),
        on_empty: wakes(&|rule| rule.inputs().any(|input| input == index)),
        on_loss: wakes(&|rule| at.limits(rule) || at.loss_matters(rule)),
    }
}

struct Place {
    index: u32,
    is_fifo: bool,
}

impl Place {
    fn takes<'r, T>(&self, rule: &'r Rule<T>) -> impl Iterator<Item = &'r TakeArc<T>> {
        let index = self.index;
        rule.takes.iter().filter(move |arc| arc.place == index)
    }

    fn spends<'r, T>(&self, rule: &'r Rule<T>) -> impl Iterator<Item = &'r SpendArc<T>> {
        let index = self.index;
        rule.spends.iter().filter(move |arc| arc.place == index)
    }

    fn takers<T>(&self, rule: &Rule<T>) -> bool {
        self.takes(rule).next().is_some()
    }

    fn spenders<T>(&self, rule: &Rule<T>) -> bool {
        self.spends(rule).next().is_some()
    }

    /// For inhibitors and capacities, every token counts.
    fn limits<T>(&self, rule: &Rule<T>) -> bool {
        rule.conditions
            .inhibitors
            .iter()
            .any(|i| i.place == self.index)
            || rule.colour_inhibitors.iter().any(|i| i.place == self.index)
            || rule
                .conditions
                .rooms
                .iter()
                .any(|room| room.place == self.index)
    }

    /// Additional tokens matter if several are needed, or if they may become the first or be chosen.
    fn gain_matters<T>(&self, rule: &Rule<T>) -> bool {
        self.several(rule) || self.takers(rule) && rule.must_bind && !self.is_fifo
    }

    /// Fewer tokens matter if several are needed, or if another token becomes the first or can no longer be chosen.
    fn loss_matters<T>(&self, rule: &Rule<T>) -> bool {
        self.several(rule) || self.takers(rule) && rule.must_bind
    }

    fn several<T>(&self, rule: &Rule<T>) -> bool {
        self.takes(rule).any(|arc| arc.count > 1)
            || self
                .spends(rule)
                .any(|arc| !matches!(arc.count, Count::Fixed(0 | 1)))
    }
}

fn is_fifo<T>(spec: &PlaceSpec<T>) -> bool {
    match &spec.kind {
        PlaceKind::Queue(queue) => matches!(queue.order, Order::Fifo),
        PlaceKind::Counter(_) => true,
    }
}
