//! Bytes as PNML; a valid net is written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_petri::pnml::fuzz_one(input));
