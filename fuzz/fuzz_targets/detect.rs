//! Bytes as TCP traffic through the detector.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_detect::fuzz::fuzz_one(input));
