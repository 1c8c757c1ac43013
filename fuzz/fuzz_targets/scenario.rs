//! Any bytes as a scenario file with overrides: no panic, and every error has a position.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_scenario::fuzz_one(input));
