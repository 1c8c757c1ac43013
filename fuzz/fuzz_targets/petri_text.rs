//! Bytes as a net in the text format; a valid net is printed and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_petri::text::fuzz_one(input));
