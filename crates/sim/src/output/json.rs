//! One JSON object, schema `inorder-simulate/1`.

use std::io::{self, Write};

use super::Report;
use crate::campaign::CellResult;
use crate::measure::MEASURES;

/// Writes the object: `cells[]` with `labels`, `estimates` and `runs[]`.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_json(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    write!(
        out,
        "{{\"schema\": \"inorder-simulate/1\", \"file\": {}, \"title\": {}, \"measures\": {{",
        quoted(report.file),
        quoted(report.title)
    )?;
    for (at, measure) in MEASURES.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(
            out,
            "{comma}\"{}\": {{\"unit\": {}, \"about\": {}}}",
            measure.name,
            quoted(measure.unit),
            quoted(measure.about)
        )?;
    }
    write!(out, "}},\n \"cells\": [")?;
    for (at, one) in report.cells.iter().enumerate() {
        write!(out, "{}", if at == 0 { "\n  " } else { ",\n  " })?;
        cell(out, one)?;
    }
    writeln!(out, "]}}")
}

fn cell(out: &mut dyn Write, cell: &CellResult) -> io::Result<()> {
    let labels = cell
        .labels
        .iter()
        .map(|(axis, label)| format!("{}: {}", quoted(axis), quoted(label)));
    write!(
        out,
        "{{\"labels\": {{{}}}, \"confidence\": {}, \"estimates\": {{",
        joined(labels),
        cell.confidence
    )?;
    let estimates = MEASURES.iter().enumerate().filter_map(|(at, measure)| {
        let estimate = cell.estimate_at(at)?;
        let half = estimate.half.map_or("null".to_owned(), number);
        Some(format!(
            "\"{}\": {{\"mean\": {}, \"half\": {half}, \"n\": {}}}",
            measure.name,
            number(estimate.mean),
            estimate.n
        ))
    });
    write!(out, "{}}}, \"runs\": [", joined(estimates))?;
    let runs = cell.seeds.iter().enumerate().map(|(run, seed)| {
        let values = MEASURES
            .iter()
            .zip(&cell.values)
            .filter_map(|(measure, values)| {
                let value = values.get(run).copied().flatten()?;
                Some(format!("\"{}\": {}", measure.name, number(value)))
            });
        format!("{{\"seed\": {seed}, {}}}", joined(values))
    });
    write!(out, "{}]}}", joined(runs))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        "null".to_owned()
    }
}

/// A JSON string (RFC 8259 section 7).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nµ"), "\"a\\\"b\\\\c\\u000aµ\"");
    }
}
