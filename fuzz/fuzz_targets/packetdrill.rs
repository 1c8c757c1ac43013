//! Any bytes as a packetdrill script, read and run; the same every time.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_packetdrill::fuzz::fuzz_one(input));
