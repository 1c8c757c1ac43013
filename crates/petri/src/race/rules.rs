//! A net prepared for firing: what each transition changes, and which transitions each place affects.

use std::ops::Range;

use crate::coloured::Delay;
use crate::lower;
use crate::net::compiled::{Ends, Fast, ends};
use crate::net::{Net, Servers, Timing, Transition};
use crate::schedule::agenda::{Agenda, PlaceWakes, add};
use crate::statistics::Layout;

/// The net and tables computed from it.
///
/// The agenda has the immediate transitions first, the highest priority before the others, then, from the next whole word
/// on, the timed ones. Among equals they keep the order of the net.
pub(crate) struct Rules {
    net: Net,
    /// Transitions in the order of the agenda, and none between the two kinds.
    transition_of: Vec<Option<usize>>,
    /// The reverse.
    rule_of: Vec<u32>,
    /// Words of the agenda with immediate transitions.
    immediate_words: usize,
    /// `None` for a transition that is never enabled.
    compiled: Vec<Option<Fast>>,
    delays: Vec<Option<Delay>>,
    /// Places that a firing changes, and how.
    changes: Vec<Vec<(usize, Ends)>>,
    wakes: Vec<PlaceWakes>,
}

impl Rules {
    pub(crate) fn new(net: &Net, ticks_per_unit: f64) -> Self {
        let transitions = &net.transitions;
        let delays = transitions
            .iter()
            .map(|t| lower::delay(&t.timing, ticks_per_unit));
        let transition_of = in_order(net);
        let mut rule_of = vec![0; transitions.len()];
        for (rule, transition) in (0..).zip(&transition_of) {
            transition.iter().for_each(|&t| rule_of[t] = rule);
        }
        let immediate = transitions.iter().filter(|t| t.timing.is_immediate());
        let compiled = transitions.iter().enumerate();
        Self {
            immediate_words: immediate.count().div_ceil(64),
            compiled: compiled.map(|(n, t)| Fast::new(net, n, t)).collect(),
            delays: delays.collect(),
            changes: transitions.iter().map(changes).collect(),
            wakes: wakes(net, &transition_of),
            net: net.clone(),
            transition_of,
            rule_of,
        }
    }

    /// With all transitions to be checked.
    pub(crate) fn agenda(&self) -> Agenda {
        let tokens = self.net.places.iter().map(|place| place.tokens);
        Agenda::new(self.transition_of.len(), tokens)
    }

    /// Words of the agenda with immediate transitions.
    pub(crate) fn immediate(&self) -> Range<usize> {
        0..self.immediate_words
    }

    /// Words of the agenda with timed transitions.
    pub(crate) fn timed(&self) -> Range<usize> {
        self.immediate_words..self.transition_of.len().div_ceil(64)
    }

    pub(crate) fn rule(&self, transition: usize) -> u32 {
        self.rule_of[transition]
    }

    /// The transition with this number in the agenda.
    pub(crate) fn transition(&self, rule: usize) -> Option<usize> {
        *self.transition_of.get(rule)?
    }

    /// What a change of a place may enable or disable.
    pub(crate) fn wakes(&self, place: usize) -> &PlaceWakes {
        &self.wakes[place]
    }

    pub(crate) fn is_enabled(&self, transition: usize, marking: &[u32]) -> bool {
        let compiled = &self.compiled[transition];
        compiled
            .as_ref()
            .is_some_and(|fast| fast.is_enabled(marking))
    }

    /// Number of busy servers. A transition without inputs has a number of servers; a valid net has no other one.
    pub(crate) fn servers(&self, transition: usize, marking: &[u32]) -> usize {
        let compiled = self.compiled[transition].as_ref();
        let enabled = compiled.filter(|fast| fast.is_enabled(marking));
        enabled.map_or(0, |fast| fast.busy_servers(marking)) as usize
    }

    /// Priority and weight of an immediate transition.
    pub(crate) fn rank(&self, rule: usize) -> (u32, f64) {
        let transition = self.transition(rule);
        match transition.map(|t| &self.net.transitions[t].timing) {
            Some(Timing::Immediate { priority, weight }) => (*priority, *weight),
            _ => (0, 0.0),
        }
    }

    pub(crate) fn net(&self) -> &Net {
        &self.net
    }

    pub(crate) fn len(&self) -> usize {
        self.delays.len()
    }

    pub(crate) fn delay(&self, transition: usize) -> Option<&Delay> {
        self.delays[transition].as_ref()
    }

    pub(crate) fn changes(&self, transition: usize) -> &[(usize, Ends)] {
        &self.changes[transition]
    }
    pub(crate) fn layout(&self) -> Layout {
        let servers = |t: &Transition| match t.servers {
            _ if t.timing.is_immediate() => None,
            Servers::Single => Some(Some(1)),
            Servers::Multiple(servers) => Some(Some(servers)),
            Servers::Infinite => Some(None),
        };
        let transitions = self.net.transitions.iter();
        Layout {
            places: self.net.places.iter().map(|p| p.name.clone()).collect(),
            transitions: transitions.map(|t| (t.name.clone(), servers(t))).collect(),
            rewards: Vec::new(),
        }
    }

    pub(crate) fn place_name(&self, place: usize) -> &str {
        &self.net.places[place].name
    }

    pub(crate) fn transition_name(&self, transition: usize) -> &str {
        &self.net.transitions[transition].name
    }
}

/// Transitions in the order of the agenda.
fn in_order(net: &Net) -> Vec<Option<usize>> {
    let (mut immediate, timed): (Vec<usize>, Vec<usize>) =
        (0..net.transitions.len()).partition(|&t| net.transitions[t].timing.is_immediate());
    immediate.sort_by_key(|&t| match net.transitions[t].timing {
        Timing::Immediate { priority, .. } => std::cmp::Reverse(priority),
        _ => std::cmp::Reverse(0),
    });
    let mut order: Vec<Option<usize>> = immediate.into_iter().map(Some).collect();
    order.resize(order.len().next_multiple_of(64), None);
    order.extend(timed.into_iter().map(Some));
    order
}

fn changes(t: &Transition) -> Vec<(usize, Ends)> {
    ends(t)
        .filter(|(_, ends)| ends.takes > 0 || ends.gives > 0 || ends.resets)
        .collect()
}

/// For each place, the transitions that a change of it may enable or disable. Timed ones are also looked at when a place
/// is empty, since their clocks stop then.
fn wakes(net: &Net, order: &[Option<usize>]) -> Vec<PlaceWakes> {
    let mut all = Vec::new();
    all.resize_with(net.places.len(), PlaceWakes::default);
    for (rule, transition) in order.iter().enumerate() {
        let Some(t) = transition.map(|t| &net.transitions[t]) else {
            continue;
        };
        let is_immediate = t.timing.is_immediate();
        let is_one = is_immediate || t.servers == Servers::Single;
        for (place, ends) in ends(t) {
            let wakes: &mut PlaceWakes = &mut all[place];
            let is_limited = ends.forbids_from.is_some()
                || ends.gives > 0 && net.places[place].capacity.is_some();
            if is_limited || ends.needs > 1 || ends.needs == 1 && !is_one {
                add(&mut wakes.on_gain, rule);
                add(&mut wakes.on_loss, rule);
            } else if ends.needs == 1 {
                // Only whether there is a token matters.
                add(&mut wakes.on_fill, rule);
                let on_empty = match is_immediate {
                    true => &mut wakes.on_empty,
                    false => &mut wakes.on_loss,
                };
                add(on_empty, rule);
            }
        }
    }
    all
}
