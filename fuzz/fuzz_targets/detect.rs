//! Bytes as TCP traffic through the detector: numbers in a small space, so that segments meet.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_detect::fuzz::fuzz_one(input));
