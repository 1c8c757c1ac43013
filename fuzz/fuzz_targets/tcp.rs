//! Bytes as fates of segments between two endpoints.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_tcp::fuzz::fuzz_one(input));
