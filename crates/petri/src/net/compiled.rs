//! A net prepared for its exploration and simulation: conditions as intervals, effects as additions.

use super::{ArcKind, Net, Servers, Timing, Transition};

/// The prepared net.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    /// Initial tokens of every place, then the stage of every expanded Erlang transition.
    pub initial: Vec<u32>,
    /// The highest priority first, then in the order of the net.
    pub transitions: Vec<Fast>,
    /// Indices in `transitions` of those with stages.
    staged: Vec<usize>,
}

/// One transition.
#[derive(Debug, Clone)]
pub(crate) struct Fast {
    /// Its index in the net.
    pub number: u32,
    /// 0 for timed, one more than the net's priority for immediate transitions.
    pub level: u64,
    /// Weight of an immediate, rate of an exponential transition (of each stage, for Erlang); 0 otherwise.
    pub speed: f64,
    /// Maximum number of concurrent firings.
    pub servers: Servers,
    /// Column that counts the stages done, and how many stages there are.
    pub stage: Option<(usize, u32)>,
    conditions: Vec<Condition>,
    effects: Vec<Effect>,
    inputs: Vec<(usize, u32)>,
}

/// `low <= tokens <= low + width` of one place.
#[derive(Debug, Clone, Copy)]
struct Condition {
    place: usize,
    low: u32,
    width: u32,
}

/// `tokens = (tokens & keep) + add`, wrapping: `keep` is 0 for a reset place, `add` may represent a negative number.
#[derive(Debug, Clone, Copy)]
struct Effect {
    place: usize,
    keep: u32,
    add: u32,
}

/// Whether Erlang transitions are expanded into their stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stages {
    Expanded,
    Ignored,
}

impl Compiled {
    pub(crate) fn new(net: &Net, stages: Stages) -> Self {
        let mut initial = net.initial_marking().into_vec();
        let mut transitions = Vec::with_capacity(net.transitions.len());
        for (number, t) in net.transitions.iter().enumerate() {
            let Some(mut fast) = Fast::new(net, number, t) else {
                continue;
            };
            if let (Timing::Erlang { stages: k, .. }, Stages::Expanded) = (&t.timing, stages) {
                fast.stage = Some((initial.len(), *k));
                initial.push(0);
            }
            transitions.push(fast);
        }
        transitions.sort_by_key(|t| std::cmp::Reverse(t.level));
        let staged = (0..transitions.len()).filter(|&i| transitions[i].stage.is_some());
        Self {
            staged: staged.collect(),
            initial,
            transitions,
        }
    }

    /// Calls `visit` with every transition that may fire in `state`: the enabled ones of the highest priority.
    pub(crate) fn for_each_enabled(&self, state: &[u32], mut visit: impl FnMut(usize, &Fast)) {
        let mut level = 0;
        for (i, t) in self.transitions.iter().enumerate() {
            if t.level < level {
                break;
            }
            if t.is_enabled(state) {
                level = t.level;
                visit(i, t);
            }
        }
    }

    /// Fires transition `i` in `from`, and writes the following state to `to`.
    ///
    /// A transition with stages that was disabled, or fired, starts again with its first stage (enabling memory).
    pub(crate) fn fire(&self, i: usize, from: &[u32], to: &mut Vec<u32>) {
        to.clear();
        to.extend_from_slice(from);
        let fired = &self.transitions[i];
        for effect in &fired.effects {
            let tokens = &mut to[effect.place];
            *tokens = (*tokens & effect.keep).wrapping_add(effect.add);
        }
        for &s in &self.staged {
            let t = &self.transitions[s];
            if let Some((column, _)) = t.stage
                && to[column] > 0
                && (s == i || !t.is_enabled(to))
            {
                to[column] = 0;
            }
        }
    }
}

