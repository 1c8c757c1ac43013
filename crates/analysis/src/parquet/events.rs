//! One row an event.

use std::io;

use arrow_array::RecordBatch;
use inorder_detect::{Event, FlowId};

use super::columns::Columns;
use super::in_batches;
use crate::model::Analysis;
use crate::names::Name;
use inorder_report::number::millis;

type Row<'a> = (&'a str, &'a FlowId, &'a Event);

pub fn batches(analyses: &[Analysis]) -> impl Iterator<Item = io::Result<RecordBatch>> + '_ {
    let rows = analyses.iter().flat_map(|a| {
        a.flows.iter().flat_map(|flow| {
            let events = flow.events.iter();
            events.map(|event| (a.file.as_str(), &flow.flow, event))
        })
    });
    in_batches(rows, batch)
}

fn batch(rows: &[Row<'_>]) -> io::Result<RecordBatch> {
    let mut c = Columns::of(rows);
    c.text("file", |r| r.0);
    c.text("flow", |r| r.1.to_string());
    c.u32("overlay", |r| r.1.overlay);
    c.u32("reuse", |r| r.1.reuse);
    c.text("kind", |r| r.2.kind.name());
    c.text("confidence", |r| r.2.confidence.name());
    c.text("evidence", |r| r.2.evidence.name());
    c.text_or_null("reason", |r| r.2.reason.map(|reason| reason.name()));
    c.text("half", |r| r.2.half.name());
    c.time("at", |r| r.2.at_ns);
    c.u64("frame", |r| r.2.frame);
    c.u64("proof_frame", |r| r.2.proof_frame);
    c.u64("seq_offset", |r| r.2.seq_offset);
    c.u32("len", |r| r.2.len);
    c.u32_or_null("extent", |r| r.2.extent);
    c.u64_or_null("linux_metric", |r| {
        r.2.extent.map(|extent| u64::from(extent) + 1)
    });
    c.u64_or_null("extent_bytes", |r| r.2.extent_bytes);
    c.f64_or_null("late_ms", |r| r.2.late_ns.map(millis));
    c.batch()
}
