//! Converts XML elements to a net.

mod symmetric;

use super::timing::{servers, timing};
use super::tree::{Element, own, parsed};
use crate::net::{Arc, ArcKind, Net, Place, PlaceId, Transition};
use crate::parameters::Parameters;
use crate::text::{Mistake, ReadError};
use std::collections::{BTreeMap, BTreeSet};

/// The net below `root` that is wanted, or the only one.
pub(super) fn net(root: &Element, parameters: &Parameters) -> Result<Net, ReadError> {
    let is_net = |element: &&Element| element.name == "net";
    let nets: Vec<&Element> = std::iter::once(root)
        .chain(&root.children)
        .filter(is_net)
        .collect();
    let element = super::chosen(root, &nets, "id", parameters)?;
    let is_high_level = is_high_level(element)?;
    let reader = Reader::of(element, parameters.ignored(), is_high_level)?;
    match is_high_level {
        true => symmetric::net(&reader, element, |_, transition| {
            Ok((timing(transition)?, servers(transition)?))
        }),
        false => reader.net(element),
    }
}

/// A symmetric net whose transitions have these timings and servers, in their order.
pub(super) fn symmetric_net(element: &Element, timings: &[Transition]) -> Result<Net, ReadError> {
    let reader = Reader::of(element, &[], true)?;
    symmetric::net(&reader, element, |index, _| {
        let of: &Transition = &timings[index];
        Ok((of.timing.clone(), of.servers))
    })
}

/// Types of place/transition nets, or their last words: ISO/IEC 15909-2 (the core model, which ProM and PM4Py name, has no
/// markings there and has them in files), the first PNML, PIPE, Yasper.
const PLACE_TRANSITION: [&str; 6] = [
    "ptnet",
    "pnmlcoremodel",
    "pnmlcore",
    "ptnetb",
    "p/t net",
    "epnml-1.1",
];

/// Words in the types of high-level nets.
const HIGH_LEVEL: [&str; 5] = ["symmetric", "highlevel", "hlpn", "colored", "coloured"];

/// Whether a net is a high-level one, by its type; without a type it is a place/transition net. In nets of other types tokens
/// and transitions may mean anything.
fn is_high_level(net: &Element) -> Result<bool, ReadError> {
    let written = net.attribute("type").unwrap_or_default();
    let name = written.trim().to_ascii_lowercase();
    let is_of = |known: &&str| {
        let start = name.strip_suffix(*known);
        start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
    };
    if name.is_empty() || PLACE_TRANSITION.iter().any(is_of) {
        return Ok(false);
    }
    if HIGH_LEVEL.iter().any(|word| name.contains(word)) {
        return Ok(true);
    }
    let expected = "a net of type ptnet, symmetricnet or highlevelnet";
    Err(net.wrong(Mistake::unexpected(expected, format!("type {written}"))))
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Place(usize),
    Transition(usize),
}

/// The elements of a net, on all pages.
struct Reader<'a> {
    places: Vec<&'a Element>,
    transitions: Vec<&'a Element>,
    arcs: Vec<&'a Element>,
    nodes: BTreeMap<&'a str, Node>,
    references: BTreeMap<&'a str, &'a str>,
    /// Elements of other namespaces that are left out.
    ignored: &'a [String],
    is_high_level: bool,
}

impl<'a> Reader<'a> {
    fn of(net: &'a Element, ignored: &'a [String], is_high_level: bool) -> Result<Self, ReadError> {
        let mut reader = Self {
            places: Vec::new(),
            transitions: Vec::new(),
            arcs: Vec::new(),
            nodes: BTreeMap::new(),
            references: BTreeMap::new(),
            ignored,
            is_high_level,
        };
        reader.page(net)?;
        Ok(reader)
    }

    fn page(&mut self, page: &'a Element) -> Result<(), ReadError> {
        for element in &page.children {
            refuse_foreign(element, self.ignored)?;
            if !self.is_high_level {
                refuse_high_level(element)?;
            } else if element.name == "place"
                && let Some(marking) = element.child("initialMarking")
            {
                let found = "initialMarking of a place/transition net";
                return Err(marking.wrong(Mistake::unexpected("hlinitialMarking", found)));
            }
            match element.name.as_str() {
                "page" => self.page(element)?,
                "place" => {
                    self.identify(element, Node::Place(self.places.len()))?;
                    self.places.push(element);
                }
                "transition" => {
                    self.identify(element, Node::Transition(self.transitions.len()))?;
                    self.transitions.push(element);
                }
                "referencePlace" | "referenceTransition" => {
                    let id = required(element, "id")?;
                    let before = self.references.insert(id, required(element, "ref")?);
                    if before.is_some() {
                        let found = format!("{id} a second time");
                        return Err(element.wrong(Mistake::unexpected("an id of its own", found)));
                    }
                }
                "arc" => self.arcs.push(element),
                // Graphics, declarations and data of other tools are skipped.
                _ => {}
            }
        }
        Ok(())
    }

