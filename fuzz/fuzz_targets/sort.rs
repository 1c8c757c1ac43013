//! Bytes as packets and batches through the sorter, compared with its straightforward twin.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    inorder_sort::fuzz::fuzz_one(input);
    inorder_sort::srpic::fuzz::fuzz_one(input);
});
