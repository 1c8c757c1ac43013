//! Reading a table by its declaration.

use crate::context::{Context, Kind};
use crate::error::{Place, Problem};
use crate::names::Registries;
use crate::quantity;
use crate::schema::{Form, Key, Keys, Need, Owner, Section};
use crate::value::{Entry, Node};

/// A table that can be read. The macro `keys!` implements it.
pub trait Table: Keys {
    /// Reads it; its keys have been checked.
    ///
    /// # Errors
    /// The first thing that is wrong with a value.
    fn read(r: &Reader<'_>) -> Result<Self, Problem>;
}

/// A word, and how the keys that belong to it are read.
pub(crate) type Variant<T> = (&'static str, fn(&Reader<'_>) -> Result<T, Problem>);

/// A table and the declarations it must follow; its keys have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    sections: &'a [&'static Section],
    node: &'a Node,
    /// What is not in `node` is taken from here before the defaults.
    fallback: Option<&'a Node>,
    context: &'a Context<'a>,
}

impl<'a> Reader<'a> {
    /// Checks that `node` is a table of keys that `sections` have; the last one names the table.
    pub(crate) fn new(
        sections: &'a [&'static Section],
        node: &'a Node,
        context: &'a Context<'a>,
    ) -> Result<Self, Problem> {
        Self::with_fallback(sections, node, None, context)
    }

    /// The same, keys that are not there being taken from `fallback`.
    pub(crate) fn with_fallback(
        sections: &'a [&'static Section],
        node: &'a Node,
        fallback: Option<&'a Node>,
        context: &'a Context<'a>,
    ) -> Result<Self, Problem> {
        let reader = Reader {
            sections,
            node,
            fallback,
            context,
        };
        let declared = reader.declared();
        for entry in node.entries(reader.name())? {
            if !declared.iter().any(|key| key.name == entry.key) {
                let known: Vec<&str> = declared.iter().map(|key| key.name).collect();
                return Err(unknown_key(reader.name(), &known, entry));
            }
        }
        reader.check_owners(&declared);
        Ok(reader)
    }

    fn name(&self) -> &'static str {
        self.sections.last().map_or("table", |section| section.name)
    }

    fn declared(&self) -> Vec<&'static Key> {
        let mut keys = Vec::with_capacity(32);
        for section in self.sections {
            section.add_keys(&mut keys);
        }
        keys
    }

    /// Notes every key that has no effect, its owner being absent or of another value.
    fn check_owners(&self, declared: &[&'static Key]) {
        for entry in self.node.entries("").unwrap_or_default() {
            let same = declared.iter().filter(|key| key.name == entry.key);
            if same.clone().any(|key| key.owner.is_none()) {
                continue; // One declaration of this key needs no owner.
            }
            let owners: Vec<Owner> = same.filter_map(|key| key.owner).collect();
            let overridden = |owner: &Owner| self.is_overridden(owner.key(), entry);
            let allowed = |owner: &Owner| self.allows(*owner, declared);
            if owners
                .iter()
                .any(|owner| allowed(owner) || overridden(owner))
            {
                self.context.used(&entry.node.place);
            } else if let Some(owner) = owners.first() {
                let text = owners.iter().map(|owner| owner.text());
                let expected = text.collect::<Vec<_>>().join(", or ");
                self.idle(&entry.key, &self.state(owner.key(), declared), &expected);
            }
        }
    }

    /// Was the setting changed by an override, the key being in the file? What an override switches off does not
    /// turn the rest of a file into an error.
    fn is_overridden(&self, owner: &str, entry: &Entry) -> bool {
        let changed = |node: &Node| matches!(node.place, Place::Override(_));
        self.child(owner).is_some_and(changed) && matches!(entry.node.place, Place::File(_))
    }

    fn allows(&self, owner: Owner, declared: &[&'static Key]) -> bool {
        let value = self.effective(owner.key(), declared);
        owner.allows(value.as_deref(), self.child(owner.key()).is_some())
    }

    /// The value of a key as it is written, or its default.
    fn effective(&self, name: &str, declared: &[&'static Key]) -> Option<String> {
        let default = || match declared.iter().find(|key| key.name == name)?.need {
            Need::Default(text) => Some(text.to_owned()),
            _ => None,
        };
        self.child(name).map(Node::show).or_else(default)
    }

    /// What a key is set to, in words: `with model = "uniform"`, `without rate_changes`.
    fn state(&self, name: &str, declared: &[&'static Key]) -> String {
        match self.effective(name, declared).as_deref() {
            None => format!("without {name}"),
            Some(flag @ ("true" | "false")) => format!("with {name} = {flag}"),
            Some(value) => format!("with {name} = \"{value}\""),
        }
    }

    /// Notes that `name`, if it is given here, has no effect: `state` says why, `expected` what would help.
    pub(crate) fn idle(&self, name: &str, state: &str, expected: &str) {
        let Some(node) = self.node.get(name) else {
            return;
        };
        let what = format!("{name} has no effect {state}");
        self.context.idle(Problem::new(&node.place, what, expected));
    }

    /// Notes that `name`, if it is given here, has an effect.
    pub(crate) fn used(&self, name: &str) {
        if let Some(node) = self.node.get(name) {
            self.context.used(&node.place);
        }
    }

    /// What the table has under `name`, or its fallback.
    pub(crate) fn child(&self, name: &str) -> Option<&'a Node> {
        let fallback = || self.fallback.and_then(|node| node.get(name));
        self.node.get(name).or_else(fallback)
    }

    /// Where the table was written.
    pub(crate) fn table(&self) -> &'a Place {
        &self.node.place
    }

    /// Where the value of `name` was written, or the table.
    pub(crate) fn place(&self, name: &str) -> &'a Place {
        self.child(name)
            .map_or(&self.node.place, |node| &node.place)
    }

    /// The names this scenario may refer to.
    pub(crate) fn names(&self) -> &'a Registries {
        self.context.names
    }

    /// The value of `key`, or its default.
    pub(crate) fn get<K: Kind>(&self, key: &Key) -> Result<K::Value, Problem> {
        match (self.child(key.name), key.need) {
            (Some(node), _) => self.value::<K>(key, node),
            (None, Need::Default(text)) => K::read(&Node::from_default(text), self.context),
            (None, _) => Err(self.missing(key.name, key.about())),
        }
    }

    /// The value of `key`, if it is given.
    pub(crate) fn maybe<K: Kind>(&self, key: &Key) -> Result<Option<K::Value>, Problem> {
        let node = self.child(key.name);
        node.map(|node| self.value::<K>(key, node)).transpose()
    }

    /// The variant that the word under `key` names.
    pub(crate) fn select<T>(&self, key: &Key, variants: &[Variant<T>]) -> Result<T, Problem> {
        let default = match key.need {
            Need::Default(text) => Some(Node::from_default(text)),
            _ => None,
        };
        let node = self.child(key.name).or(default.as_ref());
        let node = node.ok_or_else(|| self.missing(key.name, key.about()))?;
        let read = quantity::choice(node, variants).map_err(|mut problem| {
            problem.what = format!("{}: {}", key.name, problem.what);
            problem
        })?;
        read(self)
    }

    /// The table or list of `key`; an empty one if it is not given.
    pub(crate) fn or_blank<K: Kind>(&self, key: &Key) -> Result<K::Value, Problem> {
        match self.child(key.name) {
            Some(node) => self.value::<K>(key, node),
            None => K::read(&K::blank(), self.context),
        }
    }

    /// The table of `key`; what it does not have is taken from the table of `other`.
    pub(crate) fn like<T: Table>(&self, key: &Key, other: &str) -> Result<T, Problem> {
        let blank = Node::empty(&Place::Default);
        let node = self.child(key.name).unwrap_or(&blank);
        let sections = [const { &T::SECTION }];
        let fallback = self.child(other);
        T::read(&Reader::with_fallback(
            &sections,
            node,
            fallback,
            self.context,
        )?)
    }

    fn value<K: Kind>(&self, key: &Key, node: &Node) -> Result<K::Value, Problem> {
        let named = |mut problem: Problem| {
            // A table's problems name its own keys.
            if !matches!(key.form, Form::Table(_) | Form::Tables(_) | Form::Stages) {
                problem.what = format!("{}: {}", key.name, problem.what);
            }
            problem
        };
        let value = K::read(node, self.context).map_err(named)?;
        let compare = |bound: &'static str| {
            let bound = K::read(&Node::from_default(bound), self.context).ok()?;
            K::compare(&value, &bound)
        };
        let Some(complaint) = key.bounds.complaint(compare) else {
            return Ok(value);
        };
        let what = format!("{}: {} is {complaint}", key.name, node.show());
        let expected = key.bounds.text().unwrap_or_default();
        Err(Problem::new(&node.place, what, expected))
    }

    /// `name` is needed here.
    pub(crate) fn missing(&self, name: &str, about: &str) -> Problem {
        let what = format!("{} has no {name}", self.name());
        Problem::new(&self.node.place, what, format!("{name}: {about}"))
    }
}

/// "unknown key "cuont" in flow".
pub(crate) fn unknown_key(table: &str, known: &[&str], entry: &Entry) -> Problem {
    let what = format!("unknown key \"{}\" in {table}", entry.key);
    let expected = format!("one of {}", known.join(", "));
    Problem::new(&entry.place, what, expected).nearest(&entry.key, known.iter().copied())
}
