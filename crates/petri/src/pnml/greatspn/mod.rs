//! Projects of GreatSPN's editor (PNPRO): a net of places, and of exponential, deterministic, general and immediate transitions.
//!
//! Read from the files of the editor and from Storm's reader of them (`GreatSpnEditorProjectParser`): the `delay` of an
//! exponential transition is its rate; rates, weights, priorities and markings may be expressions of constants; without
//! `nservers` a transition has infinitely many servers. The `delay` of a general transition is the density of its firing time; of those that the
//! editor can write, an impulse and the named families with a counterpart here are read, with the meaning that GreatSPN's `alphaFactory` gives them.
//! A net with colours is a symmetric one in another notation ([`colours`]).

mod colours;
mod terms;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::tree::Element;
use crate::arithmetic::{self, Values, Wrong};
use crate::net::family::{self, Drawn};
use crate::net::{Arc, ArcKind, Net, Place, PlaceId, Servers, Timing, Transition};
use crate::parameters::Parameters;
use crate::text::{Mistake, ReadError};

/// The net of a project that is wanted, or its only one.
pub(super) fn net(project: &Element, parameters: &mut Parameters) -> Result<Net, ReadError> {
    let nets: Vec<&Element> = children(project, "gspn").collect();
    let gspn = super::chosen(project, &nets, "name", parameters)?;
    let nodes: Vec<&Element> = children(gspn, "nodes").flat_map(|n| &n.children).collect();
    let edges: Vec<&Element> = children(gspn, "edges").flat_map(|e| &e.children).collect();
    let arcs = edges.into_iter().filter(|edge| edge.name == "arc");
    let mut reader = Reader {
        net: Net::new(gspn.attribute("name").unwrap_or_default()),
        constants: constants(&nodes, parameters)?,
        places: BTreeMap::new(),
        transitions: BTreeMap::new(),
    };
    let is_coloured = nodes.iter().any(|node| colours::are_in(node));
    for node in &nodes {
        match node.name.as_str() {
            "place" if !is_coloured => reader.place(node)?,
            "transition" => reader.transition(node)?,
            // The others are drawings, or are read where they are used.
            _ => {}
        }
    }
    let mut net = if is_coloured {
        let element = colours::symmetric(gspn, &nodes, arcs, &reader.constants)?;
        super::interpret::symmetric_net(&element, &reader.net.transitions)?
    } else {
        for arc in arcs {
            reader.arc(arc)?;
        }
        reader.net
    };
    // A transition without inputs is enabled once, however many servers it has.
    for transition in &mut net.transitions {
        if transition.arcs_of(ArcKind::Input).next().is_none() {
            transition.servers = Servers::Single;
        }
    }
    Ok(net)
}

fn children<'a>(element: &'a Element, name: &'a str) -> impl Iterator<Item = &'a Element> {
    let is_named = move |child: &&Element| child.name == name;
    element.children.iter().filter(is_named)
}

/// The constants and parameters; a later one may use the earlier ones.
fn constants(nodes: &[&Element], parameters: &mut Parameters) -> Result<Rc<Values>, ReadError> {
    for node in nodes {
        // Names of actions and conditions on markings are for composition and for queries of automata.
        let is_no_number = matches!(node.attribute("type"), Some("ACTION" | "STATEPROP"));
        let is_constant = matches!(node.name.as_str(), "constant" | "template");
        if is_constant && !is_no_number && node.attribute("domain").is_none_or(str::is_empty) {
            // A template without a value has that of its last use in the editor.
            let value = node.attribute("value").filter(|value| !value.is_empty());
            let value = value.or_else(|| node.attribute("last-binding"));
            let declared = parameters.declare(named(node)?, value);
            declared.map_err(|error| mistaken(node, error))?;
        }
    }
    Ok(Rc::clone(parameters.values()))
}

/// An error of a node or an arc, with its name.
fn wrong(element: &Element, mistake: Mistake) -> ReadError {
    let name = element
        .attribute("name")
        .map(str::to_owned)
        .or_else(|| {
            Some(format!(
                "from {} to {}",
                element.attribute("tail")?,
                element.attribute("head")?
            ))
        })
        .unwrap_or_default();
    ReadError::of_element(element.line, format!("{} {name}: ", element.name), mistake)
}

fn mistaken(element: &Element, error: Wrong) -> ReadError {
    wrong(element, Mistake::unexpected(error.expected, error.found))
}

fn named(element: &Element) -> Result<&str, ReadError> {
    let name = element.attribute("name").filter(|name| !name.is_empty());
    name.ok_or_else(|| wrong(element, Mistake::unexpected("an attribute name", "none")))
}

