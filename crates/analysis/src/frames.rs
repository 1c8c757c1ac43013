//! The verdict on each frame: the comments of an annotated capture and the rows of `--rows frames`, from one list of
//! columns.

use std::collections::BTreeMap;

use inorder_detect::{
    Cause, Confidence, Event, Evidence, FlowReport, Reason, Retransmission, Verdict,
};
use inorder_report::{columns, csv};

/// What is concluded from one frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FrameVerdict {
    /// It was late, lost or refused.
    Event(Event),
    /// It is a retransmission.
    Again(Retransmission),
}

/// Kinds of verdicts: those of events, then `retransmission`.
const KINDS: &[&str] = &["reordered", "lost", "refused", "retransmission"];

impl FrameVerdict {
    pub(crate) fn frame(&self) -> u64 {
        match self {
            FrameVerdict::Event(event) => event.frame,
            FrameVerdict::Again(again) => again.frame,
        }
    }

    fn event(&self) -> Option<&Event> {
        match self {
            FrameVerdict::Event(event) => Some(event),
            FrameVerdict::Again(_) => None,
        }
    }

    fn again(&self) -> Option<&Retransmission> {
        match self {
            FrameVerdict::Event(_) => None,
            FrameVerdict::Again(again) => Some(again),
        }
    }
}

columns! {
    /// The verdict on a frame. `tools/wireshark` shows these columns as fields of the same names (`late_ms` as
    /// `inorder.late`).
    pub FRAME: FrameVerdict, |v|
    "frame": Count, "Number of the frame." => v.frame();
    "kind": Choice(KINDS), "Late, lost or refused, or a retransmission."
        => v.event().map_or("retransmission", |e| e.kind.name());
    "verdict": Choice(Verdict::NAMES), "Of a retransmission: needed, spurious or ambiguous."
        => v.again().map(|r| r.verdict.name()), optional();
    "confidence": Choice(Confidence::NAMES), "Of an event: how sure."
        => v.event().map(|e| e.confidence.name()), optional();
    "extent": Small, "Extent, RFC 4737 section 4.2." => v.event().and_then(|e| e.extent), unit("packets"), optional();
    "late_ms": Duration, "Late time, RFC 4737 section 4.3." => v.event().and_then(|e| e.late_ns), optional();
    "cause": Choice(Cause::NAMES), "Of a retransmission: why it was sent."
        => v.again().map(|r| r.cause.name()), optional();
    "evidence": Choice(Evidence::NAMES), "Of an event: what it rests on."
        => v.event().map(|e| e.evidence.name()), optional();
    "reason": Choice(Reason::NAMES), "Of an event: why it is not certain."
        => v.event().and_then(|e| e.reason).map(Reason::name), optional();
    "proof_frame": Count, "Of an event: frame of the packet that proves it."
        => v.event().map(|e| e.proof_frame), optional();
}

/// The verdicts on the captured frames of a flow, in the order of the capture. Packets that were not captured have no
/// frame and no verdict.
pub fn verdicts(flow: &FlowReport) -> Vec<FrameVerdict> {
    let events = flow.records.events.iter().copied().map(FrameVerdict::Event);
    let again = flow
        .records
        .retransmissions
        .iter()
        .copied()
        .map(FrameVerdict::Again);
    let mut all: Vec<_> = events.chain(again).filter(|v| v.frame() > 0).collect();
    all.sort_by_key(FrameVerdict::frame);
    all
}

/// The comment of each frame, by frame number: `inorder: kind=reordered, confidence=certain, extent=4, ...`, with the
/// names and values of [`FRAME`]. Several verdicts on one frame are separated by a semicolon.
pub fn comments(flows: &[FlowReport]) -> BTreeMap<u64, String> {
    let mut comments: BTreeMap<u64, String> = BTreeMap::new();
    for verdict in flows.iter().flat_map(verdicts) {
        let comment = comments.entry(verdict.frame()).or_default();
        comment.push_str(if comment.is_empty() {
            "inorder: "
        } else {
            "; "
        });
        comment.push_str(&csv::named(&FRAME[1..], &verdict));
    }
    comments
}
