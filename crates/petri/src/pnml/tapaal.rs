//! Nets of TAPAAL (`.tapn`), as far as no time and no colour matters in them: no invariants, intervals `[0,inf)` only,
//! no urgent transitions, tokens of the only colour `dot`.
//!
//! Active components are composed as TAPAAL does: shared places and transitions of the same name are one; what is not
//! shared is called `COMPONENT.NAME` if there are several components. Transport arcs are pairs of an input and an output
//! arc, since the ages that they preserve are never looked at.

use std::collections::BTreeMap;

use super::tree::Element;
use crate::arithmetic;
use crate::net::{Arc, ArcKind, Net, Place, PlaceId, Timing, Transition};
use crate::parameters::Parameters;
use crate::text::{Mistake, ReadError};

/// The rate of transitions, of which the format says nothing.
const RATE: f64 = 1.0;

/// Whether the document is one of TAPAAL: its places have their tokens in an attribute.
pub(super) fn is_tapaal(root: &Element) -> bool {
    let is_place = |element: &Element| {
        matches!(element.name.as_str(), "place" | "shared-place")
            && element.attribute("initialMarking").is_some()
    };
    let below = |element: &Element| element.children.iter().any(is_place);
    is_place(root) || below(root) || root.children.iter().any(below)
}

/// The active components as one net.
pub(super) fn net(root: &Element, parameters: &mut Parameters) -> Result<Net, ReadError> {
    let mut reader = Reader {
        net: Net::default(),
        parameters,
        shared_places: BTreeMap::new(),
        shared_transitions: BTreeMap::new(),
    };
    for element in &root.children {
        reader.shared(element)?;
    }
    let is_active =
        |element: &&Element| element.name == "net" && element.attribute("active") != Some("false");
    let mut components: Vec<&Element> = root.children.iter().filter(is_active).collect();
    if components.is_empty() && root.children.iter().any(|child| child.name == "place") {
        components.push(root);
    }
    if components.is_empty() {
        let expected = "an active component (an element net)";
        return Err(root.wrong(Mistake::unexpected(expected, "none")));
    }
    reader.net.name = components[0].attribute("id").unwrap_or_default().to_owned();
    let is_one = components.len() == 1;
    for component in components {
        let id = component.attribute("id").unwrap_or_default();
        let prefix = match is_one {
            true => String::new(),
            false => format!("{id}."),
        };
        Component {
            reader: &mut reader,
            prefix,
            nodes: BTreeMap::new(),
        }
        .read(component)?;
    }
    Ok(reader.net)
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Place(usize),
    Transition(usize),
}

struct Reader<'p> {
    net: Net,
    parameters: &'p mut Parameters,
    shared_places: BTreeMap<String, usize>,
    /// Without a number until a component has the transition.
    shared_transitions: BTreeMap<String, Option<usize>>,
}

