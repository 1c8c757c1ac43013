//! Colours of GreatSPN's nets (G. Chiola, C. Dutheillet, G. Franceschinis, S. Haddad, "Stochastic well-formed colored nets and symmetric
//! modeling applications", IEEE Transactions on Computers 42(11), 1993), written as the symmetric net of PNML that they are.
//!
//! | written | means |
//! |---|---|
//! | `circular p{1..N} + {a, b} is Special` | a class: its values, their order, its subclasses |
//! | `A * B` | a class of tuples |
//! | `2<x, All - y++> + <c1, Special>` | tokens: variables, values, all of a class or subclass, without some, the next (`++`) or the one before (`--`) |
//! | `x != y && (x == c1 \|\| y !in Special)` | a guard |
//!
//! Tokens that depend on the marking or on conditions (`Card[...]`, `[guard]<x>`) are refused by place.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::terms::Cursor;
use super::{named, refuse_fluid, wrong};
use crate::arithmetic::{self, Values};
use crate::net::{ArcKind, Line};
use crate::pnml::tree::Element;
use crate::text::{Mistake, ReadError};

/// Maximum number of values of a class and of a term, all together: each is written out.
const MAX_VALUES: usize = 1_000_000;

/// Whether a place or transition has colours.
pub(super) fn are_in(node: &Element) -> bool {
    let has = |attribute| {
        node.attribute(attribute)
            .is_some_and(|text| !text.is_empty())
    };
    match node.name.as_str() {
        "place" => has("domain"),
        "transition" => has("guard"),
        _ => false,
    }
}

/// The symmetric net of these nodes and arcs.
pub(super) fn symmetric<'a>(
    gspn: &Element,
    nodes: &[&'a Element],
    arcs: impl Iterator<Item = &'a Element>,
    constants: &Values,
) -> Result<Element, ReadError> {
    let mut colours = Colours {
        constants,
        classes: BTreeMap::new(),
        variables: BTreeMap::new(),
        multisets: BTreeMap::new(),
        domains: BTreeMap::new(),
        left: Cell::new(MAX_VALUES),
    };
    let mut in_order = nodes.to_vec();
    in_order.sort_by_key(|node| declared_when(node));
    let mut declared = Vec::new();
    for node in in_order {
        declared.extend(colours.declare(node)?);
    }
    let declarations = Element::made("declarations", gspn.line).holding(declared);
    let declaration = Element::made("declaration", gspn.line).holding([structure(declarations)]);
    let name = gspn.attribute("name").unwrap_or_default();
    let mut net = Element::made("net", gspn.line)
        .with("id", name)
        .holding([declaration]);
    for node in nodes {
        match node.name.as_str() {
            "place" => net.children.push(colours.place(node)?),
            "transition" => net.children.push(colours.transition(node)?),
            _ => {}
        }
    }
    for arc in arcs {
        net.children.push(colours.arc(arc)?);
    }
    Ok(net)
}

/// The order in which nodes are declared: classes of values, those of tuples of them, what uses both.
fn declared_when(node: &Element) -> u8 {
    match (node.name.as_str(), node.attribute("definition")) {
        ("color-class", Some(text)) if text.contains('{') => 0,
        ("color-class", _) => 1,
        _ => 2,
    }
}

/// A class of colours.
#[derive(Default)]
pub(super) struct Class<'a> {
    pub(super) values: Vec<String>,
    pub(super) is_circular: bool,
    pub(super) subclasses: BTreeMap<String, Vec<String>>,
    /// The classes of a tuple; none for a class of single values.
    pub(super) parts: Vec<&'a str>,
}

/// What is declared.
pub(super) struct Colours<'a, 'c> {
    pub(super) constants: &'c Values,
    pub(super) classes: BTreeMap<&'a str, Class<'a>>,
    /// The class of each variable.
    pub(super) variables: BTreeMap<&'a str, &'a str>,
    /// What constants with a domain stand for.
    pub(super) multisets: BTreeMap<&'a str, &'a str>,
    /// The class of each place; empty for plain tokens.
    domains: BTreeMap<&'a str, &'a str>,
    /// Values that may still be written out.
    left: Cell<usize>,
}

fn structure(of: Element) -> Element {
    Element::made("structure", of.line).holding([of])
}

pub(super) fn over(name: &str, line: Line, terms: impl IntoIterator<Item = Element>) -> Element {
    let subterm = |term: Element| Element::made("subterm", line).holding([term]);
    Element::made(name, line).holding(terms.into_iter().map(subterm))
}

fn id_of(class: &str, value: &str) -> String {
    format!("{class}.{value}")
}

