//! Checks models before they run, and refuses invalid ones.

use std::collections::BTreeSet;

use super::error::ModelError;
use super::model::{Model, Order, PlaceKind, PlaceSpec};
use super::rule::joins;
use super::spec::{Cancel, Product, Timing, TransitionSpec};

impl<T> Model<T> {
    /// The first error in the order in which the model was written, if there is one.
    pub fn check(&self) -> Result<(), ModelError> {
        self.check_names()?;
        self.places.iter().try_for_each(check_place)?;
        self.transitions.iter().try_for_each(|t| {
            Checked {
                places: &self.places,
                transitions: &self.transitions,
                t,
            }
            .all()
        })
    }

    fn check_names(&self) -> Result<(), ModelError> {
        let mut seen = BTreeSet::new();
        let places = self.places.iter().map(|p| &p.name);
        let transitions = self.transitions.iter().map(|t| &t.name);
        match places.chain(transitions).find(|&name| !seen.insert(name)) {
            Some(name) => Err(ModelError::DuplicateName(name.clone())),
            None => Ok(()),
        }
    }
}

fn check_place<T>(place: &PlaceSpec<T>) -> Result<(), ModelError> {
    if place.keys() == 0 {
        return Err(ModelError::NoKeys(place.name.clone()));
    }
    check_keys(place)?;
    let capacity = place.capacity().unwrap_or(u32::MAX);
    if place.initial() > u64::from(capacity) {
        return Err(ModelError::OverCapacity {
            place: place.name.clone(),
            tokens: place.initial(),
            capacity,
        });
    }
    Ok(())
}

fn check_keys<T>(place: &PlaceSpec<T>) -> Result<(), ModelError> {
    let PlaceKind::Queue(queue) = &place.kind else {
        return Ok(());
    };
    let Some(key) = &queue.key_of else {
        return Ok(());
    };
    match queue
        .tokens
        .iter()
        .position(|token| key(token) >= queue.keys)
    {
        Some(index) => Err(ModelError::Key {
            place: place.name.clone(),
            index,
            keys: queue.keys,
        }),
        None => Ok(()),
    }
}

/// A transition and the places of its model.
struct Checked<'a, T> {
    places: &'a [PlaceSpec<T>],
    transitions: &'a [TransitionSpec<T>],
    t: &'a TransitionSpec<T>,
}

