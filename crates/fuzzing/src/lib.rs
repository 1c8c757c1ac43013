//! Every fuzz target of the project in one list, and a mutation loop that needs neither nightly nor libFuzzer.
//!
//! A target is a function of bytes that panics if a check fails; the checks are in the crates. `fuzz/fuzz_targets` has the same
//! targets for libFuzzer, whose coverage finds more in the same time.

#![forbid(unsafe_code)]

pub mod mutate;

use std::path::PathBuf;

/// The check of a target.
pub type Check = fn(&[u8]);

/// Every target by its name: that of its file in `fuzz/fuzz_targets`, and of its folder in `fuzz/corpus`.
pub const TARGETS: &[(&str, Check)] = &[
    ("capture", inorder_capture::fuzz_one),
    ("detect", inorder_detect::fuzz::fuzz_one),
    ("detect_fields", inorder_detect::fuzz::fuzz_fields),
    ("filter", inorder_filter::fuzz_one),
    ("live", inorder_live::fuzz_one),
    ("nets", inorder_nets::fuzz_one),
    ("packetdrill", inorder_packetdrill::fuzz::fuzz_one),
    ("petri_query", inorder_petri::query::fuzz_one),
    ("petri_text", inorder_petri::text::fuzz_one),
    ("pnml", inorder_petri::pnml::fuzz_one),
    ("qlog", inorder_qlog::fuzz_one),
    ("scenario", inorder_scenario::fuzz_one),
    ("sort", sort),
    ("stamp", inorder_live::fuzz_stamp),
    ("tcp", inorder_tcp::fuzz::fuzz_one),
    ("tina", inorder_petri::tina::fuzz_one),
    ("virtio", inorder_live::fuzz_virtio),
    ("wire", inorder_wire::fuzz_one),
];

fn sort(input: &[u8]) {
    inorder_sort::fuzz::fuzz_one(input);
    inorder_sort::srpic::fuzz::fuzz_one(input);
}

/// The folder `fuzz` of the project.
pub fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz"]
        .iter()
        .collect()
}

/// The inputs in the corpus of a target, in the order of their names.
pub fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder().join("corpus").join(target));
    let mut inputs: Vec<_> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, std::fs::read(entry.path()).ok()?))
        })
        .collect();
    inputs.sort();
    inputs
}
