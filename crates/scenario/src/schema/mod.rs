//! What a scenario file may say: tables, their keys, and the forms of their values.
//!
//! Nothing here is written by hand for a particular key. The declarations in [`config`](crate::config) (macro
//! `keys!`) produce a [`Section`] for each table; the reader, the reference in `docs/scenario.md` and
//! `--print-defaults` follow it.

mod bounds;
mod form;
mod owner;

pub use bounds::Bounds;
pub use form::{Form, Registry, Word};
pub use owner::Owner;

/// What holds if a key is not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The key must be given.
    Required,
    /// This value, written as in a file but without quotes.
    Default(&'static str),
    /// Something that is not a value of the key; the text says what.
    Unset(&'static str),
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// The form of its value.
    pub form: Form,
    /// What holds if it is not given.
    pub need: Need,
    /// The values that make sense.
    pub bounds: Bounds,
    /// The setting without which the key has no effect.
    pub owner: Option<Owner>,
    /// What it means, as the declaration's doc comment says it.
    pub doc: &'static str,
}

impl Key {
    /// What it means.
    pub fn about(&self) -> &'static str {
        self.doc.trim()
    }
}

/// A part of a table's declaration.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One key.
    Key(Key),
    /// All keys of another declaration, in the same table.
    Flat(&'static Section),
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Name for headings and messages.
    pub name: &'static str,
    /// Its keys.
    pub items: &'static [Item],
    /// What it is for, as the declaration's doc comment says it.
    pub doc: &'static str,
}

impl Section {
    /// What it is for.
    pub fn about(&self) -> &'static str {
        self.doc.trim()
    }

    /// Its keys, those of flattened declarations included, in the order of declaration.
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut keys = Vec::new();
        self.add_keys(&mut keys);
        keys
    }

    /// The same, into a list there is already: every cell of a grid reads all its tables.
    pub(crate) fn add_keys(&self, keys: &mut Vec<&'static Key>) {
        for item in self.items {
            match item {
                Item::Key(key) => keys.push(key),
                Item::Flat(section) => section.add_keys(keys),
            }
        }
    }

    /// Does it have a key called `name`?
    pub fn has(&self, name: &str) -> bool {
        self.keys().iter().any(|key| key.name == name)
    }
}

/// A table of a scenario, declared with `keys!`.
pub trait Keys: Sized {
    /// What the table may say.
    const SECTION: Section;
}
