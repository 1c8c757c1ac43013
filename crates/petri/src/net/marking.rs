//! Enabling and firing of a [`Net`], the common semantics of all analyses.

use super::{ArcKind, Net, Transition, TransitionId};

/// Tokens of every place, by place index.
pub type Marking = Box<[u32]>;

impl Net {
    /// The initial marking.
    pub fn initial_marking(&self) -> Marking {
        self.places.iter().map(|p| p.tokens).collect()
    }

    /// How many times the input tokens of `transition` are present; 0 if it is not enabled.
    ///
    /// Read arcs, inhibitor arcs and capacities are checked once, not once for each concurrent firing. Without input
    /// arcs the degree is `u32::MAX`, of which a single server uses 1. A place without a capacity holds at most
    /// `u32::MAX` tokens.
    pub fn enabling_degree(&self, transition: TransitionId, marking: &[u32]) -> u32 {
        let Some(t) = self.transitions.get(transition.0) else {
            return 0;
        };
        let mut degree = u32::MAX;
        for arc in &t.arcs {
            let Some(&held) = marking.get(arc.place.0) else {
                return 0;
            };
            match arc.kind {
                ArcKind::Input => degree = degree.min(held / arc.multiplicity.max(1)),
                ArcKind::Read if held < arc.multiplicity => return 0,
                ArcKind::Inhibitor if held >= arc.multiplicity => return 0,
                ArcKind::Output if !self.has_room(t, arc.place.0, held) => return 0,
                _ => {}
            }
        }
        degree
    }

    /// True if `transition` may fire, ignoring priorities.
    pub fn is_enabled(&self, transition: TransitionId, marking: &[u32]) -> bool {
        self.enabling_degree(transition, marking) > 0
    }

    /// Fires `transition`; returns `false`, without a change of the marking, if it is not enabled.
    pub fn fire(&self, transition: TransitionId, marking: &mut [u32]) -> bool {
        let enabled = self.is_enabled(transition, marking);
        if enabled {
            apply(&self.transitions[transition.0], marking);
        }
        enabled
    }

    /// The marking as text: `queue 3, idle 1`, without empty places.
    pub fn marking_text(&self, marking: &[u32]) -> String {
        let marked = self.places.iter().zip(marking).filter(|(_, n)| **n > 0);
        let words: Vec<String> = marked.map(|(p, n)| format!("{} {n}", p.name)).collect();
        if words.is_empty() {
            "no tokens".to_owned()
        } else {
            words.join(", ")
        }
    }

    fn has_room(&self, t: &Transition, place: usize, held: u32) -> bool {
        let capacity = self.places.get(place).and_then(|p| p.capacity);
        after(t, place, held) <= u64::from(capacity.unwrap_or(u32::MAX))
    }
}

/// Tokens in `place` after firing, given `held` before; valid only if the input tokens are present.
fn after(t: &Transition, place: usize, held: u32) -> u64 {
    let (mut left, mut given) = (u64::from(held), 0);
    let mut emptied = false;
    for arc in t.arcs.iter().filter(|arc| arc.place.0 == place) {
        match arc.kind {
            ArcKind::Input => left = left.saturating_sub(u64::from(arc.multiplicity)),
            ArcKind::Output => given += u64::from(arc.multiplicity),
            ArcKind::Reset => emptied = true,
            ArcKind::Inhibitor | ArcKind::Read => {}
        }
    }
    if emptied { given } else { left + given }
}

fn apply(t: &Transition, marking: &mut [u32]) {
    for arc in t.arcs_of(ArcKind::Input) {
        let held = &mut marking[arc.place.0];
        *held = held.saturating_sub(arc.multiplicity);
    }
    for arc in t.arcs_of(ArcKind::Reset) {
        marking[arc.place.0] = 0;
    }
    for arc in t.arcs_of(ArcKind::Output) {
        let held = &mut marking[arc.place.0];
        *held = held.saturating_add(arc.multiplicity);
    }
}
