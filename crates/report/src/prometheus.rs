//! The text format of Prometheus (exposition format 0.0.4), for results that change while a program runs.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::column::AnyColumn;
use crate::csv::in_files;
use crate::field::Kind;
use crate::value::Value;

/// Writes every number of the columns as the metric `prefix_name`, one sample for each row. Columns that are text
/// become labels, which must distinguish the rows. Missing values have no sample.
///
/// Counts are of the type `counter`, all other numbers `gauge`; durations are in milliseconds, as their names say.
///
/// ```
/// use inorder_report::{Column, Kind, prometheus};
///
/// static LANE: &[Column<(&str, u64)>] = &[
///     Column::new("direction", Kind::Text, "Which way.", |lane| lane.0.into()),
///     Column::new("sent", Kind::Count, "Frames sent.", |lane| lane.1.into()),
/// ];
/// let mut out = Vec::new();
/// prometheus::write(&mut out, "inorder_live", LANE, &[("forward", 7)])?;
/// assert_eq!(String::from_utf8_lossy(&out), "\
/// ## HELP inorder_live_sent Frames sent.
/// ## TYPE inorder_live_sent counter
/// inorder_live_sent{direction=\"forward\"} 7
/// ".replace("##", "#"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If `out` cannot be written.
pub fn write<R, M: AnyColumn<R>>(
    out: &mut dyn Write,
    prefix: &str,
    columns: &[M],
    rows: &[impl Borrow<R>],
) -> io::Result<()> {
    let columns = in_files(columns);
    let labels: Vec<String> = rows
        .iter()
        .map(|row| {
            let mut labels = String::new();
            for column in &columns {
                if let Value::Text(text) = column.value(row.borrow()) {
                    let between = if labels.is_empty() { "" } else { "," };
                    let _ = write!(
                        labels,
                        "{between}{}=\"{}\"",
                        column.field().name,
                        escaped(&text)
                    );
                }
            }
            labels
        })
        .collect();
    for column in &columns {
        let field = column.field();
        let values = rows.iter().zip(&labels).filter_map(|(row, labels)| {
            let value = field.kind.in_files(&column.value(row.borrow())).number()?;
            Some((labels, value))
        });
        let mut values = values.peekable();
        if values.peek().is_none() {
            continue;
        }
        let kind = match field.kind {
            Kind::Count | Kind::Bytes => "counter",
            _ => "gauge",
        };
        let name = format!("{prefix}_{}", field.name);
        writeln!(
            out,
            "# HELP {name} {}",
            field.about.replace('\\', "\\\\").replace('\n', "\\n")
        )?;
        writeln!(out, "# TYPE {name} {kind}")?;
        for (labels, value) in values {
            writeln!(out, "{name}{{{labels}}} {value}")?;
        }
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