/// What a place or transition is in the net that is read.
struct Reader<'a> {
    net: Net,
    constants: Rc<Values>,
    places: BTreeMap<&'a str, usize>,
    transitions: BTreeMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn number(&self, element: &Element, attribute: &str, default: f64) -> Result<f64, ReadError> {
        match element.attribute(attribute) {
            None | Some("") => Ok(default),
            Some(text) => arithmetic::value(text, &self.constants)
                .map_err(|error| self.described(element, attribute, error)),
        }
    }

    fn whole(&self, element: &Element, attribute: &str, default: u32) -> Result<u32, ReadError> {
        match element.attribute(attribute) {
            None | Some("") => Ok(default),
            Some(text) => arithmetic::whole(text, &self.constants)
                .map_err(|error| self.described(element, attribute, error)),
        }
    }

    /// A number that could not be computed; those that depend on the marking or on colours are named as such.
    fn described(&self, element: &Element, attribute: &str, error: Wrong) -> ReadError {
        let text = element.attribute(attribute).unwrap_or_default();
        let (expected, found) = if text.contains(['<', '>']) {
            ("a net without colours", format!("{attribute} {text}"))
        } else if text.contains('#') {
            (
                "a number that does not depend on the marking",
                format!("{attribute} {text}"),
            )
        } else {
            return mistaken(element, error);
        };
        wrong(element, Mistake::unexpected(expected, found))
    }

    fn place(&mut self, node: &'a Element) -> Result<(), ReadError> {
        let name = named(node)?;
        refuse_fluid(node)?;
        let mut place = Place::new(name, self.whole(node, "marking", 0)?);
        place.line = node.line;
        self.places.insert(name, self.net.add_place(place).0);
        Ok(())
    }

    fn transition(&mut self, node: &'a Element) -> Result<(), ReadError> {
        let name = named(node)?;
        let timing = match node.attribute("type").unwrap_or("EXP") {
            "EXP" => Timing::exponential(self.number(node, "delay", 1.0)?),
            "DET" => Timing::Deterministic {
                delay: self.number(node, "delay", 1.0)?,
            },
            "IMM" => Timing::weighted(
                self.whole(node, "priority", 1)?,
                self.number(node, "weight", 1.0)?,
            ),
            "GEN" => self.general(node)?,
            other => {
                let expected = "a transition of type EXP, DET, GEN or IMM";
                return Err(wrong(node, Mistake::unexpected(expected, other)));
            }
        };
        let servers = match node.attribute("nservers") {
            _ if timing.is_immediate() => Servers::Single,
            None | Some("" | "Infinite") => Servers::Infinite,
            Some("Single") => Servers::Single,
            Some(_) => match self.whole(node, "nservers", 1)? {
                1 => Servers::Single,
                number => Servers::Multiple(number),
            },
        };
        let mut transition = Transition::new(name, timing).servers(servers);
        transition.line = node.line;
        let id = self.net.add_transition(transition);
        self.transitions.insert(name, id.0);
        Ok(())
    }

    /// A delay that is given by its density: `FUNCTION[A, B]`.
    fn general(&self, node: &Element) -> Result<Timing, ReadError> {
        let text = node.attribute("delay").unwrap_or_default().trim();
        let parts = text
            .strip_suffix(']')
            .and_then(|text| text.split_once('['))
            .filter(|(_, arguments)| !arguments.contains(['[', ']']));
        let (function, arguments) = parts.unwrap_or((text, ""));
        let number = |text: &str| {
            arithmetic::value(text, &self.constants)
                .map_err(|error| self.described(node, "delay", error))
        };
        let arguments: Vec<&str> = arguments.split(',').collect();
        let timing = match (function.trim(), arguments.as_slice()) {
            ("I", [delay]) => Some(Timing::Deterministic {
                delay: number(delay)?,
            }),
            ("Uniform", [low, high]) => Some(Timing::Uniform {
                low: number(low)?,
                high: number(high)?,
            }),
            // Its peak is in the middle.
            ("Triangular", [low, high]) => {
                let (low, high) = (number(low)?, number(high)?);
                let parameters = vec![low, low.midpoint(high), high];
                family::named("triangular")
                    .map(|family| Timing::Drawn(Drawn::new(family, parameters)))
            }
            ("Erlang", [rate, stages]) => Some(Timing::Erlang {
                rate: number(rate)?,
                stages: arithmetic::whole(stages, &self.constants)
                    .map_err(|error| self.described(node, "delay", error))?,
            }),
            _ => None,
        };
        timing.ok_or_else(|| {
            let expected =
                "the delay I[time], Uniform[low,high], Triangular[low,high] or Erlang[rate,stages]";
            wrong(node, Mistake::unexpected(expected, text))
        })
    }

    fn arc(&mut self, arc: &Element) -> Result<(), ReadError> {
        let kind = kind(arc)?;
        let (place, transition) = match kind {
            ArcKind::Output => ("head", "tail"),
            _ => ("tail", "head"),
        };
        let place = end(arc, place, &self.places, "the name of a place")?;
        let expected = "the name of a transition";
        let transition = end(arc, transition, &self.transitions, expected)?;
        let multiplicity = self.whole(arc, "mult", 1)?;
        let new = Arc {
            kind,
            place: PlaceId(place),
            multiplicity,
            line: arc.line,
        };
        super::interpret::add_arc(&mut self.net.transitions[transition], new);
        Ok(())
    }
}

fn kind(arc: &Element) -> Result<ArcKind, ReadError> {
    match arc.attribute("kind").or_else(|| arc.attribute("type")) {
        Some("INPUT") => Ok(ArcKind::Input),
        Some("OUTPUT") => Ok(ArcKind::Output),
        Some("INHIBITOR") => Ok(ArcKind::Inhibitor),
        other => {
            let expected = "an arc of kind INPUT, OUTPUT or INHIBITOR";
            let found = other.unwrap_or("none");
            Err(wrong(arc, Mistake::unexpected(expected, found)))
        }
    }
}

fn refuse_fluid(place: &Element) -> Result<(), ReadError> {
    match place.attribute("type") {
        Some(other @ ("CONTINUOUS" | "FLUID")) => Err(wrong(
            place,
            Mistake::unexpected("a place of tokens", other),
        )),
        _ => Ok(()),
    }
}

fn end(
    arc: &Element,
    attribute: &str,
    nodes: &BTreeMap<&str, usize>,
    expected: &str,
) -> Result<usize, ReadError> {
    let name = arc.attribute(attribute).unwrap_or_default();
    let unknown = || {
        let known = nodes.keys().copied();
        wrong(arc, Mistake::unknown(expected, name, known))
    };
    nodes.get(name).copied().ok_or_else(unknown)
}
