//! Single events and retransmissions.

use std::io;

use inorder_report::json::Json;
use inorder_report::schema::Schema;
use inorder_report::{Column, Kind, Nested, Sheet};

use super::flow_id::FLOW_ID;
use crate::{
    Bound, Cause, Confidence, Event, Evidence, FlowId, FlowReport, Half, Reason, Retransmission,
    Verdict,
};
use inorder_report::Name;

type Of = Column<Event>;

/// A late or lost packet.
pub static EVENT: &[Column<Event>] = &[
    Of::new(
        "kind",
        Kind::Choice(crate::Kind::NAMES),
        "What happened.",
        |e| e.kind.name().into(),
    )
    .shown("event", 0),
    Of::new(
        "confidence",
        Kind::Choice(Confidence::NAMES),
        "How sure.",
        |e| e.confidence.name().into(),
    )
    .shown("confidence", 0),
    Of::new(
        "evidence",
        Kind::Choice(Evidence::NAMES),
        "What it rests on.",
        |e| e.evidence.name().into(),
    )
    .shown("evidence", 2),
    Of::new(
        "reason",
        Kind::Choice(Reason::NAMES),
        "Why it is not certain.",
        |e| e.reason.map(|reason| reason.name()).into(),
    )
    .optional(),
    Of::new(
        "half",
        Kind::Choice(Half::NAMES),
        "Which part of the path: sender to receiver, or sender to capture point.",
        |e| e.half.name().into(),
    ),
    Of::new(
        "at_ns",
        Kind::Instant,
        "When the capture point learned of it.",
        |e| e.at_ns.into(),
    ),
    Of::new(
        "frame",
        Kind::Count,
        "Frame of the original transmission; 0 if it was not captured.",
        |e| e.frame.into(),
    )
    .shown("frame", 0),
    Of::new(
        "proof_frame",
        Kind::Count,
        "Frame of the packet that proves it.",
        |e| e.proof_frame.into(),
    ),
    Of::new(
        "seq_offset",
        Kind::Count,
        "Bytes from the flow's first data byte.",
        |e| e.seq_offset.into(),
    )
    .shown("offset", 1),
    Of::new("len", Kind::Small, "Payload bytes.", |e| e.len.into()),
    Of::new(
        "extent",
        Kind::Small,
        "Extent, RFC 4737 section 4.2.",
        |e| e.extent.into(),
    )
    .unit("packets")
    .optional()
    .shown("extent", 0),
    Of::new(
        "linux_metric",
        Kind::Count,
        "extent + 1: Linux's `reordering` and the aNCR draft count the late packet too.",
        |e| e.extent.map(|extent| u64::from(extent) + 1).into(),
    )
    .unit("packets")
    .optional(),
    Of::new(
        "extent_bytes",
        Kind::Count,
        "Byte offset, RFC 4737 section 4.4.",
        |e| e.extent_bytes.into(),
    )
    .unit("bytes")
    .optional(),
    Of::new(
        "extent_is",
        Kind::Choice(Bound::NAMES),
        "Whether extent and late time are exact, upper bounds (at most), lower bounds (at least), or approximate (about).",
        |e| e.extent_is().map(|bound| bound.name()).into(),
    )
    .optional(),
    Of::new(
        "late_ms",
        Kind::Duration,
        "Late time, RFC 4737 section 4.3.",
        |e| e.late_ns.into(),
    )
    .optional()
    .shown("late", 0),
];

type Again = Column<Retransmission>;

/// A segment sent again.
pub static RETRANSMISSION: &[Column<Retransmission>] = &[
    Again::new("frame", Kind::Count, "Frame of the retransmission.", |r| {
        r.frame.into()
    }),
    Again::new("at_ns", Kind::Instant, "When it was captured.", |r| {
        r.at_ns.into()
    }),
    Again::new(
        "seq_offset",
        Kind::Count,
        "Bytes from the flow's first data byte.",
        |r| r.seq_offset.into(),
    ),
    Again::new("len", Kind::Small, "Payload bytes.", |r| r.len.into()),
    Again::new(
        "verdict",
        Kind::Choice(Verdict::NAMES),
        "Needed: the original never arrived, or was refused; spurious: it arrived too.",
        |r| r.verdict.name().into(),
    ),
    Again::new(
        "confidence",
        Kind::Choice(Confidence::NAMES),
        "How sure the verdict is.",
        |r| r.confidence.name().into(),
    ),
    Again::new(
        "cause",
        Kind::Choice(Cause::NAMES),
        "Why it was sent.",
        |r| r.cause.name().into(),
    ),
];

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
