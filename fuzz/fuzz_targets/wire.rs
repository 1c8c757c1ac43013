//! Any frame, parsed by the fast path and by the general one.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_wire::fuzz_one(input));
