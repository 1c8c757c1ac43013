//! The cells the paper prints.

use inorder_netproc::Config;

use super::ExperimentError;
use crate::printed::{NETWORK_PROCESSOR, Printed, Row};
use crate::{Comparison, Estimate};

/// The rows of `table` that the Petri net of the paper printed, or all if it printed none there.
pub(super) fn printed(table: &str) -> Result<Vec<PrintedCell>, ExperimentError> {
    let all = Printed::parse(NETWORK_PROCESSOR)?;
    Ok(all
        .rows()
        .filter(|row| row.text("table") == Some(table))
        .filter_map(PrintedCell::new)
        .collect())
}

pub(super) struct PrintedCell {
    pub(super) config: &'static str,
    pub(super) bytes: u16,
    pub(super) hops: u32,
    pub(super) metric: &'static str,
    pub(super) tool: &'static str,
    pub(super) value: f64,
}

impl PrintedCell {
    fn new(row: Row<'_>) -> Option<Self> {
        Some(Self {
            config: row.text("config")?,
            bytes: row.number("packet_bytes")? as u16,
            hops: row.number("hops")? as u32,
            metric: row.text("metric")?,
            tool: row.text("tool")?,
            value: row.number("value")?,
        })
    }

    fn label(&self) -> String {
        let tool = if self.tool.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.tool)
        };
        format!(
            "{}, {} B, {} hops{tool}",
            self.config, self.bytes, self.hops
        )
    }
}

pub(super) fn compare(item: &str, cell: &PrintedCell, ours: Estimate) -> Comparison {
    let unit = if cell.metric == "throughput" {
        "Gb/s"
    } else {
        "%"
    };
    Comparison::new(
        item,
        &cell.label(),
        &format!("{}, {unit}", cell.metric),
        Some((cell.value, f64::NAN)),
        ours,
    )
}

/// Is the cell printed of this configuration?
pub(super) fn matches(cell: &PrintedCell, name: &str, config: &Config) -> bool {
    let bytes = config.traffic.lengths.first().map(|l| l.bytes);
    let shape = format!("{} ME x {} threads", config.engines, config.threads);
    bytes == Some(cell.bytes) && (name.starts_with(cell.config) || cell.config.starts_with(&shape))
}
