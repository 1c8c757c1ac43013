//! The schema as text: a document with every key, and a scenario with every default.

use std::fmt::Write;

use crate::schema::{
    APPLICATION, CARD, CROSS, Default, ENDPOINT, FLOW, Field, Kind, LANE, OUTPUT, PROBE, RUN,
    Registry, SCENARIO, STAGES, Section,
};

/// What stands before the tables.
const INTRODUCTION: &str = include_str!("introduction.md");

/// Every key with its unit, default and meaning, in Markdown.
pub fn markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    for section in [
        &SCENARIO,
        &RUN,
        &FLOW,
        &APPLICATION,
        &ENDPOINT,
        &PROBE,
        &CARD,
        &OUTPUT,
    ] {
        table(&mut out, &heading(section), section);
    }
    out.push_str("\n# Stages of `[[forward]]` and `[[reverse]]`\n");
    for section in STAGES {
        let heading = format!("`kind = \"{}\"`", section.name);
        table(&mut out, &heading, section);
    }
    table(&mut out, "`[[forward.lane]]`", &LANE);
    table(&mut out, "`[[forward.cross]]`", &CROSS);
    out
}

fn heading(section: &Section) -> String {
    match section.name {
        "scenario" => "The file".to_owned(),
        name @ ("flow" | "probe") => format!("`[[{name}]]`"),
        name => format!("`[{name}]`"),
    }
}

fn table(out: &mut String, heading: &str, section: &Section) {
    let _ = write!(out, "\n## {heading}\n\n{}\n\n", section.about);
    out.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for field in section.fields {
        let value = kind(field.kind).replace('|', "\\|");
        let default = default(field).replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{}` | {value} | {default} | {} |",
            field.key, field.about
        );
    }
}

fn default(field: &Field) -> String {
    match field.default {
        Default::Required => "needed".to_owned(),
        Default::Is("") => "none".to_owned(),
        Default::Is(text) => format!("`{}`", literal(field.kind, text)),
        Default::Unset(text) => text.to_owned(),
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Duration => "time, `\"2.5 ms\"`".into(),
        Kind::DurationOrOff => "time, or `\"off\"`".into(),
        Kind::Rate => "rate, `\"10 Mbit/s\"`".into(),
        Kind::Size => "size, `\"1500 B\"`".into(),
        Kind::SizeOrUnlimited => "size, or `\"unlimited\"`".into(),
        Kind::Share => "share, `\"2 %\"` or 0 to 1".into(),
        Kind::Packets => "packets, `64` or `\"64 packets\"`".into(),
        Kind::Count => "whole number".into(),
        Kind::Number => "number".into(),
        Kind::Frequency => "how often, `\"20 /s\"`".into(),
        Kind::Flag => "`true`, `false`".into(),
        Kind::Text => "text".into(),
        Kind::Choice(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            quoted.join(", ")
        }
        Kind::Queue => "`\"64 packets\"`, `\"100 kB\"`, `\"1 BDP\"`, `\"unlimited\"`".into(),
        Kind::RateSteps => "pairs of time and rate".into(),
        Kind::Name(Registry::Congestion) => "name of a congestion control".into(),
        Kind::Name(Registry::LossDetection) => "name of a loss detection".into(),
        Kind::Name(Registry::Profile) => "name of a profile".into(),
        Kind::Table(_) => "table".into(),
        Kind::Tables(_) => "list of tables".into(),
        Kind::Stages => "list of stages".into(),
        Kind::Other(text) => text.into(),
    }
}

/// A default as TOML writes it.
fn literal(kind: Kind, text: &str) -> String {
    if matches!(kind, Kind::Flag) || text.parse::<f64>().is_ok() {
        return text.to_owned();
    }
    format!("\"{text}\"")
}

/// A scenario with one flow, all defaults written out, what has none in comments.
pub fn defaults() -> String {
    let mut out = String::new();
    for section in [&RUN, &FLOW, &APPLICATION, &ENDPOINT, &CARD, &OUTPUT] {
        let _ = writeln!(
            out,
            "# {}\n{}",
            section.about,
            heading(section).replace('`', "")
        );
        lines(&mut out, section);
        out.push('\n');
    }
    for section in STAGES {
        let _ = writeln!(
            out,
            "# {}\n# [[forward]]\n# kind = \"{}\"",
            section.about, section.name
        );
        for field in section.fields.iter().filter(|field| field.key != "kind") {
            let _ = writeln!(out, "# {}", line(field));
        }
        out.push('\n');
    }
    out
}

fn lines(out: &mut String, section: &Section) {
    for field in section.fields {
        let nested = matches!(field.kind, Kind::Table(_) | Kind::Tables(_));
        let comment = if matches!(field.default, Default::Is(_)) {
            ""
        } else {
            "# "
        };
        if !nested {
            let _ = writeln!(out, "{comment}{}", line(field));
        }
    }
}

fn line(field: &Field) -> String {
    let value = match field.default {
        Default::Is(text) => literal(field.kind, text),
        Default::Required => "...".to_owned(),
        Default::Unset(text) => format!("... ({text})"),
    };
    format!("{} = {value}  # {}", field.key, field.about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_in_docs_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenario.md");
        let written = std::fs::read_to_string(path).unwrap_or_default();
        if std::env::var_os("WRITE_SCENARIO_MD").is_some() {
            std::fs::write(path, markdown()).unwrap();
            return;
        }
        assert!(
            written == markdown(),
            "run the test with WRITE_SCENARIO_MD=1"
        );
    }
}
