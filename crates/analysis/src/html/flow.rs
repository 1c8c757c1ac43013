//! The section of one flow: facts, charts, and the numbers of the charts as tables.

use std::io::{self, Write};

use inorder_detect::FlowReport;

use super::numbers;
use crate::table::facts;
use inorder_detect::columns::name;
use inorder_report::escape::Text;
use inorder_report::number::{percent, plural, time_u64};

/// Writes the section with the given charts, or with tables if charts are not `drawn`.
pub fn section(
    out: &mut dyn Write,
    flow: &FlowReport,
    id: &str,
    charts: &[&str],
    drawn: bool,
    open: bool,
) -> io::Result<()> {
    let open = if open { " open" } else { "" };
    writeln!(
        out,
        "<details class=\"card flow\" id=\"{id}\" data-flow=\"{id}\"{open}>\n\
         <summary><span class=mono>{}</span> <span class=dim>· {}</span></summary>",
        Text(&name(&flow.flow)),
        Text(&gist(flow)),
    )?;
    writeln!(out, "<dl>")?;
    for (label, text) in facts(flow) {
        writeln!(out, "<dt>{label}</dt><dd>{}</dd>", Text(&text))?;
    }
    writeln!(out, "</dl>\n<div class=charts>")?;
    for chart in charts {
        self::chart(out, flow, chart, drawn)?;
    }
    writeln!(out, "</div>\n</details>")
}

fn gist(flow: &FlowReport) -> String {
    let order = &flow.reordering;
    match order.reordered {
        0 => format!("{} lost", plural(flow.losses, "packet")),
        n => format!(
            "{} late ({} %), by up to {}",
            plural(n, "packet"),
            percent(order.reordered_ratio()),
            time_u64(order.late_ns.max().unwrap_or(0))
        ),
    }
}

fn chart(out: &mut dyn Write, flow: &FlowReport, chart: &str, drawn: bool) -> io::Result<()> {
    let (title, wide) = numbers::title(chart);
    let class = if wide && drawn { "chart wide" } else { "chart" };
    if !drawn {
        let title = title.split(" (drag").next().unwrap_or(title);
        writeln!(out, "<div class=\"{class}\"><h3>{title}</h3>")?;
        numbers::table(out, chart, flow)?;
        return writeln!(out, "</div>");
    }
    writeln!(
        out,
        "<div class=\"{class}\" data-chart=\"{chart}\"><h3>{title}</h3>\n\
         <div class=plot></div>\n<details><summary>Numbers</summary>"
    )?;
    numbers::table(out, chart, flow)?;
    writeln!(out, "</details></div>")
}