impl<T> Checked<'_, T> {
    fn all(&self) -> Result<(), ModelError> {
        self.handles()?;
        self.parameters()?;
        self.single_arcs()?;
        self.colours()?;
        self.bindings()?;
        self.cancels()?;
        self.zero_time()
    }

    fn name(&self) -> String {
        self.t.name.clone()
    }

    fn place(&self, index: u32) -> &PlaceSpec<T> {
        &self.places[index as usize]
    }

    /// Every place an arc refers to, and whether the arc is for typed tokens, if only one sort is possible.
    fn arcs(&self) -> impl Iterator<Item = (u32, Option<bool>)> {
        let t = self.t;
        let takes = t.takes.iter().map(|a| (a.place, Some(true)));
        let spends = t.spends.iter().map(|a| (a.place, Some(false)));
        let inhibitors = t.inhibitors.iter().map(|a| (a.place, None));
        let resets = t.resets.iter().map(|&place| (place, None));
        let outputs = t.outputs.iter().flat_map(|output| {
            let typed = !matches!(output.product, Product::Plain(..));
            let places = output.product.places(output.place).into_iter();
            places.map(move |place| (place, Some(typed)))
        });
        takes
            .chain(spends)
            .chain(inhibitors)
            .chain(resets)
            .chain(outputs)
    }

    fn handles(&self) -> Result<(), ModelError> {
        let fits = |(place, typed): (u32, Option<bool>)| {
            self.places.get(place as usize).is_some_and(|place| {
                typed.is_none_or(|typed| typed == matches!(place.kind, PlaceKind::Queue(_)))
            })
        };
        match self.arcs().all(fits) {
            true => Ok(()),
            false => Err(ModelError::UnknownPlace {
                transition: self.name(),
            }),
        }
    }

    fn parameters(&self) -> Result<(), ModelError> {
        let t = self.t;
        let delay = match &t.timing {
            Timing::Delay(delay) => delay.fault(),
            _ => None,
        };
        let weight = (!(t.weight.is_finite() && t.weight > 0.0))
            .then_some("the weight must be a finite number above 0");
        let servers = (t.servers == Some(0)).then_some("there must be at least one server");
        let nothing = t.takes.iter().any(|take| take.count == 0);
        let nothing = nothing.then_some("an arc that takes tokens takes at least one");
        match delay.or(weight).or(servers).or(nothing) {
            Some(what) => Err(ModelError::Parameter {
                transition: self.name(),
                what,
            }),
            None => Ok(()),
        }
    }

    fn single_arcs(&self) -> Result<(), ModelError> {
        let mut taken = BTreeSet::new();
        let mut spent = BTreeSet::new();
        let takes = self
            .t
            .takes
            .iter()
            .map(|a| a.place)
            .filter(|&p| !taken.insert(p));
        let spends = self.t.spends.iter().map(|a| (a.place, a.keep));
        let mut twice = takes.chain(spends.filter(|&arc| !spent.insert(arc)).map(|arc| arc.0));
        match twice.next() {
            Some(place) => Err(ModelError::TwoArcs {
                transition: self.name(),
                place: self.place(place).name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn colours(&self) -> Result<(), ModelError> {
        let joins = joins(self.t, self.places);
        let Some(&first) = joins.first() else {
            return self.without_colour();
        };
        let keys = self.place(first).keys();
        match self
            .by_colour()
            .chain(joins)
            .find(|&p| self.place(p).keys() != keys)
        {
            Some(other) => Err(ModelError::KeysDiffer {
                transition: self.name(),
                first: self.place(first).name.clone(),
                second: self.place(other).name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Places of arcs that use the colour but do not determine it.
    fn by_colour(&self) -> impl Iterator<Item = u32> {
        let outputs = self.t.outputs.iter().filter(|output| {
            matches!(output.product, Product::Plain(_, None)) && self.place(output.place).is_keyed()
        });
        let inhibitors = self.t.inhibitors.iter().filter(|i| i.of_colour);
        outputs.map(|o| o.place).chain(inhibitors.map(|i| i.place))
    }

    fn without_colour(&self) -> Result<(), ModelError> {
        match self.by_colour().next() {
            Some(place) => Err(ModelError::NoColour {
                transition: self.name(),
                place: self.place(place).name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn bindings(&self) -> Result<(), ModelError> {
        let bound: u32 = self.t.takes.iter().map(|take| take.count).sum();
        let passes = self
            .t
            .outputs
            .iter()
            .filter_map(|output| match output.product {
                Product::Pass(index) => Some(index),
                _ => None,
            });
        if let Some(index) = passes.into_iter().find(|&index| index >= bound) {
            return Err(ModelError::NotBound {
                transition: self.name(),
                index,
                bound,
            });
        }
        for take in &self.t.takes {
            let place = self.place(take.place);
            if is_sink(place) {
                return Err(ModelError::TakesFromSink {
                    transition: self.name(),
                    place: place.name.clone(),
                });
            }
            if take.count > 1 && !is_fifo(place) && self.looks_at_tokens() {
                return Err(ModelError::ManyUnordered {
                    transition: self.name(),
                    place: place.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Only timed firings are under way, and one that returns a token has one.
    fn cancels(&self) -> Result<(), ModelError> {
        let faulty = |cancel: &Cancel<T>| {
            let Some(other) = self.transitions.get(cancel.transition as usize) else {
                return Some("it cancels a transition that does not exist");
            };
            if matches!(other.timing, Timing::Immediate) {
                return Some("it cancels an immediate transition, which is never under way");
            }
            let to = cancel.to.map(|to| self.places.get(to as usize));
            let is_queue = |place: &PlaceSpec<T>| matches!(place.kind, PlaceKind::Queue(_));
            match to {
                Some(to) if !to.is_some_and(is_queue) || other.takes.is_empty() => {
                    Some("it returns a token that the cancelled firing does not have")
                }
                _ => None,
            }
        };
        match self.t.cancels.iter().find_map(faulty) {
            Some(what) => Err(ModelError::Parameter {
                transition: self.name(),
                what,
            }),
            None => Ok(()),
        }
    }

    /// True if tokens must be examined before they are taken (or are only read).
    fn looks_at_tokens(&self) -> bool {
        let t = self.t;
        t.guard.is_some()
            || t.inhibitors.iter().any(|i| i.of_colour)
            || t.takes
                .iter()
                .any(|take| take.keep || take.key.is_some() || take.count > 1)
            || t.spends.iter().any(|spend| {
                spend.key.is_some() || matches!(spend.count, super::spec::Count::By(_))
            })
    }

    /// An immediate transition that can never be disabled: only the certain cases; others are detected during the
    /// run.
    fn zero_time(&self) -> Result<(), ModelError> {
        let t = self.t;
        let certain = matches!(t.timing, Timing::Immediate)
            && t.guard.is_none()
            && t.inhibitors.is_empty()
            && t.resets.is_empty()
            && self
                .arcs()
                .all(|(place, _)| self.place(place).capacity().is_none());
        if !certain {
            return Ok(());
        }
        let consumes = t.takes.iter().any(|a| !a.keep) || t.spends.iter().any(|a| !a.keep);
        let why = match consumes {
            false => "consumes nothing",
            true if self.gives_back_all() => "gives back all that it consumes",
            true => return Ok(()),
        };
        Err(ModelError::ZeroTimeLoop {
            transition: self.name(),
            why,
        })
    }

    /// True if the outputs certainly restore the inputs, in places without keys.
    fn gives_back_all(&self) -> bool {
        let t = self.t;
        let takes = t
            .takes
            .iter()
            .filter(|a| !a.keep)
            .map(|a| (a.place, Some(a.count)));
        let spends = t.spends.iter().filter(|a| !a.keep).map(|a| match a.count {
            super::spec::Count::Fixed(count) => (a.place, Some(count)),
            super::spec::Count::By(_) => (a.place, None),
        });
        takes.chain(spends).all(|(place, count)| {
            count.is_some_and(|count| {
                !self.place(place).is_keyed() && self.certainly_given(place) >= count
            })
        })
    }

    fn certainly_given(&self, place: u32) -> u32 {
        let to_place = self.t.outputs.iter().filter(|output| output.place == place);
        to_place
            .map(|output| match &output.product {
                Product::Pass(_) | Product::Token(_) => 1,
                Product::Plain(super::spec::Count::Fixed(count), _) => *count,
                _ => 0,
            })
            .fold(0, u32::saturating_add)
    }
}

fn is_sink<T>(place: &PlaceSpec<T>) -> bool {
    matches!(&place.kind, PlaceKind::Queue(queue) if queue.sink)
}

fn is_fifo<T>(place: &PlaceSpec<T>) -> bool {
    matches!(&place.kind, PlaceKind::Queue(queue) if matches!(queue.order, Order::Fifo))
}
