//! Frames, virtio headers and packets of probes: parsed, merged, split, damaged.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_live::fuzz_one(input));
