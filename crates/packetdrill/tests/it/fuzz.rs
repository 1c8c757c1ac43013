//! Any change of a script: reading and running it ends with a verdict and without a panic.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use inorder_packetdrill::fuzz::fuzz_one;
use proptest::prelude::*;
use proptest::sample::Index;

static SCRIPTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of the scripts")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect()
});

/// One change of a script.
#[derive(Debug, Clone)]
enum Change {
    /// A line is removed.
    Drop(Index),
    /// A line is duplicated.
    Repeat(Index),
    /// Two lines are swapped.
    Swap(Index, Index),
    /// A number is changed.
    Number(Index, u32),
    /// Part of the text is replaced.
    Text(Index, usize, String),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let number = prop_oneof![
        0..20_u32,
        Just(999),
        Just(1001),
        Just(65_536),
        Just(u32::MAX),
        any::<u32>()
    ];
    prop_oneof![
        at().prop_map(Change::Drop),
        at().prop_map(Change::Repeat),
        (at(), at()).prop_map(|(a, b)| Change::Swap(a, b)),
        (at(), number).prop_map(|(at, number)| Change::Number(at, number)),
        (at(), 0..8_usize, "\\PC{0,4}")
            .prop_map(|(at, length, text)| Change::Text(at, length, text)),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    match change {
        Change::Drop(at) => {
            lines.remove(at.index(lines.len()));
        }
        Change::Repeat(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at]);
        }
        Change::Swap(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Change::Number(at, number) => return replace_number(text, *at, *number),
        Change::Text(at, length, with) => return replace_text(text, *at, *length, with),
    }
    lines.join("\n")
}

fn replace_number(text: &str, at: Index, number: u32) -> String {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|&(i, c)| {
            c.is_ascii_digit() && !text[..i].ends_with(|before: char| before.is_ascii_digit())
        })
        .map(|(i, _)| i)
        .collect();
    if starts.is_empty() {
        return text.to_owned();
    }
    let start = starts[at.index(starts.len())];
    let rest = text[start..].trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}{number}{rest}", &text[..start])
}

fn replace_text(text: &str, at: Index, length: usize, with: &str) -> String {
    let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
    if places.is_empty() {
        return with.to_owned();
    }
    let from = at.index(places.len());
    let to = places.get(from + length).copied().unwrap_or(text.len());
    format!("{}{with}{}", &text[..places[from]], &text[to..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn a_changed_script_gets_a_verdict(
        which in any::<Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let original = &SCRIPTS[which.index(SCRIPTS.len())];
        let text = changes.iter().fold(original.clone(), |text, change| apply(&text, change));
        fuzz_one(text.as_bytes());
    }
}
