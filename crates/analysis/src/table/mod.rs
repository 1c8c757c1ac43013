//! Output for people: a verdict, a table of flows, and the details of the first flows.

mod cost;
mod detail;
mod extras;

use std::io::{self, Write};

pub(crate) use self::cost::{cost_sentences, expected};
pub(crate) use self::detail::{facts, stream_facts};
pub(crate) use self::extras::{peer_columns, peer_rows, peer_text};
use crate::captures::{LINE, Line, by_severity};
use crate::flows::{FLOW, FLOW_ID};
use crate::gravity::{Subject, flows_by_gravity, troubled};
use crate::headline::headline;
use crate::model::Analysis;
use inorder_detect::FlowReport;
use inorder_report::Sheet;
use inorder_report::escape::printable;
use inorder_report::number::{bytes, count, plural, time};
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

/// Greatest rank of the columns in tables of flows. The rest is in the details of a flow, in CSV and JSON.
pub(crate) const MAX_RANK: u8 = 4;

/// The columns of the table of flows.
pub(crate) fn flow_columns<'c>() -> Sheet<'c, FlowReport> {
    Sheet::new()
        .with(FLOW_ID, |flow: &FlowReport| &flow.flow)
        .with(FLOW, |flow| flow)
}

/// Writes the analyses as text. Several begin with a line for each, and many end with the most severe.
pub fn write(out: &mut dyn Write, analyses: &[Analysis], style: &Style) -> io::Result<()> {
    let lines: Vec<Line> = match analyses {
        [_] => Vec::new(),
        several => several.iter().map(Line::of).collect(),
    };
    if !lines.is_empty() {
        let layout = style.layout().left(3);
        text::write(out, LINE, &lines, &layout)?;
        writeln!(out)?;
    }
    for (i, analysis) in analyses.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_one(out, analysis, style)?;
    }
    most_severe(out, &lines, style)
}

/// The captures with the worst trouble, each with its first sentence: whoever reads a terminal sees the end.
fn most_severe(out: &mut dyn Write, lines: &[Line], style: &Style) -> io::Result<()> {
    /// Fewer captures are seen at a glance in the lines that begin.
    const MIN_CAPTURES: usize = 4;
    const WORST: usize = 10;
    let worst = by_severity(lines).into_iter();
    let worst: Vec<&Line> = worst
        .filter(|line| line.is_troubled())
        .take(WORST)
        .collect();
    if lines.len() < MIN_CAPTURES || worst.is_empty() {
        return Ok(());
    }
    let (bold, plain) = style.bold();
    let title = match worst.len() {
        WORST => format!(
            "The {WORST} most severe of {} captures",
            count(lines.len() as u64)
        ),
        some => format!(
            "With trouble, {some} of {} captures",
            count(lines.len() as u64)
        ),
    };
    writeln!(out, "\n{bold}{title}{plain}")?;
    for (number, line) in (1..).zip(worst) {
        let trouble = match line.trouble() {
            "" => String::new(),
            some => format!(" ({some})"),
        };
        let said = format!(
            "{number:>2}. {}{trouble}: {}",
            printable(&line.file),
            line.lead()
        );
        paragraph(out, &said, "    ", style.width)?;
    }
    Ok(())
}

fn write_one(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let (bold, plain) = style.bold();
    let file = printable(&analysis.file);
    let summary = summary(analysis);
    let length = file.chars().count() + 2 + summary.chars().count();
    let gap = match style.width {
        Some(width) if length > width => "\n",
        _ => "  ",
    };
    writeln!(out, "{bold}{file}{plain}{gap}{summary}")?;
    writeln!(out)?;
    let said = headline(analysis);
    paragraph(out, &said.to_string(), "", style.width)?;
    extras::warnings(out, analysis, style)?;
    cost::write(out, &said, analysis, style)?;
    let streams_first = matches!(troubled(analysis).first(), Some(Subject::Stream(_)));
    if streams_first {
        extras::streams(out, analysis, style)?;
    }
    flows(out, analysis, style)?;
    if !streams_first {
        extras::streams(out, analysis, style)?;
    }
    extras::attempts(out, analysis, style)?;
    extras::peer(out, analysis, style)?;
    extras::skipped(out, analysis, style)
}

/// Maximum number of flows whose details are printed.
const DETAILED: usize = 5;

/// The table of flows, then the details of the most severe.
fn flows(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let all = flows_by_gravity(&analysis.flows);
    let shown = &all[..all.len().min(style.top)];
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let rows = shown.iter().copied();
    text::write(out, &flow_columns(), rows, &style.layout().up_to(MAX_RANK))?;
    left_out(out, all.len() - shown.len())?;
    let grave = || shown.iter().filter(|flow| flow.has_problems());
    for flow in grave().take(DETAILED) {
        writeln!(out)?;
        detail::write(out, flow, style)?;
    }
    match grave().count().saturating_sub(DETAILED) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "\n(details of {} not shown; --flow TEXT selects flows, --html shows all)",
            plural(n, "more flow")
        ),
    }
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

/// The number of frames, and of how many if some were left out.
pub(crate) fn frames(analysis: &Analysis) -> String {
    match analysis.left_out {
        0 => plural(analysis.frames, "frame"),
        left_out => format!(
            "{} of {}",
            count(analysis.frames),
            plural(analysis.frames + left_out, "frame")
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
        frames(analysis),
        bytes(analysis.bytes),
        time(analysis.duration_ns()),
    )
}
