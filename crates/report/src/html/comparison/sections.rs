//! The parts of the page, from top to bottom.

use std::io::{self, Write};

use super::{Comparison, Estimated, Measure};
use crate::escape::Text;
use crate::number::{plural, short};

/// The part below the title; for a single cell, its numbers in large print.
pub(super) fn head(out: &mut dyn Write, page: &Comparison<'_>) -> io::Result<()> {
    writeln!(out, "<p class=dim>{}</p>", Text(&page.about))?;
    if let Some(warning) = page.warning {
        writeln!(out, "<div class=\"card warning\">{}</div>", Text(warning))?;
    }
    if page.cells.len() == 1 {
        tiles(out, page)?;
    }
    Ok(())
}

fn tiles(out: &mut dyn Write, page: &Comparison<'_>) -> io::Result<()> {
    writeln!(out, "<div class=tiles>")?;
    for measure in &page.measures {
        let Some(Some(value)) = measure.cells.first() else {
            continue;
        };
        if value.mean != 0.0 {
            let (text, label) = (with_interval(value), measure.title());
            let about = Text(&measure.about);
            writeln!(
                out,
                "<div class=tile title=\"{about}\"><b>{text}</b><span>{}</span></div>",
                Text(&label)
            )?;
        }
    }
    writeln!(out, "</div>")
}

fn with_interval(value: &Estimated) -> String {
    match value.half.filter(|half| *half > 0.0) {
        Some(half) => format!("{} <small>± {}</small>", short(value.mean), short(half)),
        None => short(value.mean),
    }
}

/// One chart for each measure that varies, and a sentence about the others.
pub(super) fn comparison(out: &mut dyn Write, page: &Comparison<'_>) -> io::Result<()> {
    writeln!(
        out,
        "<h2>Comparison</h2>\n<p class=legend id=legend></p>\n<div class=small-multiples>"
    )?;
    for at in page.varying() {
        let Some(measure) = page.measures.get(at) else {
            continue;
        };
        let title = measure.title();
        writeln!(
            out,
            "<div class=\"card chart\" data-measure={at}><h3>{}</h3><p class=about>{}</p>\
             <div class=plot></div></div>",
            Text(&title),
            Text(&measure.about)
        )?;
    }
    writeln!(out, "</div>")?;
    remarks(out, page)
}

fn remarks(out: &mut dyn Write, page: &Comparison<'_>) -> io::Result<()> {
    if page.cells.iter().all(|cell| cell.runs == 1) {
        writeln!(
            out,
            "<p class=dim>Each cell is a single run, so it is unknown how much its numbers are due to chance.</p>"
        )?;
    }
    let vague = page.measures.iter().filter(|measure| is_vague(measure));
    let vague: Vec<&str> = vague.map(|measure| measure.heading.as_ref()).collect();
    if !vague.is_empty() {
        let names = vague.join(", ");
        writeln!(
            out,
            "<p class=dim>Dashed intervals are wider than their mean: the runs differ so much \
             that they do not tell it ({}). An arrow ends an interval that goes beyond the chart. \
             More repetitions help.</p>",
            Text(&names)
        )?;
    }
    let same = page.measures.iter().filter_map(|measure| {
        let value = measure.common_value()??;
        (value != 0.0).then(|| format!("{} {}", measure.title(), short(value)))
    });
    let same: Vec<String> = same.collect();
    if !same.is_empty() {
        let list = same.join("; ");
        writeln!(
            out,
            "<p class=dim>The same in every run: {}.</p>",
            Text(&list)
        )?;
    }
    Ok(())
}

/// True if the interval of some cell is wider than its mean, unless this is due to a few rare events.
fn is_vague(measure: &Measure) -> bool {
    let wide = |cell: &Estimated| cell.half.is_some_and(|half| half > cell.mean.abs());
    measure.cells.iter().flatten().any(wide)
}

/// The charts over time, in a section for each cell that can be unfolded.
pub(super) fn traces(out: &mut dyn Write, page: &Comparison<'_>) -> io::Result<()> {
    let traces = page.traces.cells.iter().enumerate();
    let mut traces = traces
        .filter_map(|(at, cell)| Some((at, cell.as_ref()?)))
        .peekable();
    if traces.peek().is_none() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Over time</h2>\n<p class=dim>The first run of each cell. <label><input type=checkbox \
         id=equal checked> the same scales in all cells</label></p>"
    )?;
    for (at, cell) in traces {
        section(out, page, at)?;
        if cell.left_out > 0 {
            let flows = plural(cell.left_out as u64, "more line");
            writeln!(out, "<p class=dim>{flows} not drawn.</p>")?;
        }
        writeln!(out, "</details>")?;
    }
    match page.cells.len().saturating_sub(page.traces.cells.len()) as u64 {
        0 => Ok(()),
        more => writeln!(
            out,
            "<p class=dim>{} without charts over time.</p>",
            plural(more, "more cell")
        ),
    }
}

fn section(out: &mut dyn Write, page: &Comparison<'_>, at: usize) -> io::Result<()> {
    let labels = page.cells.get(at).map(|cell| cell.labels.as_slice());
    let places = page.axes.iter().zip(labels.unwrap_or_default());
    let places: Vec<String> = places
        .map(|(axis, label)| format!("{axis} = {label}"))
        .collect();
    let name = match places.is_empty() {
        true => "The run".to_owned(),
        false => places.join(", "),
    };
    let open = if page.cells.len() == 1 { " open" } else { "" };
    writeln!(
        out,
        "<details class=\"card cell\" data-cell={at}{open}><summary>{}</summary><div class=charts>",
        Text(&name)
    )?;
    for (number, panel) in page.traces.panels.iter().enumerate() {
        let title = format!("{}, {}", panel.heading, panel.unit);
        writeln!(
            out,
            "<div class=chart data-panel={number}><h3>{}</h3><div class=plot></div></div>",
            Text(&title)
        )?;
    }
    writeln!(out, "</div>")
}
