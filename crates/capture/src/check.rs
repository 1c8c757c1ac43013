//! A check for fuzzers: any bytes are either read as a capture or refused with an error.

use crate::{Block, Capture};

/// Reads `input` as a capture and parses every frame; panics if the counts are inconsistent.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let Ok(mut capture) =
        Capture::from_reader("input", Box::new(std::io::Cursor::new(input.to_vec())))
    else {
        return;
    };
    let mut block = Block::default();
    let mut frames = 0;
    // Compressed input may expand without end; a few megabytes are enough to find errors.
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
