//! The JSON document of a verb, and its schema.

use std::io::{self, Write};

use crate::column::{Column, json, schema};

/// What `inorder VERB --json` prints: one object with these columns.
pub struct Document<R: 'static> {
    /// The verb.
    pub verb: &'static str,
    /// Members of the object.
    pub columns: &'static [Column<R>],
}

impl<R> Document<R> {
    /// Writes the object.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write, found: &R) -> io::Result<()> {
        json::write(out, self.columns, found)
    }

    /// Writes the JSON Schema of what [`write_json`](Document::write_json) writes.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_schema(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = format!("inorder {}", self.verb);
        let about = format!("What `inorder {} --json` prints.", self.verb);
        schema::write(out, &title, &about, self.columns)
    }
}
