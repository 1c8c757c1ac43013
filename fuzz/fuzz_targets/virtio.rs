//! One frame with virtio's header: cut into packets, none of which is broken.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inorder_live::fuzz_virtio(input));
