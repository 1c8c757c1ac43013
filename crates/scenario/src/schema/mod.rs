//! The schema of scenario files: tables, their keys, and the forms of their values.
//!
//! Nothing here is specific to a key. The declarations in [`config`](crate::config) (macro `keys!`) generate a
//! [`Section`] for each table, which the reader, the reference in `docs/scenario.md` and `--print-defaults` use.
//! `--print-defaults` follow it.

mod bounds;
mod form;
mod owner;

pub use bounds::Bounds;
pub use form::{Form, Registry, Word};
pub use owner::Owner;

/// The rule for a key that is not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The key must be given.
    Required,
    /// This value, written as in a file but without quotes.
    Default(&'static str),
    /// Not a value of the key; the text describes the effect.
    Unset(&'static str),
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// The form of its value.
    pub form: Form,
    /// The rule if it is not given.
    pub need: Need,
    /// The valid values.
    pub bounds: Bounds,
    /// The setting that the key depends on: without it, the key has no effect.
    pub owner: Option<Owner>,
    /// Its meaning: the doc comment of the declaration.
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
    /// Its purpose: the doc comment of the declaration.
    pub doc: &'static str,
}

impl Section {
    /// What it is for.
    pub fn about(&self) -> &'static str {
        self.doc.trim()
    }

    /// Its keys including those of flattened declarations, in the order of declaration.
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut keys = Vec::new();
        self.add_keys(&mut keys);
        keys
    }

    /// Appends its keys to an existing list, because every cell of a grid reads all its tables.
    pub(crate) fn add_keys(&self, keys: &mut Vec<&'static Key>) {
        for item in self.items {
            match item {
                Item::Key(key) => keys.push(key),
                Item::Flat(section) => section.add_keys(keys),
            }
        }
    }

    /// True if it has a key called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.keys().iter().any(|key| key.name == name)
    }
}

/// A table of a scenario, declared with `keys!`.
pub trait Keys: Sized {
    /// The declaration of the table.
    const SECTION: Section;
}
