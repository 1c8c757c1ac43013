//! The section of one flow or stream: what happened, facts, charts with their captions.

use std::io::{self, Write};

use crate::flows::{WHAT_IF, name, stream_name};
use inorder_detect::WhatIf;
use inorder_report::escape::Text;
use inorder_report::html::Table;

use super::caption;
use super::data::{Burst, Chart, Charts};
use super::numbers;
use crate::gravity::Subject;
use crate::headline::summary;
use crate::table::{facts, stream_facts};
use crate::what_if::WhatIfSays;

/// How a section is written.
pub(super) struct Section<'a> {
    /// Identifier of the element.
    pub id: &'a str,
    /// Level of its heading.
    pub level: usize,
    /// Whether it is open at first.
    pub open: bool,
    /// Whether charts are drawn; otherwise their numbers are shown as tables.
    pub drawn: bool,
}

impl Section<'_> {
    /// Writes the section of a flow or stream.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        subject: &Subject<'_>,
        charts: &Charts,
        burst: Option<&Burst>,
    ) -> io::Result<()> {
        self.begin(out, subject)?;
        let facts = match subject {
            Subject::Flow(flow) => facts(flow),
            Subject::Stream(stream) => stream_facts(stream),
        };
        writeln!(out, "<dl>")?;
        for (label, text) in facts {
            writeln!(out, "<dt>{label}</dt><dd>{}</dd>", Text(&text))?;
        }
        writeln!(out, "</dl>\n<div class=charts>")?;
        let mut moving = self.drawn;
        for chart in charts.present() {
            // The script fills in the buttons that move all charts over time.
            if std::mem::take(&mut moving) && chart.is_over_time() {
                writeln!(out, "<p class=\"zoom wide\" hidden></p>")?;
            }
            let says = match subject {
                Subject::Flow(flow) => caption::of_flow(chart, flow, charts, burst),
                Subject::Stream(stream) => caption::of_order(chart, &stream.order),
            };
            self.chart(out, subject, chart, &says)?;
        }
        writeln!(out, "</div>")?;
        match subject {
            Subject::Flow(flow) if matches!(WhatIfSays::of(flow), WhatIfSays::Best(_)) => {
                what_if(out, &flow.what_if)?;
            }
            Subject::Stream(stream) if !stream.what_if.is_empty() => {
                what_if(out, &stream.what_if)?;
            }
            _ => {}
        }
        writeln!(out, "</details>")
    }

    fn begin(&self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<()> {
        let (id, level) = (self.id, self.level);
        let open = if self.open { " open" } else { "" };
        writeln!(
            out,
            "<details class=\"card flow\" id=\"{id}\" data-flow=\"{id}\"{open}>\n\
             <summary><h{level} class=mono>{}</h{level}> <span class=dim>{}</span></summary>",
            Text(&subject_name(subject)),
            Text(&summary(subject)),
        )
    }

    fn chart(
        &self,
        out: &mut dyn Write,
        subject: &Subject<'_>,
        chart: Chart,
        says: &str,
    ) -> io::Result<()> {
        let wide = if chart.is_over_time() && self.drawn {
            " wide"
        } else {
            ""
        };
        let (name, title, level) = (chart.name(), caption::title(chart), self.level + 1);
        let data = if self.drawn {
            format!(" data-chart={name}")
        } else {
            String::new()
        };
        let says = Text(says);
        writeln!(
            out,
            "<div class=\"chart{wide}\"{data}><h{level}>{title}</h{level}>\n<p class=says>{says}</p>"
        )?;
        if self.drawn {
            writeln!(out, "<ul class=key hidden></ul><div class=plot></div>")?;
            // The script fills in the numbers from the chart's data when they are asked for.
            writeln!(
                out,
                "<details class=numbers><summary>Numbers</summary></details></div>"
            )
        } else {
            numbers::table(out, chart, subject)?;
            writeln!(out, "</div>")
        }
    }
}

fn subject_name(subject: &Subject<'_>) -> String {
    match subject {
        Subject::Flow(flow) => name(&flow.flow),
        Subject::Stream(stream) => stream_name(stream),
    }
}

/// All settings of the what-if, folded: of a flow, the best is among the facts.
fn what_if(out: &mut dyn Write, rows: &[WhatIf]) -> io::Result<()> {
    writeln!(
        out,
        "<details class=folded><summary>Settings of a sorting receiver</summary>\
         <div class=scroll tabindex=0 role=region aria-label=\"Settings of a sorting receiver\">"
    )?;
    Table::new(WHAT_IF).plain().write(out, rows)?;
    writeln!(out, "</div></details>")
}
