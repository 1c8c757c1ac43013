//! When sinks drop what is over.

use inorder_capture::Block;

/// Frames between two moments to tidy up.
const TIDY_FRAMES: u64 = 1 << 16;

/// When a block begins, if sinks are to tidy up before it. Only the place in the capture decides.
pub(crate) fn tidy_time(block: &Block, frames_before: u64) -> Option<i64> {
    let first = frames_before + block.first_frame_number();
    let last = first + (block.len() as u64).saturating_sub(1);
    let crosses = first / TIDY_FRAMES != (last + 1) / TIDY_FRAMES;
    let frame = block.frames().next().filter(|_| crosses)?;
    Some(frame.ts_ns)
}
