//! Place and transition invariants.
//!
//! A P-invariant is a set of weights of places such that the weighted sum of tokens never changes. A T-invariant is a
//! number of firings of each transition that together restore the marking. Both are the minimal semi-positive
//! solutions of a linear system with the incidence matrix (J. Martinez and M. Silva, "A simple and fast algorithm to
//! obtain all invariants of a generalised Petri net", 1982; T. Murata, "Petri nets: properties, analysis and
//! applications", Proc. IEEE 77(4), 1989, sec. VI).
//!
//! ```
//! use inorder_petri::invariants::Invariants;
//!
//! let net = inorder_petri::text::read("repair.net", "
//!     place working 5
//!     place broken
//!     transition fail exponential rate 1
//!       in working
//!       out broken
//!     transition repair exponential rate 2
//!       in broken
//!       out working")?;
//! let invariants = Invariants::of(&net)?;
//! assert_eq!(invariants.places_text(&net), ["working + broken = 5"]);
//! assert_eq!(invariants.transitions_text(&net), ["fail + repair"]);
//! assert!(invariants.is_covered_by_places());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod farkas;

use crate::net::{ArcKind, Net, PlaceId, TransitionId};
use farkas::minimal_solutions;

pub use farkas::Explosion;

/// The minimal semi-positive invariants of a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariants {
    /// P-invariants: weights of places, in order, and the constant weighted sum of tokens.
    pub places: Vec<PlaceInvariant>,
    /// T-invariants: numbers of firings of transitions, in order, that together change nothing.
    pub transitions: Vec<Vec<(TransitionId, u64)>>,
    /// The maximum number of tokens in each place according to the P-invariants; `None` for places in none.
    bounds: Vec<Option<u64>>,
    /// Whether each transition is in a T-invariant.
    repeats: Vec<bool>,
}

/// Places whose weighted sum of tokens never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceInvariant {
    /// The places and their weights, above 0.
    pub weights: Vec<(PlaceId, u64)>,
    /// The weighted sum of tokens.
    pub tokens: u64,
}

impl Invariants {
    /// Maximum number of intermediate solutions that [`Invariants::of`] keeps.
    pub(crate) const LIMIT: usize = 20_000;

    /// The invariants of `net`.
    ///
    /// Inhibitor arcs, read arcs and capacities have no influence, because they change no tokens. A place with a
    /// reset arc is in no P-invariant, a transition with a reset arc is in no T-invariant.
    pub fn of(net: &Net) -> Result<Self, Explosion> {
        Self::limited(net, Self::LIMIT)
    }

    /// The invariants of `net`, unless more than `limit` intermediate solutions are needed.
    pub fn limited(net: &Net, limit: usize) -> Result<Self, Explosion> {
        let solutions = minimal_solutions(&incidence(net, Rows::Places), limit)?;
        let places: Vec<_> = solutions
            .into_iter()
            .map(|weights| place_invariant(net, &weights))
            .collect();
        let solutions = minimal_solutions(&incidence(net, Rows::Transitions), limit)?;
        let named = |w: Vec<(usize, u64)>| w.into_iter().map(|(t, n)| (TransitionId(t), n));
        let transitions: Vec<Vec<_>> = solutions
            .into_iter()
            .map(|firings| named(firings).collect())
            .collect();
        let mut repeats = vec![false; net.transitions.len()];
        for (t, _) in transitions.iter().flatten() {
            repeats[t.0] = true;
        }
        Ok(Self {
            bounds: bounds(net, &places),
            places,
            transitions,
            repeats,
        })
    }

    /// The maximum number of tokens in `place` according to the P-invariants; `None` if it is in none.
    pub fn bound(&self, place: PlaceId) -> Option<u64> {
        self.bounds.get(place.0).copied().flatten()
    }

    /// True if every place is in a P-invariant: the net is then bounded for every initial marking.
    pub fn is_covered_by_places(&self) -> bool {
        self.bounds.iter().all(Option::is_some)
    }

