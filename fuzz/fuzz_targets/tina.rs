//! Bytes as a net in the format of TINA.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_petri::tina::fuzz_one(input));
