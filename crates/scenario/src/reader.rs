//! Reads a table according to its declaration.

use crate::context::{Context, Kind};
use crate::error::{Place, Problem};
use crate::names::Registries;
use crate::quantity;
use crate::schema::{Form, Key, Keys, Need, Owner, Section};
use crate::value::{Entry, Node};

/// A table that can be read. The macro `keys!` implements it.
pub trait Table: Keys {
    /// Reads the table; its keys have been checked.
    ///
    /// # Errors
    /// The first error in a value.
    fn read(r: &Reader<'_>) -> Result<Self, Problem>;
}

/// A word, and the function that reads the keys of its variant.
pub(crate) type Variant<T> = (&'static str, fn(&Reader<'_>) -> Result<T, Problem>);

/// A table and its declarations; its keys have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    sections: &'a [&'static Section],
    node: &'a Node,
    /// Values that are missing in `node` are taken from here before the defaults.
    fallback: Option<&'a Node>,
    context: &'a Context<'a>,
}

impl<'a> Reader<'a> {
    /// Checks that `node` is a table with keys of `sections`; the last section names the table.
    pub(crate) fn new(
        sections: &'a [&'static Section],
        node: &'a Node,
        context: &'a Context<'a>,
    ) -> Result<Self, Problem> {
        Self::with_fallback(sections, node, None, context)
    }

    /// Checks that `node` is a table, whose missing keys are taken from `fallback`.
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

    /// Records every key that has no effect because the setting it depends on is absent or has another value.
    fn check_owners(&self, declared: &[&'static Key]) {
        for entry in self.node.entries("").unwrap_or_default() {
            let same = declared.iter().filter(|key| key.name == entry.key);
            if same.clone().any(|key| key.owner.is_none()) {
                continue; // Another declaration of this key depends on no setting.
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

    /// True if the setting was changed by an override while the key is in the file. An override that switches
    /// something off must not turn the rest of a file into an error.
    fn is_overridden(&self, owner: &str, entry: &Entry) -> bool {
        let changed = |node: &Node| matches!(node.place, Place::Override(_));
        self.child(owner).is_some_and(changed) && matches!(entry.node.place, Place::File(_))
    }

    fn allows(&self, owner: Owner, declared: &[&'static Key]) -> bool {
        let value = self.effective(owner.key(), declared);
        owner.allows(value.as_deref(), self.child(owner.key()).is_some())
    }

    /// The text of the key's value, or of its default.
    fn effective(&self, name: &str, declared: &[&'static Key]) -> Option<String> {
        let default = || match declared.iter().find(|key| key.name == name)?.need {
            Need::Default(text) => Some(text.to_owned()),
            _ => None,
        };
        self.child(name).map(Node::show).or_else(default)
    }

    /// The setting in words: `with model = "uniform"`, `without rate_changes`.
    fn state(&self, name: &str, declared: &[&'static Key]) -> String {
        match self.effective(name, declared).as_deref() {
            None => format!("without {name}"),
            Some(flag @ ("true" | "false")) => format!("with {name} = {flag}"),
            Some(value) => format!("with {name} = \"{value}\""),
        }
    }

    /// Records that `name`, if given here, has no effect: `state` is the reason, `expected` what would help.
    pub(crate) fn idle(&self, name: &str, state: &str, expected: &str) {
        let Some(node) = self.node.get(name) else {
            return;
        };
        let what = format!("{name} has no effect {state}");
        self.context.idle(Problem::new(&node.place, what, expected));
    }

    /// Records that `name`, if given here, has an effect.
    pub(crate) fn used(&self, name: &str) {
        if let Some(node) = self.node.get(name) {
            self.context.used(&node.place);
        }
    }

    /// The value of `name` in the table, or in its fallback.
    pub(crate) fn child(&self, name: &str) -> Option<&'a Node> {
        let fallback = || self.fallback.and_then(|node| node.get(name));
        self.node.get(name).or_else(fallback)
    }

    /// The position of the table.
    pub(crate) fn table(&self) -> &'a Place {
        &self.node.place
    }

    /// The position of the value of `name`, or of the table.
    pub(crate) fn place(&self, name: &str) -> &'a Place {
        self.child(name)
            .map_or(&self.node.place, |node| &node.place)
    }

    /// The names to which this scenario may refer.
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

    /// The variant selected by the word under `key`.
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

    /// The table or list of `key`; an empty one if not given.
    pub(crate) fn or_blank<K: Kind>(&self, key: &Key) -> Result<K::Value, Problem> {
        match self.child(key.name) {
            Some(node) => self.value::<K>(key, node),
            None => K::read(&K::blank(), self.context),
        }
    }

    /// The table of `key`; missing values are taken from the table of `other`, unless it names a dialect: that is another stack
    /// with everything its own.
    pub(crate) fn like<T: Table>(&self, key: &Key, other: &str) -> Result<T, Problem> {
        let blank = Node::empty(&Place::Default);
        let node = self.child(key.name).unwrap_or(&blank);
        let sections = [const { &T::SECTION }];
        let own = node.get("dialect").is_some();
        let fallback = self.child(other).filter(|_| !own);
        T::read(&Reader::with_fallback(
            &sections,
            node,
            fallback,
            self.context,
        )?)
    }

    fn value<K: Kind>(&self, key: &Key, node: &Node) -> Result<K::Value, Problem> {
        let named = |mut problem: Problem| {
            // Errors in the table must name its own keys.
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

    /// An error for the missing key `name`.
    pub(crate) fn missing(&self, name: &str, about: &str) -> Problem {
        let what = format!("{} has no {name}", self.name());
        Problem::new(&self.node.place, what, format!("{name}: {about}"))
    }
}

/// The error "unknown key "cuont" in flow".
pub(crate) fn unknown_key(table: &str, known: &[&str], entry: &Entry) -> Problem {
    let what = format!("unknown key \"{}\" in {table}", entry.key);
    let expected = format!("one of {}", known.join(", "));
    Problem::new(&entry.place, what, expected).nearest(&entry.key, known.iter().copied())
}
