//! Every target has a corpus of our own, all of which passes; and so do some mutations of it.

use std::collections::BTreeSet;

use inorder_fuzzing::mutate::{Random, mutated};
use inorder_fuzzing::{TARGETS, corpus, folder};

/// Mutations of each target: a moment. `tools/fuzz` runs for longer.
const MUTATIONS: usize = 150;

#[test]
fn every_input_of_the_corpus_passes() {
    for (name, check) in TARGETS {
        let inputs = corpus(name);
        assert!(
            inputs.len() >= 2,
            "{name}: fuzz/corpus/{name} has {} inputs",
            inputs.len()
        );
        for (file, bytes) in &inputs {
            assert!(bytes.len() <= 8_192, "{name}/{file}: {} bytes", bytes.len());
            // A failure names the target and the file in the lines before it.
            println!("{name}/{file}");
            check(bytes);
        }
    }
}

#[test]
fn mutations_of_the_corpus_pass() {
    for (name, check) in TARGETS {
        let (inputs, mut random) = (corpus(name), Random(7));
        for number in 0..MUTATIONS {
            println!("{name}: mutation {number}");
            check(&mutated(&inputs, &mut random));
        }
    }
}

/// libFuzzer's targets are the same ones.
#[test]
fn the_list_is_complete() {
    let entries = std::fs::read_dir(folder().join("fuzz_targets")).expect("the targets");
    let files: BTreeSet<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, names);
}
