//! The top of a capture's part of the page: what the file is, the headline, what to do, the main numbers, the tables of
//! all flows and streams.

use std::io::{self, Write};

use crate::flows::{FLOW, FLOW_ID, STREAM};
use inorder_detect::{FlowReport, StreamReport};
use inorder_report::Sheet;
use inorder_report::html::Table;

use crate::Totals;
use crate::headline::Headline;
use crate::model::Analysis;
use crate::table::MAX_RANK;
use inorder_report::escape::Text;
use inorder_report::number::{bytes, count, plural, share, time, time_u64};

/// Maximum number of rows of a table: browsers become slow beyond this.
const ROWS: usize = 2_000;

/// The lines below the title.
pub(super) fn meta(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    writeln!(
        out,
        "<p class=dim><span class=mono>{}</span> · {} · {} · {} · {}</p>",
        Text(&analysis.file),
        Text(&analysis.format),
        crate::table::frames(analysis),
        bytes(analysis.bytes),
        time(analysis.duration_ns()),
    )
}

/// The headline.
pub(super) fn head(out: &mut dyn Write, said: &Headline) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"card verdict\"><p class=lead>{}</p>",
        Text(&said.lead)
    )?;
    if let Some(rest) = &said.rest {
        writeln!(out, "<p>{}</p>", Text(rest))?;
    }
    for more in [&said.doubts, &said.unread].into_iter().flatten() {
        writeln!(out, "<p class=dim>{}</p>", Text(more))?;
    }
    writeln!(out, "</div>")
}

/// A number in large print: whether it is bad, good or neither, the number, what it is.
type Tile = (&'static str, String, String);

/// The main numbers in large print. Where streams of other services have late or missing packets, these come first.
pub(super) fn tiles(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    let t = analysis.totals();
    let mut tiles = of_streams(&t);
    tiles.extend(of_flows(&t));
    if tiles.is_empty() {
        return Ok(());
    }
    writeln!(out, "<div class=tiles>")?;
    for (class, value, label) in tiles {
        writeln!(
            out,
            "<div class=\"tile {class}\"><b>{value}</b><span>{label}</span></div>"
        )?;
    }
    writeln!(out, "</div>")
}

fn mood(bad: u64) -> &'static str {
    if bad > 0 { "bad" } else { "good" }
}

fn of_streams(t: &Totals) -> Vec<Tile> {
    let s = &t.streams;
    if s.reordered + s.missing == 0 {
        return Vec::new();
    }
    vec![
        (
            mood(s.reordered),
            share(s.reordered, s.received),
            format!(
                "of {} of numbered streams that arrived late, by up to {}",
                plural(s.received, "packet"),
                time_u64(s.max_late_ns)
            ),
        ),
        (
            mood(s.missing),
            count(s.missing),
            "packets of numbered streams missing".to_owned(),
        ),
    ]
}

fn of_flows(t: &Totals) -> Vec<Tile> {
    if t.flows == 0 {
        return Vec::new();
    }
    let mut tiles = vec![
        (
            mood(t.originals.lost),
            share(t.originals.lost, t.originals.packets),
            format!("of {} lost", plural(t.originals.packets, "TCP packet")),
        ),
        (
            mood(t.order.late),
            share(t.order.late, t.order.came),
            match t.order.late {
                0 => "of the TCP packets that arrived late".to_owned(),
                _ => format!(
                    "of the {} that arrived late, by up to {}",
                    plural(t.order.came, "TCP packet"),
                    time_u64(t.order.max_late_ns)
                ),
            },
        ),
    ];
    if t.retransmissions.total > 0 {
        tiles.push((
            mood(t.retransmissions.spurious),
            count(t.retransmissions.spurious),
            format!(
                "of {} spurious",
                plural(t.retransmissions.total, "retransmission")
            ),
        ));
    }
    if t.recoveries.total > 0 {
        tiles.push((
            mood(t.recoveries.spurious),
            count(t.recoveries.spurious),
            format!(
                "of {} unnecessary",
                plural(t.recoveries.total, "window reduction")
            ),
        ));
    }
    if t.recoveries.expiries > 0 {
        tiles.push((
            "bad",
            count(t.recoveries.expiries),
            "retransmission time-outs".to_owned(),
        ));
    }
    tiles
}

/// A row of a table with the address of its section, if it has one.
pub(super) struct Listed<'a, T> {
    /// What the row shows.
    pub of: &'a T,
    /// Its section.
    pub section: Option<String>,
}

/// The table of all flows.
pub(super) fn flows(
    out: &mut dyn Write,
    level: usize,
    flows: &[Listed<'_, FlowReport>],
) -> io::Result<()> {
    let columns = Sheet::new()
        .with(FLOW_ID, |row: &Listed<'_, FlowReport>| &row.of.flow)
        .with(FLOW, |row| row.of);
    let table = Table::new(&columns)
        .up_to(MAX_RANK)
        .at_most(ROWS)
        .class(|row| if row.of.has_problems() { "" } else { "quiet" })
        .link(|row| row.section.clone());
    framed(out, level, "TCP flows", flows.len(), |out| {
        table.write(out, flows)
    })
}

/// The table of all streams.
pub(super) fn streams(
    out: &mut dyn Write,
    level: usize,
    streams: &[Listed<'_, StreamReport>],
) -> io::Result<()> {
    let columns = Sheet::new().with(STREAM, |row: &Listed<'_, StreamReport>| row.of);
    let table = Table::new(&columns)
        .up_to(MAX_RANK)
        .at_most(ROWS)
        .link(|row| row.section.clone());
    framed(out, level, "Other numbered streams", streams.len(), |out| {
        table.write(out, streams)
    })
}

/// A table under its heading, in a box of its own that can be scrolled.
fn framed(
    out: &mut dyn Write,
    level: usize,
    heading: &str,
    rows: usize,
    table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "<h{level}>{heading}</h{level}>\n\
         <div class=\"card flows names\" tabindex=0 role=region aria-label=\"{heading}\">"
    )?;
    table(out)?;
    writeln!(out, "</div>")?;
    match rows.saturating_sub(ROWS) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "<p class=dim>{} in the JSON and CSV output.</p>",
            plural(n, "more row")
        ),
    }
}
