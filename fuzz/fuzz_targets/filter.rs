//! Any text as a filter.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_filter::fuzz_one(input));
