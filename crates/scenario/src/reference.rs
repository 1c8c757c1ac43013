//! Generates text from the declarations: the reference of all keys, and a scenario with all defaults.

use std::fmt::Write;

use crate::config::{Config, Label, STAGES};
use crate::schema::{Form, Key, Keys, Need, Section};

/// The text before the tables.
const INTRODUCTION: &str = include_str!("introduction.md");

/// Every key with its form, default, bounds and meaning, in Markdown: `docs/scenario.md`.
pub fn markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    let file = &Config::SECTION;
    table(&mut out, "## The file", file.about(), &file.keys());
    for part in parts(file, "") {
        let heading = format!("## `{}`", part.heading);
        table(
            &mut out,
            &heading,
            part.section.about(),
            &part.section.keys(),
        );
    }
    out.push_str("\n## Stages of `[[forward]]`, `[[reverse]]` and `[[line.stage]]`\n");
    for section in STAGES {
        let heading = format!("### `kind = \"{}\"`", section.name);
        table(&mut out, &heading, section.about(), &stage_keys(section));
    }
    for part in STAGES.iter().flat_map(|stage| parts(stage, "forward.")) {
        let heading = format!("### `{}`", part.heading);
        table(
            &mut out,
            &heading,
            part.section.about(),
            &part.section.keys(),
        );
    }
    out
}

/// A table that another one contains.
struct Part {
    /// `[run]`, or `[[flow]]` for a list of tables.
    heading: String,
    section: &'static Section,
}

/// All tables below `section`, each once, in the order of the keys that contain them.
fn parts(section: &'static Section, prefix: &str) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for key in section.keys() {
        let (section, heading) = match key.form {
            Form::Table(section) => (section, format!("[{prefix}{}]", section.name)),
            Form::Tables(section) => (section, format!("[[{prefix}{}]]", section.name)),
            _ => continue,
        };
        let below = parts(section, prefix);
        for part in std::iter::once(Part { heading, section }).chain(below) {
            if all
                .iter()
                .all(|known| known.section.name != part.section.name)
            {
                all.push(part);
            }
        }
    }
    all
}

fn stage_keys(section: &'static Section) -> Vec<&'static Key> {
    [Label::SECTION.keys(), section.keys()].concat()
}

fn table(out: &mut String, heading: &str, about: &str, keys: &[&Key]) {
    let _ = write!(out, "\n{heading}\n\n{about}\n\n");
    out.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let value = value(key).replace('|', "\\|");
        let default = default(key).replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{}` | {value} | {default} | {} |",
            key.name,
            meaning(key)
        );
    }
}

fn value(key: &Key) -> String {
    let form = key.form.markdown();
    match key.bounds.text() {
        Some(bounds) => format!("{form}; {bounds}"),
        None => form,
    }
}

fn default(key: &Key) -> String {
    match key.need {
        Need::Required => "needed".to_owned(),
        Need::Default("") => "none".to_owned(),
        Need::Default(text) => format!("`{}`", key.form.literal(text)),
        Need::Unset(text) => text.to_owned(),
    }
}

/// The meaning of a key, of its words, and the setting it depends on.
fn meaning(key: &Key) -> String {
    let mut text = key.about().to_owned();
    if let Form::Choice(words) = key.form {
        for word in words {
            let _ = write!(text, " `\"{}\"`: {}", word.name, word.doc.trim());
        }
    }
    if let Some(owner) = key.owner {
        let _ = write!(text, " Only with `{}`.", owner.text());
    }
    text
}

/// A scenario with one flow and all defaults. Keys without a default, or without effect while the others have their
/// defaults, are comments.
pub fn defaults() -> String {
    let mut out = String::new();
    for part in parts(&Config::SECTION, "") {
        let keys = part.section.keys();
        // A table with required keys is not given by default.
        let needs = keys
            .iter()
            .any(|key| key.need == Need::Required && key.owner.is_none());
        let comment = if needs { "# " } else { "" };
        let about = part.section.about();
        let _ = writeln!(out, "# {about}\n{comment}{}", part.heading);
        for key in keys.iter().filter(|key| is_line(key)) {
            let stands = !needs && stands_by_default(key, &keys);
            let comment = if stands { "" } else { "# " };
            let _ = writeln!(out, "{comment}{}", line(key));
        }
        out.push('\n');
    }
    for section in STAGES {
        let (about, name) = (section.about(), section.name);
        let _ = writeln!(out, "# {about}\n# [[forward]]\n# kind = \"{name}\"");
        for key in stage_keys(section).iter().filter(|key| key.name != "kind") {
            let _ = writeln!(out, "# {}", line(key));
        }
        out.push('\n');
    }
    out
}

/// True if the key is written in one line, and not as a table.
fn is_line(key: &Key) -> bool {
    !matches!(key.form, Form::Table(_) | Form::Tables(_))
}

/// True if the key has a default, and has an effect while all others have their defaults.
fn stands_by_default(key: &Key, all: &[&Key]) -> bool {
    let default_of = |name: &str| match all.iter().find(|key| key.name == name)?.need {
        Need::Default(text) => Some(text),
        _ => None,
    };
    let owned = |owner: crate::schema::Owner| owner.allows(default_of(owner.key()), false);
    matches!(key.need, Need::Default(_)) && key.owner.is_none_or(owned)
}

fn line(key: &Key) -> String {
    let value = match key.need {
        Need::Default(text) => key.form.literal(text),
        Need::Required => "...".to_owned(),
        Need::Unset(text) => format!("... ({text})"),
    };
    let owner = key
        .owner
        .map(|owner| format!(" Only with {}.", owner.text()));
    let owner = owner.unwrap_or_default();
    format!("{} = {value}  # {}{owner}", key.name, key.about())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_in_docs_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
        if std::env::var_os("INORDER_WRITE_REFERENCE").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == markdown(),
            "docs/scenario.md does not match the declarations; regenerate it with\n\
             INORDER_WRITE_REFERENCE=1 cargo test -p inorder-scenario the_reference_in_docs"
        );
    }
}
