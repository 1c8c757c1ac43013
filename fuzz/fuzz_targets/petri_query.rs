//! Bytes as a query about a small net, which is answered.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_petri::query::fuzz_one(input));
