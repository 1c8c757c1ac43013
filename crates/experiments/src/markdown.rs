//! A reproduction as a Markdown page: the claims, then a table for each item with a row for each cell and a column for
//! each measure, in the order in which they were measured.

use std::io::{self, Write};

use inorder_report::number::short;

use crate::claim::Claim;
use crate::report::Report;
use crate::table::{Grid, in_words};

/// Writes the page; `command` is what it was made by.
pub fn write(out: &mut dyn Write, report: &Report, command: &str) -> io::Result<()> {
    writeln!(out, "# {}\n", report.title)?;
    writeln!(out, "Written by `{command}`.")?;
    let findings = &report.findings;
    writeln!(
        out,
        "\n## Claims\n\n| verdict | claim | printed | ours | detail |\n|---|---|---|---|---|"
    )?;
    for claim in &findings.claims {
        write_claim(out, claim)?;
    }
    for grid in Grid::all(&findings.comparisons) {
        write_item(out, &grid)?;
    }
    for all in &findings.magnitudes {
        writeln!(out, "\n{}: {}", all.item, all.in_words())?;
    }
    if !findings.remarks.is_empty() {
        writeln!(out, "\n## Remarks\n")?;
    }
    for remark in &findings.remarks {
        writeln!(out, "- {remark}")?;
    }
    Ok(())
}

fn write_claim(out: &mut dyn Write, claim: &Claim) -> io::Result<()> {
    let interval = claim.interval.filter(|[low, high]| low < high);
    let interval = interval.map(|[low, high]| format!(" ({} to {})", short(low), short(high)));
    let fields = [
        claim.verdict_in_words(),
        format!("`{}` {}", claim.id, claim.text),
        claim.printed.map_or_else(String::new, short),
        short(claim.ours) + &interval.unwrap_or_default(),
        [&claim.detail, &claim.criterion, &claim.why]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("; "),
    ];
    row(out, &fields)
}

/// A row for each cell, a column for each measure; half the width of an interval follows its value.
fn write_item(out: &mut dyn Write, grid: &Grid<'_>) -> io::Result<()> {
    writeln!(out, "\n## {}\n", grid.item)?;
    let heads = ["cell"].iter().chain(&grid.measures);
    row(out, &heads.map(|&head| head.to_owned()).collect::<Vec<_>>())?;
    writeln!(out, "|{}", "---|".repeat(grid.measures.len() + 1))?;
    for (cell, values) in &grid.rows {
        let values = values
            .iter()
            .map(|value| value.map_or_else(String::new, in_words));
        let fields = [(*cell).to_owned()].into_iter().chain(values);
        row(out, &fields.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn row(out: &mut dyn Write, fields: &[String]) -> io::Result<()> {
    let fields: Vec<String> = fields
        .iter()
        .map(|field| field.replace('|', "\\|"))
        .collect();
    writeln!(out, "| {} |", fields.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Comparison;

    #[test]
    fn cells_are_rows_and_measures_are_columns() {
        let mut report = Report::new("p", "Title");
        let comparison = |cell: &str, measure: &str, ours: f64| Comparison {
            item: "grid".into(),
            cell: cell.into(),
            measure: measure.into(),
            printed: None,
            printed_half_width: None,
            ours,
            interval: Some([ours - 0.5, ours + 0.5]),
        };
        report.findings.comparisons = vec![
            comparison("a|b", "none", 1.0),
            comparison("a|b", "ratio", 2.0),
            comparison("c", "ratio", 4.0),
        ];
        let mut out = Vec::new();
        write(&mut out, &report, "command").unwrap();
        let text = String::from_utf8(out).unwrap();
        let table = "| cell | none | ratio |\n|---|---|---|\n| a\\|b | 1 ± 0.5 | 2 ± 0.5 |\n| c |  | 4 ± 0.5 |\n";
        assert!(text.ends_with(table), "{text}");
    }
}
