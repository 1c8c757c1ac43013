//! Output for people: a verdict, a table of flows, and the details of the first flows.

mod detail;
mod extras;

use std::io::{self, Write};

pub(crate) use self::detail::facts;
pub(crate) use self::extras::{peer_columns, peer_rows, peer_text};
use crate::model::{Analysis, by_severity, has_problems};
use crate::verdict::verdict;
use inorder_detect::FlowReport;
use inorder_detect::columns::{FLOW, FLOW_ID};
use inorder_report::Sheet;
use inorder_report::escape::printable;
use inorder_report::number::{bytes, plural, time};
use inorder_report::text::{self, Layout, paragraph};

/// How the text is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Maximum length of a line, characters; `None` if the output is not a terminal.
    pub width: Option<usize>,
    /// Whether terminal attributes (bold, dim) may be used.
    pub colour: bool,
    /// Maximum number of flows shown per file.
    pub top: usize,
    /// Whether to print single events.
    pub events: bool,
}

impl Default for Style {
    /// No limit on the width, no attributes, 20 flows, no single events.
    fn default() -> Self {
        Style {
            width: None,
            colour: false,
            top: 20,
            events: false,
        }
    }
}

impl Style {
    fn layout(&self) -> Layout {
        Layout::default().width(self.width).bold(self.colour)
    }

    fn bold(&self) -> (&'static str, &'static str) {
        if self.colour {
            ("\x1b[1m", "\x1b[0m")
        } else {
            ("", "")
        }
    }
}

/// The columns of the table of flows.
pub(crate) fn flow_columns<'c>() -> Sheet<'c, FlowReport> {
    Sheet::new()
        .with(FLOW_ID, |flow: &FlowReport| &flow.flow)
        .with(FLOW, |flow| flow)
}

/// Writes the analyses as text.
pub fn write(out: &mut dyn Write, analyses: &[Analysis], style: &Style) -> io::Result<()> {
    for (i, analysis) in analyses.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_one(out, analysis, style)?;
    }
    Ok(())
}

fn write_one(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let (bold, plain) = style.bold();
    let file = printable(&analysis.file);
    writeln!(out, "{bold}{file}{plain}  {}", summary(analysis))?;
    writeln!(out)?;
    paragraph(out, &verdict(analysis), "", style.width)?;
    extras::warnings(out, analysis, style)?;
    let shown = by_severity(&analysis.flows);
    let shown = &shown[..shown.len().min(style.top)];
    if !shown.is_empty() {
        writeln!(out)?;
        let rows = shown.iter().copied();
        text::write(out, &flow_columns(), rows, &style.layout())?;
        left_out(out, analysis.flows.len() - shown.len())?;
    }
    for flow in shown.iter().filter(|flow| has_problems(flow)) {
        writeln!(out)?;
        detail::write(out, flow, style)?;
    }
    extras::streams(out, analysis, style)?;
    extras::peer(out, analysis, style)?;
    extras::skipped(out, analysis, style)
}

fn left_out(out: &mut dyn Write, n: usize) -> io::Result<()> {
    match n {
        0 => Ok(()),
        n => writeln!(
            out,
            "({} not shown; --top N shows more)",
            plural(n as u64, "flow")
        ),
    }
}

fn summary(analysis: &Analysis) -> String {
    let format = match analysis.format.as_str() {
        "" => String::new(),
        format => format!("{}, ", printable(format)),
    };
    format!(
        "({format}{}, {}, {})",
        plural(analysis.frames, "frame"),
        bytes(analysis.bytes),
        time(analysis.duration_ns()),
    )
}
