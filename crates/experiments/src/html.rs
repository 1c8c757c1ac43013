//! A reproduction as a page that needs no network: what came of the claims, each claim, and the figures and numbers of each item.

use std::io::{self, Write};

use inorder_report::escape::Text;
use inorder_report::html::{Assets, begin, end};
use inorder_report::number::short;
use serde_json::{Value, json};

use crate::claim::Claim;
use crate::figure::{Figure, figures};
use crate::report::Report;
use crate::table::{Grid, in_words};
use crate::verdict::Verdict;

const ASSETS: Assets = Assets {
    style: include_str!("html/reproduction.css"),
    script: include_str!("html/reproduction.js"),
    charts: "{}",
};

/// Begins the footer.
const NOTE: &str = "Filled: ours, with its 95 % interval; hollow: printed in the paper.";

/// Writes the page; `command` is what it was made by. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(out: &mut dyn Write, report: &Report, command: &str) -> io::Result<()> {
    begin(out, &report.title, &ASSETS)?;
    writeln!(
        out,
        "<p class=dim>Written by <code>{}</code>.</p>",
        Text(command)
    )?;
    writeln!(out, "<div class=\"card verdict\">")?;
    for line in report.tally() {
        writeln!(out, "<p>{}</p>", Text(&line))?;
    }
    writeln!(out, "</div>")?;
    claims(out, &report.findings.claims)?;
    let figures = figures(&report.findings);
    for grid in Grid::all(&report.findings.comparisons) {
        item(out, report, &grid, &figures)?;
    }
    if !report.findings.remarks.is_empty() {
        writeln!(out, "<h2>Remarks</h2>\n<ul>")?;
        for remark in &report.findings.remarks {
            writeln!(out, "<li>{}</li>", Text(remark))?;
        }
        writeln!(out, "</ul>")?;
    }
    end(out, NOTE, !figures.is_empty(), &ASSETS, &charts(&figures))
}

/// Item, measure and Vega-Lite specification of each figure: what the script of the page draws.
pub fn charts(figures: &[Figure]) -> Value {
    let chart = |f: &Figure| json!({"item": f.item, "measure": f.measure, "spec": f.spec()});
    figures.iter().map(chart).collect()
}