    fn identify(&mut self, element: &'a Element, node: Node) -> Result<(), ReadError> {
        let id = required(element, "id")?;
        if self.nodes.insert(id, node).is_some() {
            return Err(element.wrong(Mistake::unexpected("an id of its own", "one used before")));
        }
        Ok(())
    }

    fn net(&self, element: &Element) -> Result<Net, ReadError> {
        let id = || element.attribute("id").unwrap_or_default().to_owned();
        let mut net = Net::new(name_of(element).unwrap_or_else(id));
        let names = unique_names(self.places.iter().chain(&self.transitions));
        for (element, name) in self.places.iter().zip(&names) {
            net.add_place(place(element, name)?);
        }
        for (element, name) in self.transitions.iter().zip(&names[self.places.len()..]) {
            let mut t = Transition::new(name.as_str(), timing(element)?).servers(servers(element)?);
            t.line = element.line;
            net.add_transition(t);
        }
        for element in &self.arcs {
            let (transition, arc) = self.arc(element)?;
            add_arc(&mut net.transitions[transition], arc);
        }
        Ok(net)
    }

    fn arc(&self, element: &Element) -> Result<(usize, Arc), ReadError> {
        let (source, target) = (self.end(element, "source")?, self.end(element, "target")?);
        let said = arc_kind(element)?;
        let (transition, kind, place) = match (source, target, said) {
            (Node::Place(p), Node::Transition(t), said) => (t, said.unwrap_or(ArcKind::Input), p),
            (Node::Transition(t), Node::Place(p), None) => (t, ArcKind::Output, p),
            (Node::Transition(_), Node::Place(_), Some(kind)) => {
                let found = format!("an {} arc from a transition", kind.name());
                return Err(element.wrong(Mistake::unexpected("one from a place", found)));
            }
            (Node::Place(_), Node::Place(_), _) | (Node::Transition(_), Node::Transition(_), _) => {
                let mistake = Mistake::unexpected("a place and a transition", "two of a kind");
                return Err(element.wrong(mistake));
            }
        };
        let multiplicity = match kind {
            ArcKind::Reset => 1,
            _ => number(element.child("inscription"), 1)?,
        };
        let (place, line) = (PlaceId(place), element.line);
        let arc = Arc {
            kind,
            place,
            multiplicity,
            line,
        };
        Ok((transition, arc))
    }

    /// The node at one end of an arc, following references.
    fn end(&self, element: &Element, attribute: &str) -> Result<Node, ReadError> {
        let mut id = required(element, attribute)?;
        for _ in 0..=self.references.len() {
            if let Some(node) = self.nodes.get(id) {
                return Ok(*node);
            }
            match self.references.get(id) {
                Some(next) => id = next,
                None => break,
            }
        }
        if self.references.contains_key(id) {
            let found = format!("{id}, which refers to itself");
            let expected = "the id of a place or transition";
            return Err(element.wrong(Mistake::unexpected(expected, found)));
        }
        let valid = self.nodes.keys().chain(self.references.keys()).copied();
        Err(element.wrong(Mistake::unknown(
            "the id of a place or transition",
            id,
            valid,
        )))
    }
}

/// Elements of places, transitions and arcs of PNML that are read, or that only concern drawings; the last ones are of PIPE. Times,
/// priorities and guards that other tools write without a namespace of their own are none of them.
const KNOWN: [&str; 21] = [
    "name",
    "graphics",
    "toolspecific",
    "initialMarking",
    "hlinitialMarking",
    "capacity",
    "type",
    "kind",
    "arctype",
    "inscription",
    "hlinscription",
    "condition",
    "inhibition",
    "orientation",
    "arcpath",
    "tagged",
    "description",
    "documentation",
    "rate",
    "timed",
    "infiniteServer",
];
/// What only PIPE's transitions have, and what is read of a transition that has it.
const OF_PIPE: (&str, &str) = ("timed", "priority");

/// Refuses nodes and arcs with elements of which it is not known what they mean.
fn refuse_foreign(element: &Element, ignored: &[String]) -> Result<(), ReadError> {
    if !matches!(element.name.as_str(), "place" | "transition" | "arc") {
        return Ok(());
    }
    let (mark, read) = OF_PIPE;
    let is_pipe = element.child(mark).is_some();
    let is_known = |child: &Element| {
        let own = KNOWN.iter();
        let mut own = own.copied().chain(is_pipe.then_some(read));
        own.any(|name| child.name.eq_ignore_ascii_case(name))
    };
    let foreign = element.children.iter().filter_map(|child| {
        let unknown = Some(&child.name).filter(|_| !is_known(child));
        child.foreign.as_ref().or(unknown)
    });
    if let Some(name) = foreign.into_iter().find(|name| !ignored.contains(name)) {
        let expected =
            "elements of PNML only, or the names of others that may be left out (--ignore NAME)";
        return Err(element.wrong(Mistake::unexpected(expected, name)));
    }
    Ok(())
}

