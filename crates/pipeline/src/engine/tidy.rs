//! When sinks drop connections that are over.

use inorder_capture::Block;

/// Number of frames between two such points.
const TIDY_FRAMES: u64 = 1 << 16;

/// The time at which a block begins, if sinks must tidy up before it. Depends only on the position in the capture, so
/// that it is the same for any number of threads.
pub(crate) fn tidy_time(block: &Block, frames_before: u64) -> Option<i64> {
    let first = frames_before + block.first_frame_number();
    let last = first + (block.len() as u64).saturating_sub(1);
    let crosses = first / TIDY_FRAMES != (last + 1) / TIDY_FRAMES;
    let frame = block.frames().next().filter(|_| crosses)?;
    Some(frame.ts_ns)
}
