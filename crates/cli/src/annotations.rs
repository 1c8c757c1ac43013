//! Comments for the packets of an annotated capture.

use std::collections::HashMap;

use inorder_detect::names::Name;
use inorder_detect::{Event, FlowReport, Kind, Retransmission};
use inorder_report::number::time;

/// The comment of each frame, by frame number.
pub fn of(flows: &[FlowReport]) -> HashMap<u64, String> {
    let mut comments = HashMap::new();
    for flow in flows {
        for event in &flow.events {
            add(&mut comments, event.frame, &event_text(event));
        }
        for retransmission in &flow.retransmission_list {
            add(
                &mut comments,
                retransmission.frame,
                &verdict_text(*retransmission),
            );
        }
    }
    comments
}

/// Appends to the comment of a frame; frame 0 stands for a packet that was not captured.
fn add(comments: &mut HashMap<u64, String>, frame: u64, text: &str) {
    if frame == 0 {
        return;
    }
    match comments.get_mut(&frame) {
        Some(before) => {
            before.push_str("; ");
            before.push_str(text);
        }
        None => {
            comments.insert(frame, format!("inorder: {text}"));
        }
    }
}

fn event_text(event: &Event) -> String {
    let mut text = match event.kind {
        Kind::Reordered => "reordered".to_owned(),
        Kind::Lost => "lost".to_owned(),
        kind => kind.name().to_owned(),
    };
    if let Some(extent) = event.extent {
        text.push_str(&format!(", extent {extent}"));
    }
    if let Some(late_ns) = event.late_ns {
        text.push_str(&format!(", late by {}", time(late_ns)));
    }
    text.push_str(&format!(
        " ({}, evidence: {}, frame {}",
        event.confidence.name(),
        event.evidence.name(),
        event.proof_frame
    ));
    if let Some(reason) = event.reason {
        text.push_str(&format!(", {}", reason.name()));
    }
    text + ")"
}

fn verdict_text(retransmission: Retransmission) -> String {
    format!("{} retransmission", retransmission.verdict.name())
}