impl<'a> Colours<'a, '_> {
    /// The declaration of a class or a variable; none for other nodes.
    fn declare(&mut self, node: &'a Element) -> Result<Option<Element>, ReadError> {
        let text = |attribute| node.attribute(attribute).unwrap_or_default();
        match node.name.as_str() {
            "color-class" => {
                let (name, line) = (named(node)?, node.line);
                let class = self.class(node, text("definition"))?;
                let sort = match class.parts.as_slice() {
                    [] => {
                        let constant = |value: &String| {
                            let id = id_of(name, value);
                            let constant = Element::made("feconstant", line).with("id", &id);
                            constant.with("name", value)
                        };
                        let values = class.values.iter().map(constant);
                        Element::made("cyclicenumeration", line).holding(values)
                    }
                    parts => {
                        let parts = parts.iter().map(|part| self.sort(node, part));
                        let parts = parts.collect::<Result<Vec<Element>, ReadError>>()?;
                        Element::made("productsort", line).holding(parts)
                    }
                };
                self.classes.insert(name, class);
                let named = Element::made("namedsort", line).with("id", name);
                Ok(Some(named.holding([sort])))
            }
            "color-var" => {
                let (name, class) = (named(node)?, text("domain"));
                self.variables.insert(name, class);
                let variable = Element::made("variabledecl", node.line).with("id", name);
                Ok(Some(variable.holding([self.sort(node, class)?])))
            }
            "constant" if !text("domain").is_empty() => {
                self.multisets.insert(named(node)?, text("value"));
                Ok(None)
            }
            "place" => {
                self.domains.insert(named(node)?, text("domain"));
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn class(&self, node: &'a Element, definition: &'a str) -> Result<Class<'a>, ReadError> {
        let mut class = Class::default();
        if !definition.contains('{') {
            let parts = definition.split('*').map(str::trim);
            class.parts = parts.flat_map(|part| self.parts(part)).collect();
            return Ok(class);
        }
        let mut cursor = Cursor::of(node, definition);
        class.is_circular = cursor.takes("circular");
        cursor.takes("enum");
        loop {
            let prefix = cursor.word();
            cursor.expect("{")?;
            let inside = cursor.until('}')?;
            let values: Vec<String> = match inside.split_once("..") {
                Some((from, to)) => {
                    let whole = |text: &str| {
                        arithmetic::whole(text, self.constants)
                            .map_err(|error| super::mistaken(node, error))
                    };
                    let (from, to) = (whole(from)?, whole(to)?);
                    self.spend(node, to.saturating_sub(from) as usize)?;
                    (from..=to).map(|n| format!("{prefix}{n}")).collect()
                }
                None => inside
                    .split(',')
                    .map(|word| word.trim().to_owned())
                    .collect(),
            };
            if cursor.takes("is") {
                let name = cursor.word().to_owned();
                class.subclasses.insert(name, values.clone());
            }
            class.values.extend(values);
            if !cursor.takes("+") {
                cursor.end()?;
                return Ok(class);
            }
        }
    }

    /// A class where it is used.
    pub(super) fn sort(&self, node: &Element, class: &str) -> Result<Element, ReadError> {
        if !self.classes.contains_key(class) {
            let known = self.classes.keys().copied();
            let mistake = Mistake::unknown("the name of a class of colours", class, known);
            return Err(wrong(node, mistake));
        }
        Ok(Element::made("usersort", node.line).with("declaration", class))
    }

    /// Counts values that are written out.
    pub(super) fn spend(&self, node: &Element, values: usize) -> Result<(), ReadError> {
        let left = self.left.get().checked_sub(values).ok_or_else(|| {
            let expected = format!("at most {MAX_VALUES} values in classes and terms");
            wrong(node, Mistake::unexpected(expected, "more"))
        })?;
        self.left.set(left);
        Ok(())
    }

    /// The classes of the parts of a tuple of this class, or itself. Those of a class are known where it is declared.
    pub(super) fn parts<'s>(&self, class: &'s str) -> Vec<&'s str>
    where
        'a: 's,
    {
        match self.classes.get(class) {
            Some(of) if !of.parts.is_empty() => of.parts.clone(),
            _ => vec![class],
        }
    }

    fn place(&self, node: &Element) -> Result<Element, ReadError> {
        refuse_fluid(node)?;
        let (name, line) = (named(node)?, node.line);
        let domain = node.attribute("domain").unwrap_or_default();
        let mut place = titled("place", name, line);
        if !domain.is_empty() {
            let sort = structure(self.sort(node, domain)?);
            place
                .children
                .push(Element::made("type", line).holding([sort]));
        }
        if let Some(text) = node.attribute("marking").filter(|text| !text.is_empty()) {
            let tokens = structure(self.tokens(node, text, domain)?);
            let marking = Element::made("hlinitialMarking", line).holding([tokens]);
            place.children.push(marking);
        }
        Ok(place)
    }

    fn transition(&self, node: &Element) -> Result<Element, ReadError> {
        let mut transition = titled("transition", named(node)?, node.line);
        if let Some(text) = node.attribute("guard").filter(|text| !text.is_empty()) {
            let mut cursor = Cursor::of(node, text);
            let guard = self.guard(&mut cursor)?;
            cursor.end()?;
            let condition = Element::made("condition", node.line).holding([structure(guard)]);
            transition.children.push(condition);
        }
        Ok(transition)
    }

    fn arc(&self, arc: &Element) -> Result<Element, ReadError> {
        let end = |name| arc.attribute(name).unwrap_or_default();
        let kind = super::kind(arc)?;
        let place = match kind {
            ArcKind::Output => end("head"),
            _ => end("tail"),
        };
        let domain = self.domains.get(place).ok_or_else(|| {
            let known = self.domains.keys().copied();
            wrong(arc, Mistake::unknown("the name of a place", place, known))
        })?;
        let text = arc.attribute("mult").filter(|text| !text.is_empty());
        let tokens = structure(self.tokens(arc, text.unwrap_or("1"), domain)?);
        let mut made = Element::made("arc", arc.line)
            .with("source", end("tail"))
            .with("target", end("head"))
            .holding([Element::made("hlinscription", arc.line).holding([tokens])]);
        if kind == ArcKind::Inhibitor {
            made = made.with("kind", "inhibitor");
        }
        Ok(made)
    }
}

pub(super) fn constant(class: &str, value: &str, line: Line) -> Element {
    Element::made("useroperator", line).with("declaration", &id_of(class, value))
}

/// A node whose name is its id.
fn titled(kind: &str, name: &str, line: Line) -> Element {
    let text = Element::made("name", line).with("value", name);
    Element::made(kind, line).with("id", name).holding([text])
}
