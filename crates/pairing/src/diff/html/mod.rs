//! A page that needs no network: both directions, delays over time with what was late or lost, flows, packets.

use std::io::{self, Write};

use inorder_report::escape::Text;
use inorder_report::html::{Assets, Table, begin, end};
use serde_json::{Value, json};

use crate::diff::columns::{FLOW, PACKET};
use crate::diff::result::{Difference, Fate, PacketRow};

const ASSETS: Assets = Assets {
    style: "",
    script: include_str!("diff.js"),
    charts: include_str!("charts.json"),
};

/// Points of a chart: more of them cover each other.
const MAX_POINTS: usize = 4_000;
/// Rows of the table of flows.
const MAX_FLOWS: usize = 1_000;
/// Rows of the table of packets that are not in order.
const MAX_PACKETS: usize = 2_000;

/// Writes the page. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(out: &mut dyn Write, found: &Difference) -> io::Result<()> {
    begin(out, "Packets between two captures", &ASSETS)?;
    writeln!(
        out,
        "<p>A is {}, B is {}.</p>",
        Text(&found.a),
        Text(&found.b)
    )?;
    if let Some(headline) = found.headline() {
        writeln!(out, "<p><b>{}</b></p>", Text(&headline))?;
    }
    for warning in &found.warnings {
        writeln!(out, "<p>Note: {}.</p>", Text(warning))?;
    }
    boxed(out, "scroll", "Directions", |out| {
        Table::new(FLOW).write(out, &found.directions)
    })?;
    let mut charts = Vec::new();
    for direction in &found.directions {
        let points = points(found, direction.a_first, direction.least_ns);
        if !points.is_empty() {
            writeln!(
                out,
                "<h2>{}</h2>\n<div class=\"chart wide\"><div class=plot data-chart={}></div></div>\n<p>How much longer than \
                 the least time ({}) each packet took. Packets that are lost or appeared have no delay: they are drawn at \
                 the bottom.</p>",
                Text(&direction.name),
                charts.len(),
                inorder_report::number::time(direction.least_ns),
            )?;
            charts.push(points);
        }
    }
    if found.flows.len() > found.directions.len() {
        writeln!(out, "<h2>Flows</h2>")?;
        boxed(out, "flows", "Flows", |out| {
            let table = Table::new(FLOW).at_most(MAX_FLOWS);
            table.write(out, &found.flows)
        })?;
    }
    let told = |packet: &&PacketRow| packet.fate != Fate::InOrder;
    if found.packets.iter().any(|packet| told(&packet)) {
        writeln!(out, "<h2>Packets that are not in order</h2>")?;
        boxed(out, "flows", "Packets that are not in order", |out| {
            let table = Table::new(PACKET).at_most(MAX_PACKETS);
            table.write(out, found.packets.iter().filter(told))
        })?;
    }
    end(out, NOTE, !charts.is_empty(), &ASSETS, &charts)
}

/// A table in a box in which it scrolls where it is wider than the screen (`scroll`), or longer as well (`flows`).
fn boxed(
    out: &mut dyn Write,
    class: &str,
    label: &str,
    table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"card {class}\" tabindex=0 role=region aria-label=\"{label}\">"
    )?;
    table(out)?;
    writeln!(out, "</div>")
}

/// Begins the footer.
const NOTE: &str =
    "Extent and late time as in RFC 4737, in the order of the capture that packets pass first.";

/// What the chart of a direction shows: seconds after the first packet, milliseconds longer than the least, fate, frames.
/// Everything that is not in order is kept before anything that is.
fn points(found: &Difference, a_first: bool, least_ns: i64) -> Vec<Value> {
    let of: Vec<&PacketRow> = found
        .packets
        .iter()
        .filter(|p| p.a_first == a_first)
        .collect();
    let time = |p: &PacketRow| {
        if a_first {
            p.a_ns.or(p.b_ns)
        } else {
            p.b_ns.or(p.a_ns)
        }
    };
    let start_ns = of.iter().filter_map(|p| time(p)).min().unwrap_or(0);
    let point = |p: &&PacketRow| {
        let took = p.a_ns.zip(p.b_ns).map(|(a, b)| {
            if a_first {
                b.saturating_sub(a)
            } else {
                a.saturating_sub(b)
            }
        });
        let longer_ms = took.map_or(0.0, |ns| ns.saturating_sub(least_ns) as f64 / 1e6);
        let t = time(p).unwrap_or(start_ns).saturating_sub(start_ns) as f64 / 1e9;
        json!({"t": t, "ms": longer_ms, "fate": p.fate.name(), "a": p.frame_a, "b": p.frame_b})
    };
    let (plain, told): (Vec<&PacketRow>, Vec<&PacketRow>) =
        of.into_iter().partition(|p| p.fate == Fate::InOrder);
    let thinned = |packets: Vec<&PacketRow>, most: usize| -> Vec<Value> {
        let step = packets.len().div_ceil(most.max(1)).max(1);
        packets.iter().step_by(step).map(point).collect()
    };
    let mut points = thinned(told, MAX_POINTS / 2);
    let left = MAX_POINTS - points.len();
    points.extend(thinned(plain, left));
    points
}