impl Reader<'_> {
    /// What is declared outside of the components.
    fn shared(&mut self, element: &Element) -> Result<(), ReadError> {
        match element.name.as_str() {
            "constant" => {
                let name = element.attribute("name").unwrap_or_default();
                let declared = self.parameters.declare(name, element.attribute("value"));
                declared.map_err(|error| {
                    named(element, Mistake::unexpected(error.expected, error.found))
                })?;
            }
            "shared-place" => {
                let name = element.attribute("name").unwrap_or_default();
                let index = self.place(element, name)?;
                self.shared_places.insert(name.to_owned(), index);
            }
            "shared-transition" => {
                refuse_urgent(element)?;
                let name = element.attribute("name").unwrap_or_default();
                self.shared_transitions.insert(name.to_owned(), None);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a place.
    fn place(&mut self, element: &Element, name: &str) -> Result<usize, ReadError> {
        refuse_invariant(element)?;
        refuse_colours(element)?;
        let mut place = Place::new(name, self.whole(element, "initialMarking", "0")?);
        place.line = element.line;
        Ok(self.net.add_place(place).0)
    }

    /// Adds a transition.
    fn transition(&mut self, element: &Element, name: &str) -> Result<usize, ReadError> {
        refuse_urgent(element)?;
        refuse_distribution(element, self.parameters.ignored())?;
        if let Some(condition) = element.child("condition") {
            let found = format!("the condition {}", condition.content());
            return Err(named(
                element,
                Mistake::unexpected("a net without colours", found),
            ));
        }
        let mut transition = Transition::new(name, Timing::exponential(RATE));
        transition.line = element.line;
        Ok(self.net.add_transition(transition).0)
    }

    fn whole(&self, element: &Element, attribute: &str, default: &str) -> Result<u32, ReadError> {
        let text = element.attribute(attribute).unwrap_or(default);
        arithmetic::whole(text, self.parameters.values())
            .map_err(|error| named(element, Mistake::unexpected(error.expected, error.found)))
    }

    fn arc(
        &mut self,
        arc: &Element,
        kind: ArcKind,
        place: usize,
        to: usize,
    ) -> Result<(), ReadError> {
        let multiplicity = self.whole(arc, "weight", "1")?;
        let new = Arc {
            kind,
            place: PlaceId(place),
            multiplicity,
            line: arc.line,
        };
        super::interpret::add_arc(&mut self.net.transitions[to], new);
        Ok(())
    }
}

/// A component while it is read; its elements refer to each other by `id`.
struct Component<'a, 'r, 'p> {
    reader: &'r mut Reader<'p>,
    prefix: String,
    nodes: BTreeMap<&'a str, Node>,
}

impl<'a> Component<'a, '_, '_> {
    fn read(&mut self, component: &'a Element) -> Result<(), ReadError> {
        for element in &component.children {
            let is_place = match element.name.as_str() {
                "place" => true,
                "transition" => false,
                _ => continue,
            };
            let id = element.attribute("id").unwrap_or_default();
            let plain = element.attribute("name").unwrap_or(id);
            let own = format!("{}{plain}", self.prefix);
            let node = match is_place {
                true => Node::Place(self.place(element, plain, &own)?),
                false => Node::Transition(self.transition(element, plain, &own)?),
            };
            self.nodes.insert(id, node);
        }
        for element in &component.children {
            match element.name.as_str() {
                "arc" => self.arc(element, element.attribute("type").unwrap_or("normal"))?,
                "inputArc" | "outputArc" => self.arc(element, "timed")?,
                "inhibitorArc" => self.arc(element, "tapnInhibitor")?,
                "transportArc" => self.transport_through(element)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&mut self, element: &Element, plain: &str, own: &str) -> Result<usize, ReadError> {
        match self.reader.shared_places.get(plain) {
            Some(&shared) => {
                refuse_invariant(element)?;
                Ok(shared)
            }
            None => self.reader.place(element, own),
        }
    }

    fn transition(
        &mut self,
        element: &Element,
        plain: &str,
        own: &str,
    ) -> Result<usize, ReadError> {
        match self.reader.shared_transitions.get(plain) {
            Some(&Some(shared)) => {
                refuse_urgent(element)?;
                Ok(shared)
            }
            Some(None) => {
                let shared = self.reader.transition(element, plain)?;
                let known = &mut self.reader.shared_transitions;
                known.insert(plain.to_owned(), Some(shared));
                Ok(shared)
            }
            None => self.reader.transition(element, own),
        }
    }

    fn arc(&mut self, arc: &'a Element, kind: &str) -> Result<(), ReadError> {
        let (source, target) = (self.end(arc, "source")?, self.end(arc, "target")?);
        if !matches!(kind, "normal" | "timed" | "transport" | "tapnInhibitor") {
            let expected = "an arc of type normal, timed, transport or tapnInhibitor";
            return Err(arc.wrong(Mistake::unexpected(expected, kind)));
        }
        match (source, target) {
            (Node::Place(place), Node::Transition(transition)) => {
                refuse_interval(arc)?;
                let kind = match kind {
                    "tapnInhibitor" => ArcKind::Inhibitor,
                    _ => ArcKind::Input,
                };
                self.reader.arc(arc, kind, place, transition)
            }
            (Node::Transition(transition), Node::Place(place)) => {
                self.reader.arc(arc, ArcKind::Output, place, transition)
            }
            _ => {
                let mistake = Mistake::unexpected("a place and a transition", "two of a kind");
                Err(arc.wrong(mistake))
            }
        }
    }

    /// A transport arc of the format of TAPAAL's engines, which names its transition.
    fn transport_through(&mut self, arc: &'a Element) -> Result<(), ReadError> {
        let ends = ["source", "transition", "target"].map(|end| self.end(arc, end));
        let [
            Ok(Node::Place(from)),
            Ok(Node::Transition(through)),
            Ok(Node::Place(to)),
        ] = ends
        else {
            let expected = "a transport arc from a place through a transition to a place";
            return Err(arc.wrong(Mistake::unexpected(expected, "another one")));
        };
        refuse_interval(arc)?;
        self.reader.arc(arc, ArcKind::Input, from, through)?;
        self.reader.arc(arc, ArcKind::Output, to, through)
    }

    fn end(&self, arc: &Element, attribute: &str) -> Result<Node, ReadError> {
        let id = arc.attribute(attribute).unwrap_or_default();
        let unknown = || {
            let known = self.nodes.keys().copied();
            let expected = "the id of a place or transition";
            arc.wrong(Mistake::unknown(expected, id, known))
        };
        self.nodes.get(id).copied().ok_or_else(unknown)
    }
}

/// An error of a place or a transition, which may have no id.
fn named(element: &Element, mistake: Mistake) -> ReadError {
    let name = element
        .attribute("name")
        .or_else(|| element.attribute("id"));
    ReadError::of_element(
        element.line,
        format!("{} {}: ", element.name, name.unwrap_or_default()),
        mistake,
    )
}

fn refuse_invariant(element: &Element) -> Result<(), ReadError> {
    let invariant = element.attribute("invariant").unwrap_or_default();
    if matches!(without_spaces(invariant).as_str(), "" | "<inf") {
        return Ok(());
    }
    let found = format!("the invariant {invariant}");
    let expected = "a place without an invariant (times of TAPAAL are not modelled)";
    Err(named(element, Mistake::unexpected(expected, found)))
}

fn refuse_urgent(element: &Element) -> Result<(), ReadError> {
    match element.attribute("urgent") {
        Some("true") => {
            let expected = "a transition that is not urgent (times of TAPAAL are not modelled)";
            Err(named(
                element,
                Mistake::unexpected(expected, "an urgent one"),
            ))
        }
        _ => Ok(()),
    }
}

/// Newer versions write a distribution of firing times beside each transition, for statistical model checking; by default the
/// constant 1.
fn refuse_distribution(element: &Element, ignored: &[String]) -> Result<(), ReadError> {
    let distribution = element.attribute("distribution").unwrap_or("constant");
    let value = element.attribute("value").unwrap_or("1");
    let is_default = distribution == "constant" && value.trim().parse() == Ok(1.0);
    if is_default || ignored.iter().any(|name| name == "distribution") {
        return Ok(());
    }
    let found = format!("the distribution {distribution}");
    let expected = "a transition without a distribution (times of TAPAAL are not modelled; --ignore distribution leaves it out)";
    Err(named(element, Mistake::unexpected(expected, found)))
}

/// Uncoloured nets of newer versions name the only colour `dot`.
fn refuse_colours(element: &Element) -> Result<(), ReadError> {
    let colour = element.child("type").map(Element::content);
    match colour.filter(|colour| !colour.eq_ignore_ascii_case("dot")) {
        None => Ok(()),
        Some(colour) => {
            let found = format!("tokens of colour type {colour}");
            Err(named(
                element,
                Mistake::unexpected("a net without colours", found),
            ))
        }
    }
}

/// An arc that takes tokens may do so at any age. Behind a colon stands the number of a transport arc.
fn refuse_interval(arc: &Element) -> Result<(), ReadError> {
    let inscription = arc.attribute("inscription").unwrap_or("[0,inf)");
    let interval = inscription.split(':').next().unwrap_or_default();
    match without_spaces(interval).as_str() {
        "" | "1" | "[0,inf)" => Ok(()),
        _ => {
            let found = format!("ages {interval}");
            let expected = "an arc for tokens of any age, [0,inf)";
            Err(arc.wrong(Mistake::unexpected(expected, found)))
        }
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
