//! Single events and retransmissions.

use std::io;

use inorder_report::json::Json;
use inorder_report::schema::Schema;
use inorder_report::{Nested, Sheet, columns};

use super::flow_id::FLOW_ID;
use inorder_detect::{
    Bound, Cause, Confidence, Event, Evidence, FlowId, FlowReport, Half, Reason, Retransmission,
    Verdict,
};

columns! {
    /// A late or lost packet.
    pub EVENT: Event, |e|
    "kind": Choice(inorder_detect::Kind::NAMES), "What happened." => e.kind.name(), shown("event", 0);
    "confidence": Choice(Confidence::NAMES), "How sure." => e.confidence.name(), shown("confidence", 0);
    "evidence": Choice(Evidence::NAMES), "What it rests on." => e.evidence.name(), shown("evidence", 2);
    "reason": Choice(Reason::NAMES), "Why it is not certain." => e.reason.map(Reason::name), optional();
    "half": Choice(Half::NAMES), "Which part of the path: sender to receiver, or sender to capture point."
        => e.half.name();
    "at_ns": Instant, "When the capture point learned of it." => e.at_ns;
    "frame": Count, "Frame of the original transmission; 0 if it was not captured." => e.frame, shown("frame", 0);
    "proof_frame": Count, "Frame of the packet that proves it." => e.proof_frame;
    "seq_offset": Count, "Bytes from the flow's first data byte." => e.seq_offset, shown("offset", 1);
    "len": Small, "Payload bytes." => e.len;
    "extent": Small, "Extent, RFC 4737 section 4.2." => e.extent, unit("packets"), optional(), shown("extent", 0);
    "linux_metric": Count, "extent + 1: Linux's `reordering` and the aNCR draft count the late packet too."
        => e.extent.map(|extent| u64::from(extent) + 1), unit("packets"), optional();
    "extent_bytes": Count, "Byte offset, RFC 4737 section 4.4." => e.extent_bytes, unit("bytes"), optional();
    "extent_is": Choice(Bound::NAMES), "Whether extent and late time are exact, upper bounds (at most), lower bounds (at least), or approximate (about)."
        => e.extent_is().map(Bound::name), optional();
    "late_ms": Duration, "Late time, RFC 4737 section 4.3." => e.late_ns, optional(), shown("late", 0);
}

columns! {
    /// A segment sent again.
    pub RETRANSMISSION: Retransmission, |r|
    "frame": Count, "Frame of the retransmission." => r.frame;
    "at_ns": Instant, "When it was captured." => r.at_ns;
    "seq_offset": Count, "Bytes from the flow's first data byte." => r.seq_offset;
    "len": Small, "Payload bytes." => r.len;
    "verdict": Choice(Verdict::NAMES), "Needed: the original never arrived, or was refused; spurious: it arrived too."
        => r.verdict.name();
    "confidence": Choice(Confidence::NAMES), "How sure the verdict is." => r.confidence.name();
    "cause": Choice(Cause::NAMES), "Why it was sent." => r.cause.name();
}

/// An event and the flow it happened to.
#[derive(Clone, Copy, Debug)]
pub struct EventRow<'a> {
    /// The flow.
    pub flow: &'a FlowId,
    /// The event.
    pub event: &'a Event,
}

/// The columns of an event with those that name its flow.
pub fn events<'c, 'a: 'c>() -> Sheet<'c, EventRow<'a>> {
    Sheet::new()
        .with(FLOW_ID, |row: &EventRow<'a>| row.flow)
        .with(EVENT, |row| row.event)
}

/// The events of a flow, each with the flow's name.
pub(super) struct EventsOfFlow;

impl Nested<FlowReport> for EventsOfFlow {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(&events()))
    }

    fn write(&self, flow: &FlowReport, json: &mut Json<'_>) -> io::Result<()> {
        let rows = flow.records.events.iter().map(|event| EventRow {
            flow: &flow.flow,
            event,
        });
        json.array(&events(), rows)
    }
}