    /// True if every transition is in a T-invariant, as in every bounded net that is live.
    pub fn is_covered_by_transitions(&self) -> bool {
        self.repeats.iter().all(|&repeats| repeats)
    }

    /// Places in no P-invariant.
    pub fn uncovered_places(&self) -> Vec<PlaceId> {
        (0..self.bounds.len())
            .filter(|&p| self.bounds[p].is_none())
            .map(PlaceId)
            .collect()
    }

    /// Transitions in no T-invariant.
    pub fn uncovered_transitions(&self) -> Vec<TransitionId> {
        (0..self.repeats.len())
            .filter(|&t| !self.repeats[t])
            .map(TransitionId)
            .collect()
    }

    /// The P-invariants as text, `idle + 2 busy = 4`.
    pub fn places_text(&self, net: &Net) -> Vec<String> {
        let term = |&(p, n): &(PlaceId, u64)| (n, net.places.get(p.0).map_or("", |p| &p.name));
        let text = |invariant: &PlaceInvariant| {
            format!(
                "{} = {}",
                sum(invariant.weights.iter().map(term)),
                invariant.tokens
            )
        };
        self.places.iter().map(text).collect()
    }

    /// The T-invariants as text, `arrive + 2 serve`.
    pub fn transitions_text(&self, net: &Net) -> Vec<String> {
        let name = |t: TransitionId| net.transitions.get(t.0).map_or("", |t| t.name.as_str());
        let text =
            |firings: &Vec<(TransitionId, u64)>| sum(firings.iter().map(|&(t, n)| (n, name(t))));
        self.transitions.iter().map(text).collect()
    }
}

fn sum<'a>(terms: impl Iterator<Item = (u64, &'a str)>) -> String {
    let term = |(n, name)| {
        if n == 1 {
            String::from(name)
        } else {
            format!("{n} {name}")
        }
    };
    terms.map(term).collect::<Vec<_>>().join(" + ")
}

fn place_invariant(net: &Net, weights: &[(usize, u64)]) -> PlaceInvariant {
    let tokens = |&(p, n): &(usize, u64)| n.saturating_mul(u64::from(net.places[p].tokens));
    PlaceInvariant {
        tokens: weights.iter().map(tokens).fold(0, u64::saturating_add),
        weights: weights.iter().map(|&(p, n)| (PlaceId(p), n)).collect(),
    }
}

fn bounds(net: &Net, places: &[PlaceInvariant]) -> Vec<Option<u64>> {
    let mut bounds: Vec<Option<u64>> = vec![None; net.places.len()];
    for invariant in places {
        for &(place, weight) in &invariant.weights {
            let bound = invariant.tokens / weight;
            let known = &mut bounds[place.0];
            *known = Some(known.map_or(bound, |b| b.min(bound)));
        }
    }
    bounds
}

#[derive(Clone, Copy, PartialEq)]
enum Rows {
    Places,
    Transitions,
}

/// Tokens that each transition adds to each place, by row; `None` for rows that reset arcs make invalid.
fn incidence(net: &Net, rows: Rows) -> Vec<Option<Vec<i64>>> {
    let (places, transitions) = (net.places.len(), net.transitions.len());
    let by_place = rows == Rows::Places;
    let (height, width) = if by_place {
        (places, transitions)
    } else {
        (transitions, places)
    };
    let mut matrix = vec![Some(vec![0; width]); height];
    let arcs = net
        .transitions
        .iter()
        .enumerate()
        .flat_map(|(t, x)| x.arcs.iter().map(move |a| (t, a)));
    for (t, arc) in arcs {
        let (row, column) = if by_place {
            (arc.place.0, t)
        } else {
            (t, arc.place.0)
        };
        let n = i64::from(arc.multiplicity);
        match (arc.kind, matrix.get_mut(row)) {
            (ArcKind::Reset, Some(row)) => *row = None,
            (ArcKind::Input, Some(Some(row))) => row[column] -= n,
            (ArcKind::Output, Some(Some(row))) => row[column] += n,
            _ => {}
        }
    }
    matrix
}
