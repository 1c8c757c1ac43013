//! Frames that a capture holds more than once.

use inorder_scenario::config::{Capture, CopyKind};

use super::Captured;
use super::wrap;

/// Each frame `plan.copies` times, the duplicate frames behind the first one.
pub(super) fn apply(frames: Vec<Captured>, plan: &Capture) -> Vec<Captured> {
    if plan.copies < 2 {
        return frames;
    }
    let mut out = Vec::with_capacity(frames.len() * plan.copies as usize);
    for frame in frames {
        for number in 0..plan.copies {
            let mut copy = frame.clone();
            copy.ts_ns += plan.copies_delay_ns.saturating_mul(number.into());
            match plan.copies_as {
                _ if number == 0 => {}
                CopyKind::Mirror => {}
                CopyKind::Routed => wrap::routed(&mut copy),
                CopyKind::Tagged => wrap::tagged(&mut copy),
            }
            out.push(copy);
        }
    }
    // Stable: frames of one time stay in their order.
    out.sort_by_key(|frame| frame.ts_ns);
    out
}
