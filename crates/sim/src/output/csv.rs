//! A row a run.

use std::io::{self, Write};

use super::Report;
use crate::measure::MEASURES;

/// Writes axes, seed and all measures of each run; what a run does not have is left empty.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let axes = report.axes().into_iter().map(field);
    let measures = MEASURES.iter().map(|measure| measure.name.to_owned());
    line(out, axes.chain(["seed".to_owned()]).chain(measures))?;
    for cell in report.cells {
        for (run, seed) in cell.seeds.iter().enumerate() {
            let labels = cell.labels.iter().map(|(_, label)| field(label));
            let values = cell.values.iter().map(|values| {
                let value = values.get(run).copied().flatten();
                value.map_or_else(String::new, |value| value.to_string())
            });
            line(out, labels.chain([seed.to_string()]).chain(values))?;
        }
    }
    Ok(())
}

fn line(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(out, "{}", fields.collect::<Vec<_>>().join(","))
}

/// Quoted if need be (RFC 4180).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}
