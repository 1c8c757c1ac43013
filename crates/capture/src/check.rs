//! A check for fuzzers: any bytes are a capture, or are refused.

use crate::{Block, Capture};

/// Reads `input` as a capture and parses every frame; panics when numbers do not add up.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let Ok(mut capture) =
        Capture::from_reader("input", Box::new(std::io::Cursor::new(input.to_vec())))
    else {
        return;
    };
    let mut block = Block::default();
    let mut frames = 0;
    // Compressed inputs may unfold without end; some megabytes are enough to find what there is.
    for _ in 0..16 {
        let more = capture.read_block(&mut block);
        assert_eq!(block.frames().count(), block.len());
        for frame in block.frames() {
            frames += 1;
            assert_eq!(frame.number, frames);
            inorder_wire::same_both_ways(&frame);
        }
        if !matches!(more, Ok(true)) {
            assert!(matches!(capture.read_block(&mut block), Ok(false)));
            assert!(block.is_empty());
            return;
        }
    }
}
