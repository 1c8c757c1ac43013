//! One row a flow.

use std::io;

use arrow_array::RecordBatch;
use inorder_detect::FlowReport;

use super::columns::Columns;
use super::in_batches;
use crate::model::Analysis;
use crate::names::Name;
use inorder_report::number::millis;

type Row<'a> = (&'a str, &'a FlowReport);

pub fn batches(analyses: &[Analysis]) -> impl Iterator<Item = io::Result<RecordBatch>> + '_ {
    let rows = analyses
        .iter()
        .flat_map(|a| a.flows.iter().map(|flow| (a.file.as_str(), flow)));
    in_batches(rows, batch)
}

fn batch(rows: &[Row<'_>]) -> io::Result<RecordBatch> {
    let mut columns = Columns::of(rows);
    who(&mut columns);
    order(&mut columns);
    repair(&mut columns);
    capture(&mut columns);
    columns.batch()
}

fn who(c: &mut Columns<'_, Row<'_>>) {
    c.text("file", |r| r.0);
    c.text("flow", |r| r.1.flow.to_string());
    c.u32("overlay", |r| r.1.flow.overlay);
    c.u32("reuse", |r| r.1.flow.reuse);
    c.text("vantage", |r| r.1.vantage.vantage.name());
    c.text("vantage_basis", |r| r.1.vantage.basis.name());
    c.time("first", |r| r.1.first_ns);
    c.time("last", |r| r.1.last_ns);
    c.flag("syn_seen", |r| r.1.syn_seen);
    c.flag("sack", |r| r.1.sack);
    c.flag("timestamps", |r| r.1.timestamps);
    c.u32("mss", |r| r.1.mss);
    c.f64_or_null("min_rtt_ms", |r| r.1.min_rtt_ns.map(millis));
    c.u64("data_packets", |r| r.1.data_packets);
    c.u64("data_bytes", |r| r.1.data_bytes);
}

fn order(c: &mut Columns<'_, Row<'_>>) {
    c.u64("arrived", |r| r.1.reordering.arrived);
    c.u64("reordered", |r| r.1.reordering.reordered);
    c.f64("ratio", |r| r.1.reordering.ratio());
    c.u64("max_extent", |r| r.1.reordering.extents.max().unwrap_or(0));
    c.f64("mean_extent", |r| {
        r.1.reordering.extents.mean().unwrap_or(0.0)
    });
    c.f64("max_late_ms", |r| {
        r.1.reordering.late_ns.max().unwrap_or(0) as f64 / 1e6
    });
    c.f64("mean_displacement", |r| r.1.reordering.mean_displacement);
    c.f64("entropy", |r| r.1.reordering.entropy);
    c.u64("ambiguous", |r| r.1.reordering.ambiguous);
    c.u64("losses", |r| r.1.losses);
    c.u64("undecided", |r| r.1.undecided);
    c.flag("rough", |r| r.1.rough);
}

fn repair(c: &mut Columns<'_, Row<'_>>) {
    c.u64("retransmissions", |r| r.1.retransmissions.total);
    c.u64("needed", |r| r.1.retransmissions.needed);
    c.u64("spurious", |r| r.1.retransmissions.spurious);
    c.u64("retransmissions_ambiguous", |r| {
        r.1.retransmissions.ambiguous
    });
    c.u64("recoveries", |r| r.1.recoveries.total);
    c.u64("recoveries_spurious", |r| r.1.recoveries.spurious);
    c.u64("recoveries_ambiguous", |r| r.1.recoveries.ambiguous);
    c.u32_or_null("dupthresh", |r| r.1.avoidance.dupthresh);
    c.f64_or_null("window_ms", |r| r.1.avoidance.window_ns.map(millis));
}

fn capture(c: &mut Columns<'_, Row<'_>>) {
    c.u64("acks", |r| r.1.ack_path.acks);
    c.u64("acks_reordered", |r| r.1.ack_path.reordered);
    c.u64("acks_missing", |r| r.1.ack_path.missing);
    c.u64("duplicated_frames", |r| r.1.artefacts.duplicated_frames);
    c.u64("swapped_frames", |r| r.1.artefacts.swapped_frames);
    c.u64("missing_segments", |r| r.1.artefacts.missing_segments);
    c.u64("time_reversals", |r| r.1.artefacts.time_reversals);
}