impl Fast {
    /// `None` for a transition that is never enabled.
    pub(crate) fn new(net: &Net, number: usize, t: &Transition) -> Option<Self> {
        let mut conditions = Vec::new();
        let mut effects = Vec::new();
        for (place, ends) in ends(t) {
            let capacity = net.places.get(place)?.capacity.unwrap_or(u32::MAX);
            conditions.extend(ends.condition(place, capacity)?);
            effects.extend(ends.effect(place));
        }
        let (level, speed) = match t.timing {
            Timing::Immediate { priority, weight } => (u64::from(priority) + 1, weight),
            Timing::Exponential { rate } | Timing::Erlang { rate, .. } => (0, rate),
            _ => (0, 0.0),
        };
        Some(Self {
            number: u32::try_from(number).ok()?,
            level,
            speed,
            servers: t.servers,
            stage: None,
            conditions,
            effects,
            inputs: t
                .arcs_of(ArcKind::Input)
                .map(|arc| (arc.place.0, arc.multiplicity))
                .collect(),
        })
    }

    pub(crate) fn is_immediate(&self) -> bool {
        self.level > 0
    }

    /// True if the tokens are present, ignoring priorities.
    pub(crate) fn is_enabled(&self, state: &[u32]) -> bool {
        self.conditions
            .iter()
            .all(|c| state[c.place].wrapping_sub(c.low) <= c.width)
    }

    /// Number of busy servers in `state`, in which the transition is enabled.
    pub(crate) fn busy_servers(&self, state: &[u32]) -> u32 {
        if self.servers == Servers::Single {
            return 1;
        }
        let degrees = self
            .inputs
            .iter()
            .map(|&(place, k)| state[place] / k.max(1));
        self.servers.limit(degrees.min().unwrap_or(u32::MAX))
    }
}

/// The places of a transition, and what its arcs mean for each.
pub(crate) fn ends(t: &Transition) -> impl Iterator<Item = (usize, Ends)> {
    let mut places: Vec<usize> = t.arcs.iter().map(|arc| arc.place.0).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| (place, Ends::of(t, place)))
}

/// The combined effect of the arcs of one transition on one place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    pub takes: u32,
    pub gives: u32,
    pub needs: u32,
    pub forbids_from: Option<u32>,
    pub resets: bool,
}

impl Ends {
    fn of(t: &Transition, place: usize) -> Self {
        let mut ends = Self::default();
        for arc in t.arcs.iter().filter(|arc| arc.place.0 == place) {
            let n = arc.multiplicity;
            match arc.kind {
                ArcKind::Input => (ends.takes, ends.needs) = (n, ends.needs.max(n)),
                ArcKind::Output => ends.gives = n,
                ArcKind::Read => ends.needs = ends.needs.max(n),
                ArcKind::Inhibitor => ends.forbids_from = Some(n),
                ArcKind::Reset => ends.resets = true,
            }
        }
        ends
    }

    /// The numbers of tokens with which the transition is enabled: `None` for none, `Some(None)` for any.
    fn condition(&self, place: usize, capacity: u32) -> Option<Option<Condition>> {
        let mut high = u32::MAX;
        if self.gives > 0 {
            // tokens - takes + gives <= capacity, or only gives <= capacity if the place is emptied.
            let room = capacity.checked_sub(self.gives)?;
            if !self.resets {
                high = room.saturating_add(self.takes);
            }
        }
        if let Some(n) = self.forbids_from {
            high = high.min(n.checked_sub(1)?);
        }
        let (low, width) = (self.needs, high.checked_sub(self.needs)?);
        let always = low == 0 && width == u32::MAX;
        Some((!always).then_some(Condition { place, low, width }))
    }

    fn effect(&self, place: usize) -> Option<Effect> {
        let (keep, add) = if self.resets {
            (0, self.gives)
        } else {
            (u32::MAX, self.gives.wrapping_sub(self.takes))
        };
        (self.resets || add != 0).then_some(Effect { place, keep, add })
    }
}
