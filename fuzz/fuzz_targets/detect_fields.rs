//! Bytes as the fields of segments through the detector: without any restriction.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_detect::fuzz::fuzz_fields(input));
