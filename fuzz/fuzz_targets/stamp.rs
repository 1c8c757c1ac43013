//! Bytes as packets of STAMP through a reflector, whose limits and counts hold, and through a prober.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_live::fuzz_stamp(input));