fn claims(out: &mut dyn Write, claims: &[Claim]) -> io::Result<()> {
    if claims.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Claims</h2>\n<div class=\"card scroll\" tabindex=0 role=region aria-label=Claims>\n<table class=claims><thead><tr>"
    )?;
    for heading in ["verdict", "claim", "printed", "ours", "95 % interval"] {
        write!(
            out,
            "<th scope=col><button type=button>{heading}</button></th>"
        )?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for claim in claims {
        row(out, claim)?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn row(out: &mut dyn Write, claim: &Claim) -> io::Result<()> {
    let class = match claim.verdict {
        Verdict::Held => "held",
        Verdict::Failed => "failed",
        Verdict::Undecided => "undecided",
    };
    write!(
        out,
        "<tr class={class}><td>{}</td><td>{} <span class=dim>{}, {}</span>",
        Text(&claim.verdict_in_words()),
        Text(&claim.text),
        Text(&claim.id),
        Text(&claim.source)
    )?;
    let more = [
        ("Decides", &claim.detail),
        ("Criterion", &claim.criterion),
        ("Why", &claim.why),
    ];
    for (name, text) in more {
        if let Some(text) = text {
            write!(out, "<p class=dim><b>{name}:</b> {}</p>", Text(text))?;
        }
    }
    let interval = claim.interval.filter(|[low, high]| low < high);
    let interval = interval.map(|[low, high]| format!("{} to {}", short(low), short(high)));
    write!(
        out,
        "</td>{}{}",
        number(claim.printed),
        number(Some(claim.ours))
    )?;
    writeln!(out, "<td>{}</td></tr>", interval.unwrap_or_default())
}

/// A cell that sorts by its number; an absent one comes first.
fn number(value: Option<f64>) -> String {
    match value {
        Some(value) => format!("<td data-v=\"{value}\">{}</td>", short(value)),
        None => "<td data-v=\"-1\"></td>".to_owned(),
    }
}

fn item(
    out: &mut dyn Write,
    report: &Report,
    grid: &Grid<'_>,
    figures: &[Figure],
) -> io::Result<()> {
    let paper = crate::find(&report.paper);
    let item = paper.and_then(|paper| paper.items.iter().find(|item| item.name == grid.item));
    let about = item.map(|item| format!(": {}", item.about));
    writeln!(
        out,
        "<h2>{}{}</h2>\n<div class=card>",
        Text(grid.item),
        Text(&about.unwrap_or_default())
    )?;
    let magnitudes = report.findings.magnitudes.iter();
    for all in magnitudes.filter(|all| all.item == grid.item) {
        writeln!(out, "<p>Magnitudes: {}.</p>", Text(&all.in_words()))?;
    }
    writeln!(out, "<div class=charts>")?;
    let of_item = figures.iter().enumerate();
    for (at, figure) in of_item.filter(|(_, figure)| figure.item == grid.item) {
        for panel in 0..figure.panels.len() {
            writeln!(
                out,
                "<div class=\"chart wide\"><h3>{}</h3><div class=plot data-figure={at} data-panel={panel}></div></div>",
                Text(&figure.measure)
            )?;
        }
    }
    writeln!(out, "</div>")?;
    numbers(out, grid)?;
    writeln!(out, "</div>")
}

/// The numbers behind the charts.
fn numbers(out: &mut dyn Write, grid: &Grid<'_>) -> io::Result<()> {
    writeln!(
        out,
        "<details><summary>Numbers</summary><div class=scroll tabindex=0 role=region aria-label=\"Numbers of {}\">\n<table><thead><tr><th scope=col>cell</th>",
        Text(grid.item)
    )?;
    for measure in &grid.measures {
        write!(out, "<th scope=col>{}</th>", Text(measure))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (cell, values) in &grid.rows {
        write!(out, "<tr><td>{}</td>", Text(cell))?;
        for value in values {
            let value = value.map_or_else(String::new, in_words);
            write!(out, "<td>{}</td>", Text(&value))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div></details>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Basis, Comparison};

    #[test]
    fn a_page_has_the_claims_the_figures_and_their_numbers_escaped() {
        let mut report = Report::new("srpic", "Sorting <packets>");
        report.findings.claims = vec![Claim {
            id: "table-4/acks".into(),
            text: "fewer ACKs & more".into(),
            source: "table 4".into(),
            printed: Some(0.5),
            ours: 0.4,
            interval: Some([0.25, 0.625]),
            verdict: Verdict::Undecided,
            basis: Basis::Fitted,
            by_ratio_only: false,
            criterion: None,
            why: Some("not found".into()),
            detail: None,
        }];
        report.findings.comparisons = vec![Comparison {
            item: "table-4".into(),
            cell: "one stream".into(),
            measure: "ACKs".into(),
            printed: Some(100.0),
            printed_half_width: None,
            ours: 90.0,
            interval: None,
        }];
        let mut out = Vec::new();
        write(&mut out, &report, "inorder reproduce srpic table-4").unwrap();
        let page = String::from_utf8(out).unwrap();
        for part in [
            "<h1>Sorting &lt;packets&gt;</h1>",
            "<p>srpic: of 1 claims 0 held, 0 failed, 1 are undecided</p>",
            "<tr class=undecided><td>undecided (fitted)</td><td>fewer ACKs &amp; more",
            "<p class=dim><b>Why:</b> not found</p>",
            "<td data-v=\"0.5\">0.5</td><td data-v=\"0.4\">0.4</td><td>0.25 to 0.625</td>",
            "<h2>table-4: ",
            "data-figure=0 data-panel=0",
            "<tr><td>one stream</td><td>90 (printed 100)</td></tr>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
