//! One row a flow.

use std::io::{self, Write};

use inorder_detect::FlowReport;

use super::Style;
use super::grid::{Column, Grid};
use crate::names::Name;
use inorder_report::number::{count, mean, percent, time_u64};

const fn column(group: &'static str, title: &'static str, rank: u8) -> Column {
    Column { group, title, rank }
}

const COLUMNS: [Column; 14] = [
    column("", "flow", 0),
    column("", "vantage", 4),
    column("", "packets", 0),
    column("reordered", "packets", 0),
    column("reordered", "%", 2),
    column("extent", "max", 0),
    column("extent", "mean", 5),
    column("late", "max", 0),
    column("", "lost", 0),
    column("retransmissions", "needed", 3),
    column("retransmissions", "spurious", 0),
    column("retransmissions", "unclear", 6),
    column("recoveries", "all", 3),
    column("recoveries", "spurious", 1),
];

/// Writes the table of flows.
pub fn write(out: &mut dyn Write, flows: &[&FlowReport], style: &Style) -> io::Result<()> {
    let mut grid = Grid::new(&COLUMNS);
    for flow in flows {
        grid.row(row(flow));
    }
    grid.write(out, 0, style.width, style.bold())
}

/// Cells of one flow. `~` marks counts that are rough, `-` what does not apply.
fn row(flow: &FlowReport) -> Vec<String> {
    let order = &flow.reordering;
    let rough = if flow.rough { "~" } else { "" };
    let late = order.reordered > 0;
    let if_late = |text: String| if late { text } else { "-".to_owned() };
    vec![
        flow_name(flow),
        flow.vantage.vantage.name().to_owned(),
        count(flow.data_packets),
        format!("{rough}{}", count(order.reordered)),
        percent(order.ratio()),
        if_late(count(order.extents.max().unwrap_or(0))),
        if_late(order.extents.mean().map_or_else(|| "-".to_owned(), mean)),
        if_late(time_u64(order.late_ns.max().unwrap_or(0))),
        format!("{rough}{}", count(flow.losses)),
        count(flow.retransmissions.needed),
        count(flow.retransmissions.spurious),
        count(flow.retransmissions.ambiguous),
        count(flow.recoveries.total),
        count(flow.recoveries.spurious),
    ]
}

/// The flow's ends, with what tells it from others of the same name.
pub fn flow_name(flow: &FlowReport) -> String {
    let mut name = flow.flow.to_string();
    if flow.flow.overlay != 0 {
        name.push_str(&format!(" in {}", flow.flow.overlay));
    }
    if flow.flow.reuse != 0 {
        name.push_str(&format!(" #{}", flow.flow.reuse + 1));
    }
    name
}
