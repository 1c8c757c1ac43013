//! CSV for spreadsheets (RFC 4180, lines end in a plain line feed): one row a flow, or one row
//! an event. Columns are named as in JSON.

use std::fmt::Display;
use std::io::{self, Write};

use inorder_detect::{Event, FlowReport};

use crate::model::Analysis;
use crate::names::Name;
use inorder_report::number::millis;

const FLOW_COLUMNS: &str = "file,flow,overlay,reuse,vantage,vantage_basis,first_ns,last_ns,\
    syn_seen,sack,timestamps,mss,min_rtt_ms,data_packets,data_bytes,arrived,reordered,ratio,\
    max_extent,mean_extent,max_late_ms,mean_displacement,entropy,ambiguous,losses,undecided,rough,\
    retransmissions,needed,spurious,retransmissions_ambiguous,recoveries,recoveries_spurious,\
    recoveries_ambiguous,dupthresh,window_ms,acks,acks_reordered,acks_missing,duplicated_frames,\
    swapped_frames,missing_segments,time_reversals";

const EVENT_COLUMNS: &str = "file,flow,overlay,reuse,kind,confidence,evidence,reason,half,at_ns,\
    frame,proof_frame,seq_offset,len,extent,linux_metric,extent_bytes,late_ms";

/// Writes one row a flow. `out` should be buffered.
///
/// ```
/// let mut out = Vec::new();
/// inorder_analysis::csv::write_flows(&mut out, &[])?;
/// assert!(out.starts_with(b"file,flow,"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_flows(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    writeln!(out, "{FLOW_COLUMNS}")?;
    for analysis in analyses {
        for flow in &analysis.flows {
            flow_row(&mut out, &analysis.file, flow)?;
        }
    }
    Ok(())
}

/// Writes one row an event. `out` should be buffered.
pub fn write_events(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    writeln!(out, "{EVENT_COLUMNS}")?;
    for analysis in analyses {
        for flow in &analysis.flows {
            for event in &flow.events {
                event_row(&mut out, &analysis.file, flow, event)?;
            }
        }
    }
    Ok(())
}

fn flow_row(out: &mut impl Write, file: &str, flow: &FlowReport) -> io::Result<()> {
    let mut row = Row::new(out);
    who(&mut row, file, flow)?;
    row.value(flow.vantage.vantage.name())?;
    row.value(flow.vantage.basis.name())?;
    row.value(flow.first_ns)?;
    row.value(flow.last_ns)?;
    row.value(flow.syn_seen)?;
    row.value(flow.sack)?;
    row.value(flow.timestamps)?;
    row.value(flow.mss)?;
    row.optional(flow.min_rtt_ns.map(millis))?;
    row.value(flow.data_packets)?;
    row.value(flow.data_bytes)?;
    order_cells(&mut row, flow)?;
    repair_cells(&mut row, flow)?;
    capture_cells(&mut row, flow)?;
    row.end()
}

fn who(row: &mut Row<impl Write>, file: &str, flow: &FlowReport) -> io::Result<()> {
    row.text(file)?;
    row.value(flow.flow)?;
    row.value(flow.flow.overlay)?;
    row.value(flow.flow.reuse)
}

fn order_cells(row: &mut Row<impl Write>, flow: &FlowReport) -> io::Result<()> {
    let order = &flow.reordering;
    row.value(order.arrived)?;
    row.value(order.reordered)?;
    row.value(order.ratio())?;
    row.value(order.extents.max().unwrap_or(0))?;
    row.value(order.extents.mean().unwrap_or(0.0))?;
    row.value(order.late_ns.max().unwrap_or(0) as f64 / 1e6)?;
    row.value(order.mean_displacement)?;
    row.value(order.entropy)?;
    row.value(order.ambiguous)?;
    row.value(flow.losses)?;
    row.value(flow.undecided)?;
    row.value(flow.rough)
}

fn repair_cells(row: &mut Row<impl Write>, flow: &FlowReport) -> io::Result<()> {
    row.value(flow.retransmissions.total)?;
    row.value(flow.retransmissions.needed)?;
    row.value(flow.retransmissions.spurious)?;
    row.value(flow.retransmissions.ambiguous)?;
    row.value(flow.recoveries.total)?;
    row.value(flow.recoveries.spurious)?;
    row.value(flow.recoveries.ambiguous)?;
    row.optional(flow.avoidance.dupthresh)?;
    row.optional(flow.avoidance.window_ns.map(millis))
}

fn capture_cells(row: &mut Row<impl Write>, flow: &FlowReport) -> io::Result<()> {
    row.value(flow.ack_path.acks)?;
    row.value(flow.ack_path.reordered)?;
    row.value(flow.ack_path.missing)?;
    row.value(flow.artefacts.duplicated_frames)?;
    row.value(flow.artefacts.swapped_frames)?;
    row.value(flow.artefacts.missing_segments)?;
    row.value(flow.artefacts.time_reversals)
}

fn event_row(out: &mut impl Write, file: &str, flow: &FlowReport, event: &Event) -> io::Result<()> {
    let mut row = Row::new(out);
    who(&mut row, file, flow)?;
    row.value(event.kind.name())?;
    row.value(event.confidence.name())?;
    row.value(event.evidence.name())?;
    row.optional(event.reason.map(|reason| reason.name()))?;
    row.value(event.half.name())?;
    row.value(event.at_ns)?;
    row.value(event.frame)?;
    row.value(event.proof_frame)?;
    row.value(event.seq_offset)?;
    row.value(event.len)?;
    row.optional(event.extent)?;
    row.optional(event.extent.map(|extent| u64::from(extent) + 1))?;
    row.optional(event.extent_bytes)?;
    row.optional(event.late_ns.map(millis))?;
    row.end()
}

/// One row under construction.
struct Row<'a, W: Write> {
    out: &'a mut W,
    begun: bool,
}

impl<'a, W: Write> Row<'a, W> {
    fn new(out: &'a mut W) -> Self {
        Row { out, begun: false }
    }

    fn comma(&mut self) -> io::Result<()> {
        if self.begun {
            write!(self.out, ",")?;
        }
        self.begun = true;
        Ok(())
    }

    /// A value that never needs quotes: numbers, names, addresses.
    fn value(&mut self, value: impl Display) -> io::Result<()> {
        self.comma()?;
        write!(self.out, "{value}")
    }

    /// An empty cell for `None`.
    fn optional(&mut self, value: Option<impl Display>) -> io::Result<()> {
        match value {
            Some(value) => self.value(value),
            None => self.comma(),
        }
    }

    /// Text from outside, quoted when it must be (RFC 4180 section 2).
    fn text(&mut self, text: &str) -> io::Result<()> {
        if text.contains(['"', ',', '\n', '\r']) {
            self.value(format_args!("\"{}\"", text.replace('"', "\"\"")))
        } else {
            self.value(text)
        }
    }

    fn end(self) -> io::Result<()> {
        writeln!(self.out)
    }
}
