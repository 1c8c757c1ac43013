//! The top of the page: what the file is, the main numbers, the table of all flows.

use std::io::{self, Write};

use inorder_detect::FlowReport;

use super::flow_id;
use crate::model::{Analysis, has_problems};
use crate::names::Name;
use crate::table::flow_name;
use crate::verdict::Totals;
use inorder_report::escape::Text;
use inorder_report::number::{bytes, count, mean, percent, plural, time, time_u64};

/// Rows of the table at most: beyond this a browser becomes slow.
const ROWS: usize = 5_000;

/// The line below the title; from the second file on, with a heading.
pub fn meta(out: &mut dyn Write, analysis: &Analysis, number: usize) -> io::Result<()> {
    if number > 0 {
        write!(out, "<hr>")?;
    }
    writeln!(
        out,
        "<p class=dim><span class=mono>{}</span> · {} · {} · {} · {}</p>",
        Text(&analysis.file),
        Text(&analysis.format),
        plural(analysis.frames, "frame"),
        bytes(analysis.bytes),
        time(analysis.duration_ns()),
    )
}

/// The main numbers, large.
pub fn tiles(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    let t = Totals::of(&analysis.flows);
    if t.flows == 0 {
        return Ok(());
    }
    let share = t.reordered as f64 / t.arrived.max(1) as f64;
    let mood = |bad: u64| if bad > 0 { "bad" } else { "good" };
    writeln!(out, "<div class=tiles>")?;
    for (class, value, label) in [
        (
            "",
            count(t.flows),
            format!(
                "{}, {} with late packets",
                if t.flows == 1 { "flow" } else { "flows" },
                count(t.reordered_flows)
            ),
        ),
        (
            mood(t.reordered),
            format!("{} %", percent(share)),
            format!("{} late", plural(t.reordered, "packet")),
        ),
        (
            "",
            time_u64(t.max_late_ns),
            format!("latest by time; extent {}", count(t.max_extent)),
        ),
        (
            mood(t.spurious),
            count(t.spurious),
            format!(
                "needless of {}",
                plural(t.retransmissions, "retransmission")
            ),
        ),
        (
            mood(t.spurious_recoveries),
            count(t.spurious_recoveries),
            format!("of {} for nothing", plural(t.recoveries, "slow-down")),
        ),
        ("", count(t.losses), "packets really lost".to_owned()),
    ] {
        writeln!(
            out,
            "<div class=\"tile {class}\"><b>{value}</b><span>{label}</span></div>"
        )?;
    }
    writeln!(out, "</div>")
}

const TITLES: [&str; 14] = [
    "flow",
    "vantage",
    "packets",
    "late",
    "late, %",
    "max extent",
    "mean extent",
    "max late",
    "lost",
    "needed",
    "needless",
    "unclear",
    "recoveries",
    "for nothing",
];

/// The table of all flows; the first `sections` of `flows` have a section to link to.
pub fn table(
    out: &mut dyn Write,
    flows: &[&FlowReport],
    file: usize,
    sections: usize,
) -> io::Result<()> {
    if flows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Flows</h2>\n<div class=\"card flows\"><table><thead><tr>"
    )?;
    for title in TITLES {
        write!(out, "<th><button type=button>{title}</button></th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (i, flow) in flows.iter().take(ROWS).enumerate() {
        let id = (i < sections).then(|| flow_id(file, i));
        row(out, flow, id.as_deref())?;
    }
    writeln!(out, "</tbody></table></div>")?;
    match flows.len().saturating_sub(ROWS) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "<p class=dim>{} more are in the JSON and CSV output.</p>",
            plural(n, "flow")
        ),
    }
}

fn row(out: &mut dyn Write, flow: &FlowReport, section: Option<&str>) -> io::Result<()> {
    let order = &flow.reordering;
    let quiet = if has_problems(flow) {
        ""
    } else {
        " class=quiet"
    };
    let name = flow_name(flow);
    let name = Text(&name);
    write!(out, "<tr{quiet}><td class=mono>")?;
    match section {
        Some(id) => write!(out, "<a href=\"#{id}\">{name}</a></td>")?,
        None => write!(out, "{name}</td>")?,
    }
    let extent = order.extents.mean().unwrap_or(0.0);
    let if_late = |text: String| {
        if order.reordered > 0 {
            text
        } else {
            "-".to_owned()
        }
    };
    write!(out, "<td>{}</td>", flow.vantage.vantage.name())?;
    for (value, shown) in [
        (flow.data_packets as f64, count(flow.data_packets)),
        (order.reordered as f64, rough(flow, order.reordered)),
        (order.ratio(), percent(order.ratio())),
        (
            order.extents.max().unwrap_or(0) as f64,
            if_late(count(order.extents.max().unwrap_or(0))),
        ),
        (extent, if_late(mean(extent))),
        (
            order.late_ns.max().unwrap_or(0) as f64,
            if_late(time_u64(order.late_ns.max().unwrap_or(0))),
        ),
        (flow.losses as f64, rough(flow, flow.losses)),
        (
            flow.retransmissions.needed as f64,
            count(flow.retransmissions.needed),
        ),
        (
            flow.retransmissions.spurious as f64,
            count(flow.retransmissions.spurious),
        ),
        (
            flow.retransmissions.ambiguous as f64,
            count(flow.retransmissions.ambiguous),
        ),
        (flow.recoveries.total as f64, count(flow.recoveries.total)),
        (
            flow.recoveries.spurious as f64,
            count(flow.recoveries.spurious),
        ),
    ] {
        write!(out, "<td data-v=\"{value}\">{shown}</td>")?;
    }
    writeln!(out, "</tr>")
}

fn rough(flow: &FlowReport, n: u64) -> String {
    format!("{}{}", if flow.rough { "~" } else { "" }, count(n))
}