/// Refuses nodes and arcs of high-level nets in a file that says it has none.
fn refuse_high_level(element: &Element) -> Result<(), ReadError> {
    if !matches!(element.name.as_str(), "place" | "transition" | "arc") {
        return Ok(());
    }
    let is_high_level = |child: &&Element| {
        child.name.starts_with("hl")
            || child.child("structure").is_some()
            || child.child("multiset").is_some()
    };
    match element.children.iter().find(is_high_level) {
        Some(child) => {
            let found = format!("{} of a high-level net", child.name);
            Err(element.wrong(Mistake::unexpected("a place/transition net", found)))
        }
        None => Ok(()),
    }
}

fn required<'a>(element: &'a Element, attribute: &str) -> Result<&'a str, ReadError> {
    element.attribute(attribute).ok_or_else(|| {
        element.wrong(Mistake::unexpected(
            format!("an attribute {attribute}"),
            "none",
        ))
    })
}

/// The name of an element; line ends and similar characters, which names in drawings may contain, become spaces.
fn name_of(element: &Element) -> Option<String> {
    let exact = own(element).and_then(|own| own.child("name")?.exact_attribute("value"));
    let name = exact.or_else(|| element.child("name").map(Element::content))?;
    Some(name.replace(char::is_control, " "))
}

/// The names of the elements. If a name is missing or used twice, the id is used. An id that is the name of another
/// element gets underscores until it is unique, so that no name moves to another element.
fn unique_names<'a>(elements: impl Iterator<Item = &'a &'a Element>) -> Vec<String> {
    let elements: Vec<&Element> = elements.copied().collect();
    let names: Vec<Option<String>> = elements.iter().map(|e| name_of(e)).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.iter().flatten() {
        *uses.entry(name).or_default() += 1;
    }
    let is_fine = |name: &&String| !name.is_empty() && uses[name.as_str()] == 1;
    let fine = names.iter().map(|name| name.as_ref().filter(is_fine));
    let mut taken: BTreeSet<String> = fine.clone().flatten().cloned().collect();
    let chosen = elements.iter().zip(fine).map(|(element, name)| {
        name.cloned().unwrap_or_else(|| {
            let mut id = element.attribute("id").unwrap_or_default().to_owned();
            while !taken.insert(id.clone()) {
                id.push('_');
            }
            id
        })
    });
    chosen.collect()
}

fn place(element: &Element, name: &str) -> Result<Place, ReadError> {
    let mut place = Place::new(name, number(element.child("initialMarking"), 0)?);
    place.line = element.line;
    place.capacity = match own(element).and_then(|own| own.child("capacity")) {
        Some(capacity) => Some(number(Some(capacity), 0)?),
        // In PIPE a capacity of 0 means no capacity.
        None => Some(number(element.child("capacity"), 0)?).filter(|&most| most > 0),
    };
    Ok(place)
}

/// Special arcs, in the notations of various tools.
fn arc_kind(element: &Element) -> Result<Option<ArcKind>, ReadError> {
    const NAMES: [&str; 3] = ["kind", "type", "arctype"];
    let own = own(element).and_then(|own| own.child("kind"));
    let child = || {
        NAMES
            .iter()
            .find_map(|name| child_ignoring_case(element, name))
    };
    let attribute = || NAMES.iter().find_map(|name| element.attribute(name));
    let Some(word) = own.or_else(child).map(Element::content).or_else(attribute) else {
        return Ok(None);
    };
    match word.to_ascii_lowercase().as_str() {
        "" | "normal" | "ordinary" => Ok(None),
        "inhibitor" | "inhibit" | "inhibition" => Ok(Some(ArcKind::Inhibitor)),
        "read" | "test" => Ok(Some(ArcKind::Read)),
        "reset" => Ok(Some(ArcKind::Reset)),
        _ => {
            let valid = ["normal", "inhibitor", "read", "test", "reset"];
            let expected = format!("one of {}", valid.join(", "));
            Err(element.wrong(Mistake::unknown(expected, word, valid.into_iter())))
        }
    }
}

fn child_ignoring_case<'a>(element: &'a Element, name: &str) -> Option<&'a Element> {
    element
        .children
        .iter()
        .find(|child| child.name.eq_ignore_ascii_case(name))
}

/// The number in an element; `default` if the element or the number is missing. `Default,3` (PIPE's tokens of its
/// only colour) is 3.
fn number(element: Option<&Element>, default: u32) -> Result<u32, ReadError> {
    let Some(element) = element else {
        return Ok(default);
    };
    let text = element.content();
    let text = text.strip_prefix("Default,").unwrap_or(text).trim_ascii();
    if text.is_empty() {
        Ok(default)
    } else {
        parsed(element, text, "a whole number of tokens")
    }
}

/// Several ordinary arcs between the same nodes are added, as drawings use them.
pub(super) fn add_arc(transition: &mut Transition, arc: Arc) {
    let adds_up = matches!(arc.kind, ArcKind::Input | ArcKind::Output);
    let same = |other: &&mut Arc| other.kind == arc.kind && other.place == arc.place;
    match transition.arcs.iter_mut().find(same) {
        Some(other) if adds_up => {
            other.multiplicity = other.multiplicity.saturating_add(arc.multiplicity);
        }
        _ => transition.arcs.push(arc),
    }
}
