//! Bytes as TCP traffic through the detector: numbers from a small range, so that segments overlap.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_detect::fuzz::fuzz_one(input));
