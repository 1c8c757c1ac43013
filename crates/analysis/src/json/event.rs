//! Single events and retransmissions.

use inorder_detect as detect;
use serde::{Serialize, Serializer};

use crate::names::Name;
use inorder_report::number::millis;

/// One event; see [`inorder_detect::Event`].
#[derive(Serialize)]
pub struct Event<'a> {
    flow: &'a str,
    kind: &'static str,
    confidence: &'static str,
    evidence: &'static str,
    reason: Option<&'static str>,
    half: &'static str,
    at_ns: i64,
    frame: u64,
    proof_frame: u64,
    seq_offset: u64,
    len: u32,
    extent: Option<u32>,
    /// Linux's `reordering` and the aNCR draft count the late packet too.
    linux_metric: Option<u64>,
    extent_bytes: Option<u64>,
    late_ms: Option<f64>,
}

impl<'a> Event<'a> {
    fn of(flow: &'a str, event: &detect::Event) -> Self {
        Event {
            flow,
            kind: event.kind.name(),
            confidence: event.confidence.name(),
            evidence: event.evidence.name(),
            reason: event.reason.map(|reason| reason.name()),
            half: event.half.name(),
            at_ns: event.at_ns,
            frame: event.frame,
            proof_frame: event.proof_frame,
            seq_offset: event.seq_offset,
            len: event.len,
            extent: event.extent,
            linux_metric: event.extent.map(|extent| u64::from(extent) + 1),
            extent_bytes: event.extent_bytes,
            late_ms: event.late_ns.map(millis),
        }
    }
}

/// All events of a flow.
pub struct Events<'a> {
    pub flow: String,
    pub events: &'a [detect::Event],
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.events.iter().map(|event| Event::of(&self.flow, event)))
    }
}

/// One retransmission.
#[derive(Serialize)]
pub struct Retransmission {
    frame: u64,
    at_ns: i64,
    seq_offset: u64,
    len: u32,
    verdict: &'static str,
}

impl Retransmission {
    pub fn of(one: &detect::Retransmission) -> Self {
        Retransmission {
            frame: one.frame,
            at_ns: one.at_ns,
            seq_offset: one.seq_offset,
            len: one.len,
            verdict: one.verdict.name(),
        }
    }
}
