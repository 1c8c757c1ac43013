//! Reading a table by its section of the schema.

use crate::Registries;
use crate::error::{Place, Problem};
use crate::quantity;
use crate::schema::{Default, Kind, Registry, Section};
use crate::value::{Node, Value};

/// A table and the section it must follow; its keys have been checked.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    section: &'static Section,
    node: &'a Node,
    /// What is not in `node` is taken from here before the defaults.
    fallback: Option<&'a Node>,
    names: &'a Registries,
}

impl<'a> Reader<'a> {
    /// Checks that `node` is a table of keys that `section` has.
    pub fn new(
        section: &'static Section,
        node: &'a Node,
        names: &'a Registries,
    ) -> Result<Self, Problem> {
        for entry in node.entries(section.name)? {
            if section.field(&entry.key).is_none() {
                return Err(unknown_key(section, &entry.key, &entry.place));
            }
        }
        Ok(Reader {
            section,
            node,
            fallback: None,
            names,
        })
    }

    /// The same, keys that are not there being taken from `fallback`.
    #[must_use]
    pub fn or(self, fallback: Option<&'a Node>) -> Self {
        Reader { fallback, ..self }
    }

    /// What the table has under `key`, or its fallback.
    pub fn child(&self, key: &str) -> Option<&'a Node> {
        let fallback = || self.fallback.and_then(|node| node.get(key));
        self.node.get(key).or_else(fallback)
    }

    /// Where `key` was written, or the table.
    pub fn place(&self, key: &str) -> &'a Place {
        self.child(key).map_or(&self.node.place, |node| &node.place)
    }

    /// The names this scenario may refer to.
    pub fn names(&self) -> &'a Registries {
        self.names
    }

    /// The value of `key` or its default.
    pub fn get<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if let Some(node) = self.child(key) {
            return parse(node).map_err(|problem| self.named(key, problem));
        }
        match self.section.field(key).map(|field| field.default) {
            Some(Default::Is(text)) => parse(&Node::from_default(text)),
            _ => Err(self.missing(key)),
        }
    }

    /// The value of `key`, if there is one or a default.
    pub fn maybe<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        let default = self.section.field(key).map(|field| field.default);
        match (self.child(key), default) {
            (None, Some(Default::Unset(_)) | None) => Ok(None),
            _ => self.get(key, parse).map(Some),
        }
    }

    /// The position of the word under `key` among those the schema allows.
    pub fn choice(&self, key: &str) -> Result<usize, Problem> {
        let words = self.words(key);
        self.get(key, |node| quantity::choice(node, words))
    }

    /// The same, if there is one.
    pub fn maybe_choice(&self, key: &str) -> Result<Option<usize>, Problem> {
        let words = self.words(key);
        self.maybe(key, |node| quantity::choice(node, words))
    }

    fn words(&self, key: &str) -> &'static [&'static str] {
        match self.section.field(key).map(|field| field.kind) {
            Some(Kind::Choice(words)) => words,
            _ => &[],
        }
    }

    /// A name that must be in a registry.
    pub fn name(&self, key: &str) -> Result<Option<String>, Problem> {
        let Some(Kind::Name(registry)) = self.section.field(key).map(|field| field.kind) else {
            return Ok(None);
        };
        let names = self.names.of(registry);
        self.maybe(key, |node| known(node, names, registry))
    }

    /// `key` is needed here although the schema can do without it.
    pub fn missing(&self, key: &str) -> Problem {
        let what = format!("{} has no {key}", self.section.name);
        let about = self.section.field(key).map_or("", |field| field.about);
        Problem::new(&self.node.place, what, format!("{key}: {about}"))
    }

    fn named(&self, key: &str, mut problem: Problem) -> Problem {
        problem.what = format!("{key}: {}", problem.what);
        problem
    }
}

fn known(node: &Node, names: &[String], registry: Registry) -> Result<String, Problem> {
    let name = quantity::text(node)?;
    if names.contains(&name) {
        return Ok(name);
    }
    let (what, option) = match registry {
        Registry::Congestion => ("congestion control", "congestion controls"),
        Registry::LossDetection => ("loss detection", "loss detections"),
        Registry::Profile => ("profile", "profiles"),
    };
    let listed = names.join(", ");
    let problem = Problem::new(
        &node.place,
        format!("unknown {what} \"{name}\""),
        format!("one of the {option} {listed}"),
    );
    Err(problem.nearest(&name, names.iter().map(String::as_str)))
}

/// "unknown key `cuont` in flow".
pub(crate) fn unknown_key(section: &'static Section, key: &str, place: &Place) -> Problem {
    let keys = || section.fields.iter().map(|field| field.key);
    let listed: Vec<&str> = keys().collect();
    let what = format!("unknown key \"{key}\" in {}", section.name);
    let expected = format!("one of {}", listed.join(", "));
    Problem::new(place, what, expected).nearest(key, keys())
}

/// The elements of the list under a key, for `[[...]]`.
pub fn tables(node: Option<&Node>) -> Result<&[Node], Problem> {
    match node {
        None => Ok(&[]),
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => Ok(nodes),
        Some(node) => Err(node.wrong("this", "a list of tables, `[[...]]`")),
    }
}
