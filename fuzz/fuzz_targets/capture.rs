//! Any bytes, opened as a capture, read to the end and parsed.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_capture::fuzz_one(input));
