//! The elements of a document as a tree.

use crate::net::Line;
use crate::text::{Mistake, ReadError};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;
use quick_xml::{XmlVersion, escape};
use std::str::FromStr;

/// An element, its attributes, text and children.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    /// Name without namespace.
    pub name: String,
    /// The name as it is written, if it is of another namespace than its parent: with a prefix, or with a namespace of its
    /// own that is not that of PNML.
    pub foreign: Option<String>,
    attributes: Vec<(String, String)>,
    /// Its own text, without that of its children.
    text: String,
    pub children: Vec<Element>,
    pub line: Line,
}

/// Maximum nesting of elements: no net needs more, and dropping a tree is recursive.
const DEEPEST: usize = 200;

impl Element {
    /// An element that no file contains, made for what is written at this line.
    pub(super) fn made(name: &str, line: Line) -> Self {
        Self {
            name: name.to_owned(),
            line,
            ..Self::default()
        }
    }

    /// Adds an attribute.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds children.
    pub(super) fn holding(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.trim_ascii())
    }

    /// The value of an attribute without surrounding spaces.
    pub(super) fn exact_attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The content of the element: its attribute `value`, the text of its child `text` or `value`, or its own text.
    pub(super) fn content(&self) -> &str {
        let child = || self.child("text").or_else(|| self.child("value"));
        let text = || child().unwrap_or(self).text.as_str();
        self.attribute("value").unwrap_or_else(text).trim_ascii()
    }

    /// Its name in messages: `place p1: `.
    pub(super) fn title(&self) -> String {
        match self.attribute("id") {
            Some(id) => format!("{} {id}: ", self.name),
            None => format!("{}: ", self.name),
        }
    }

    pub(super) fn wrong(&self, mistake: Mistake) -> ReadError {
        ReadError::of_element(self.line, self.title(), mistake)
    }
}

/// The `toolspecific` element of this project.
pub(super) fn own(element: &Element) -> Option<&Element> {
    let is_own = |child: &&Element| {
        child.name == "toolspecific" && child.attribute("tool") == Some("inorder")
    };
    element.children.iter().find(is_own)
}

/// Parses `text`, which was found in `element`, as a number.
pub(super) fn parsed<T: FromStr>(
    element: &Element,
    text: &str,
    expected: &str,
) -> Result<T, ReadError> {
    text.parse()
        .map_err(|_| element.wrong(Mistake::unexpected(expected, text)))
}

/// The root element of the document.
pub(super) fn parse(text: &str) -> Result<Element, ReadError> {
    let mut builder = Builder {
        reader: Reader::from_str(text),
        text,
        own: prefixes(text),
        counted: 0,
        line: 1,
    };
    builder.root()
}

/// The prefixes that are bound to the namespace of PNML.
fn prefixes(text: &str) -> Vec<&str> {
    let bound = text.match_indices("xmlns:").filter_map(|(at, word)| {
        let (prefix, value) = text.get(at + word.len()..)?.split_once('=')?;
        let value = value.trim_start().get(1..)?;
        value
            .starts_with("http://www.pnml.org/")
            .then(|| prefix.trim_end())
    });
    bound.collect()
}

struct Builder<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a str,
    /// Prefixes of the namespace of PNML.
    own: Vec<&'a str>,
    /// Number of bytes whose line ends are counted in `line`.
    counted: usize,
    line: Line,
}

impl<'a> Builder<'a> {
    fn root(&mut self) -> Result<Element, ReadError> {
        // The first element represents the document and contains the root.
        let mut open = vec![Element::default()];
        loop {
            let event = self
                .reader
                .read_event()
                .map_err(|error| self.broken(&error.to_string()))?;
            self.count_lines();
            match event {
                Event::Start(start) => {
                    let element = self.element(&start)?;
                    open.push(element);
                    if open.len() > DEEPEST {
                        return Err(self.broken(&format!("elements {DEEPEST} deep")));
                    }
                }
                Event::Empty(start) => {
                    let element = self.element(&start)?;
                    last(&mut open).children.push(element);
                }
                Event::End(_) => {
                    if open.len() > 1
                        && let Some(element) = open.pop()
                    {
                        last(&mut open).children.push(element);
                    }
                }
                Event::Text(text) => last(&mut open).text += &text,
                Event::CData(text) => last(&mut open).text += &text,
                Event::GeneralRef(reference) => last(&mut open).text += &resolved(&reference),
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        match (open.len(), last(&mut open).children.drain(..).next()) {
            (1, Some(root)) => Ok(root),
            (1, None) => Err(self.broken("no element")),
            _ => Err(self.broken("the end of the file inside an element")),
        }
    }

    fn element(&self, start: &BytesStart<'_>) -> Result<Element, ReadError> {
        let written = start.name().as_ref().to_owned();
        let prefix = written.split_once(':').map(|(prefix, _)| prefix);
        let mut element = Element {
            name: start.local_name().as_ref().to_owned(),
            foreign: prefix
                .filter(|prefix| !self.own.contains(prefix))
                .map(|_| written.clone()),
            line: self.line,
            ..Element::default()
        };
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| self.broken(&error.to_string()))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_or_else(
                |_| attribute.value.to_string(),
                std::borrow::Cow::into_owned,
            );
            let is_other = !value.is_empty() && !value.contains("pnml");
            let may_be = matches!(element.name.as_str(), "toolspecific" | "graphics");
            if attribute.key.as_ref() == "xmlns" && is_other && !may_be {
                element.foreign = Some(written.clone());
            }
            element
                .attributes
                .push((attribute.key.local_name().as_ref().to_owned(), value));
        }
        Ok(element)
    }

    fn count_lines(&mut self) {
        let now = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        let now = now.min(self.text.len());
        let passed = &self.text.as_bytes()[self.counted.min(now)..now];
        self.line += passed.iter().filter(|&&b| b == b'\n').count() as Line;
        self.counted = now;
    }

    fn broken(&self, found: &str) -> ReadError {
        ReadError::at(self.line, Mistake::unexpected("well-formed XML", found))
    }
}

fn last(open: &mut [Element]) -> &mut Element {
    let end = open.len() - 1;
    &mut open[end]
}

/// The character for `&...;`; entities of a document type are left unchanged.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    match escape::resolve_predefined_entity(reference) {
        Some(text) => text.to_owned(),
        None => format!("&{};", &**reference),
    }
}
