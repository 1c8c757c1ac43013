//! A net prepared for firing: what each transition changes, and which transitions each place affects.

use std::collections::{BTreeMap, BTreeSet};

use crate::coloured::Delay;
use crate::lower;
use crate::net::{ArcKind, Net, Servers, Timing, Transition, TransitionId};
use crate::statistics::Layout;

/// The effect of a firing on one place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    pub(crate) place: usize,
    pub(crate) taken: u32,
    pub(crate) given: u32,
    /// A reset arc: the previous tokens are removed.
    pub(crate) empties: bool,
}

pub(crate) struct ImmediateRule {
    pub(crate) transition: usize,
    pub(crate) priority: u32,
    pub(crate) weight: f64,
}

/// The net and tables computed from it.
pub(crate) struct Rules {
    net: Net,
    /// Immediate transitions, the highest priority first, in the order of the net among equals.
    pub(crate) immediate: Vec<ImmediateRule>,
    delays: Vec<Option<Delay>>,
    changes: Vec<Vec<Change>>,
    dependents: Vec<Vec<u32>>,
}

impl Rules {
    pub(crate) fn new(net: &Net, ticks_per_unit: f64) -> Self {
        let delays = net
            .transitions
            .iter()
            .map(|t| lower::delay(&t.timing, ticks_per_unit));
        Self {
            immediate: immediate(net),
            delays: delays.collect(),
            changes: (0..net.transitions.len())
                .map(|t| changes(net, t))
                .collect(),
            dependents: dependents(net),
            net: net.clone(),
        }
    }

    pub(crate) fn net(&self) -> &Net {
        &self.net
    }

    pub(crate) fn len(&self) -> usize {
        self.delays.len()
    }

    pub(crate) fn is_immediate(&self, transition: usize) -> bool {
        self.delays[transition].is_none()
    }

    pub(crate) fn delay(&self, transition: usize) -> Option<&Delay> {
        self.delays[transition].as_ref()
    }

    pub(crate) fn changes(&self, transition: usize) -> &[Change] {
        &self.changes[transition]
    }

    /// The transitions with an arc at the place that can prevent them from firing.
    pub(crate) fn dependents(&self, place: usize) -> &[u32] {
        &self.dependents[place]
    }

    pub(crate) fn degree(&self, transition: usize, marking: &[u32]) -> u32 {
        self.net.enabling_degree(TransitionId(transition), marking)
    }

    /// Number of busy servers. A transition without inputs has no meaningful degree; as a source it works with one
    /// server if there is no limit.
    pub(crate) fn servers(&self, transition: usize, marking: &[u32]) -> u32 {
        let degree = self.degree(transition, marking);
        match self.net.transitions[transition].servers.limit(degree) {
            u32::MAX => 1,
            servers => servers,
        }
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
            rewards: 0,
        }
    }

    pub(crate) fn place_name(&self, place: usize) -> &str {
        &self.net.places[place].name
    }

    pub(crate) fn transition_name(&self, transition: usize) -> &str {
        &self.net.transitions[transition].name
    }
}

fn immediate(net: &Net) -> Vec<ImmediateRule> {
    let mut rules: Vec<ImmediateRule> = Vec::new();
    for (transition, t) in net.transitions.iter().enumerate() {
        if let Timing::Immediate { priority, weight } = t.timing {
            rules.push(ImmediateRule {
                transition,
                priority,
                weight,
            });
        }
    }
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    rules
}

fn changes(net: &Net, transition: usize) -> Vec<Change> {
    let mut changes: BTreeMap<usize, Change> = BTreeMap::new();
    for arc in &net.transitions[transition].arcs {
        let place = arc.place.0;
        let change = changes.entry(place).or_insert(Change {
            place,
            ..Change::default()
        });
        match arc.kind {
            ArcKind::Input => change.taken = change.taken.saturating_add(arc.multiplicity),
            ArcKind::Output => change.given = change.given.saturating_add(arc.multiplicity),
            ArcKind::Reset => change.empties = true,
            ArcKind::Inhibitor | ArcKind::Read => {}
        }
    }
    let changes = changes.into_values();
    changes
        .filter(|c| c.taken > 0 || c.given > 0 || c.empties)
        .collect()
}

fn dependents(net: &Net) -> Vec<Vec<u32>> {
    let mut dependents = vec![BTreeSet::new(); net.places.len()];
    for (transition, t) in net.transitions.iter().enumerate() {
        for arc in &t.arcs {
            let place = arc.place.0;
            let limits = match arc.kind {
                ArcKind::Reset => false,
                ArcKind::Output => net.places[place].capacity.is_some(),
                ArcKind::Input | ArcKind::Read | ArcKind::Inhibitor => true,
            };
            if limits {
                dependents[place].insert(transition as u32);
            }
        }
    }
    dependents
        .into_iter()
        .map(|set| set.into_iter().collect())
        .collect()
}
