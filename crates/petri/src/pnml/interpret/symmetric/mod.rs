//! Symmetric nets (ISO/IEC 15909-2, 2011, high-level nets with finite sorts), as the Model Checking Contest has them: each
//! place becomes one place for each of its colours, and each transition one for each binding of its variables for which
//! its condition holds. What is read is therefore a net of plain tokens with the same markings.

mod sorts;
mod terms;

use std::collections::BTreeMap;

use super::super::tree::Element;
use super::{Node, Reader, add_arc, arc_kind, name_of, unique_names};
use crate::net::{Arc, ArcKind, Net, Place, PlaceId, Servers, Timing, Transition};
use crate::text::{Mistake, ReadError};
use sorts::Sorts;
use terms::{Binding, Bound, Terms};

/// Places and transitions after unfolding, at most.
const MAX_NODES: u64 = 2_000_000;

/// Unfolds a net, whose transitions have the timing and the servers that `lasts` gives for their indices.
pub(super) fn net(
    reader: &Reader<'_>,
    element: &Element,
    lasts: impl Fn(usize, &Element) -> Result<(Timing, Servers), ReadError>,
) -> Result<Net, ReadError> {
    let sorts = Sorts::of(element)?;
    let id = || element.attribute("id").unwrap_or_default().to_owned();
    let mut unfolded = Unfolded {
        net: Net::new(name_of(element).unwrap_or_else(id)),
        terms: Terms { sorts: &sorts },
        first: Vec::new(),
        sizes: Vec::new(),
        nodes: 0,
    };
    let names = unique_names(reader.places.iter().chain(&reader.transitions));
    for (place, name) in reader.places.iter().zip(&names) {
        unfolded.place(place, name)?;
    }
    let mut arcs: BTreeMap<usize, Vec<HighArc<'_>>> = BTreeMap::new();
    for element in &reader.arcs {
        let (transition, arc) = high_arc(reader, element)?;
        arcs.entry(transition).or_default().push(arc);
    }
    let names = names.iter().skip(reader.places.len());
    for (index, (transition, name)) in reader.transitions.iter().zip(names).enumerate() {
        let arcs = arcs.get(&index).map_or(&[][..], Vec::as_slice);
        unfolded.transition(transition, name, arcs, lasts(index, transition)?)?;
    }
    Ok(unfolded.net)
}

/// An arc of the high-level net.
struct HighArc<'a> {
    kind: ArcKind,
    place: usize,
    element: &'a Element,
    /// Its term; without one it is a token of the only colour.
    term: Option<&'a Element>,
}

fn high_arc<'a>(
    reader: &Reader<'a>,
    element: &'a Element,
) -> Result<(usize, HighArc<'a>), ReadError> {
    let ends = (
        reader.end(element, "source")?,
        reader.end(element, "target")?,
    );
    let said = arc_kind(element)?;
    let (transition, kind, place) = match ends {
        (Node::Place(p), Node::Transition(t)) => (t, said.unwrap_or(ArcKind::Input), p),
        (Node::Transition(t), Node::Place(p)) if said.is_none() => (t, ArcKind::Output, p),
        _ => {
            let expected = "an arc between a place and a transition";
            return Err(element.wrong(Mistake::unexpected(expected, "another one")));
        }
    };
    let term = element.child("hlinscription").map(structure).transpose()?;
    let arc = HighArc {
        kind,
        place,
        element,
        term,
    };
    Ok((transition, arc))
}

/// The term of an element.
fn structure(element: &Element) -> Result<&Element, ReadError> {
    let structure = element.child("structure").and_then(|s| s.children.first());
    structure.ok_or_else(|| {
        element.wrong(Mistake::unexpected(
            "an element structure with a term",
            "none",
        ))
    })
}

struct Unfolded<'s> {
    net: Net,
    terms: Terms<'s>,
    /// Of every place of the high-level net: its first place, and the number of its colours.
    first: Vec<usize>,
    sizes: Vec<usize>,
    nodes: u64,
}

impl Unfolded<'_> {
    fn count(&mut self, element: &Element) -> Result<(), ReadError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let expected = format!("at most {MAX_NODES} places and transitions after unfolding");
            return Err(element.wrong(Mistake::unexpected(expected, "more")));
        }
        Ok(())
    }

    fn place(&mut self, element: &Element, name: &str) -> Result<(), ReadError> {
        let sort = match element.child("type") {
            Some(sort) => self.terms.sorts.of_element(structure(sort)?)?,
            None => self.terms.sorts.dot(),
        };
        let size = self.terms.sorts.size(&sort);
        let initial = match element.child("hlinitialMarking") {
            Some(marking) => {
                let term = structure(marking)?;
                self.terms.multiset(term, &Bound::default(), size)?
            }
            None => BTreeMap::new(),
        };
        self.first.push(self.net.places.len());
        self.sizes.push(size);
        for colour in 0..size {
            self.count(element)?;
            let tokens = initial.get(&colour).copied().unwrap_or(0);
            let tokens = u32::try_from(tokens).map_err(|_| {
                element.wrong(Mistake::unexpected(
                    "0 to 4294967295 tokens",
                    tokens.to_string(),
                ))
            })?;
            let mut place = Place::new(named(name, &self.terms.sorts.words(&sort, colour)), tokens);
            place.line = element.line;
            self.net.add_place(place);
        }
        Ok(())
    }

    fn transition(
        &mut self,
        element: &Element,
        name: &str,
        arcs: &[HighArc<'_>],
        (timing, servers): (Timing, Servers),
    ) -> Result<(), ReadError> {
        let condition = element.child("condition").map(structure).transpose()?;
        let terms = arcs.iter().filter_map(|arc| arc.term).chain(condition);
        let mut binding = Binding::of(self.terms.sorts, terms)?;
        loop {
            self.count(element)?;
            let bound = binding.bound();
            if condition.map_or(Ok(true), |term| self.terms.holds(term, bound))? {
                let name = named(name, &binding.words(self.terms.sorts));
                let mut transition = Transition::new(name, timing.clone()).servers(servers);
                transition.line = element.line;
                for arc in arcs {
                    self.arc(&mut transition, arc, bound)?;
                }
                self.net.add_transition(transition);
            }
            if !binding.advance() {
                return Ok(());
            }
        }
    }

    fn arc(
        &self,
        transition: &mut Transition,
        arc: &HighArc<'_>,
        bound: &Bound,
    ) -> Result<(), ReadError> {
        let size = self.sizes[arc.place];
        let tokens = match arc.term {
            Some(term) => self.terms.multiset(term, bound, size)?,
            None => BTreeMap::from([(0, 1)]),
        };
        for (colour, count) in tokens.into_iter().filter(|(_, count)| *count != 0) {
            let multiplicity = u32::try_from(count).map_err(|_| {
                let expected = "as many tokens as are subtracted, or more";
                arc.element
                    .wrong(Mistake::unexpected(expected, count.to_string()))
            })?;
            let new = Arc {
                kind: arc.kind,
                place: PlaceId(self.first[arc.place] + colour),
                multiplicity,
                line: arc.element.line,
            };
            add_arc(transition, new);
        }
        Ok(())
    }
}

/// A name with colours behind it.
fn named(name: &str, colours: &[String]) -> String {
    std::iter::once(name)
        .chain(colours.iter().map(String::as_str))
        .collect::<Vec<&str>>()
        .join("_")
}
