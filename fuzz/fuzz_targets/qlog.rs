//! Any bytes as a log of QUIC.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_qlog::fuzz_one(input));
