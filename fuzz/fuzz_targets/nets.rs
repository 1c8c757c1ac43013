//! Bytes as a coloured net, which is run for a moment if it is valid.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_nets::fuzz_one(input));
