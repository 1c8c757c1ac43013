//! The check of the fuzz target: no text makes the reader panic, and every error has a position.

use crate::{Error, Profile, Registries, Scenario};

/// Larger grids take long and do not test anything else.
const MAX_CELLS: usize = 64;

/// Reads `bytes` as a scenario, followed after the first NUL by overrides separated by NULs.
///
/// # Panics
/// If an error about the file has no line and column, or takes more than one line.
pub fn fuzz_one(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\0');
    let file = parts.next().unwrap_or("");
    let mut scenario = match Scenario::load(file, "fuzz.toml", &names()) {
        Ok(scenario) => scenario,
        Err(error) => return check(&error, false),
    };
    let mut overridden = false;
    for assignment in parts {
        overridden = true;
        if let Err(error) = scenario.set(assignment) {
            check(&error, true);
        }
    }
    match scenario.axes() {
        Ok(axes) if axes.iter().map(|axis| axis.points.len()).product::<usize>() > MAX_CELLS => {}
        Ok(_) => match scenario.cells() {
            Ok(cells) => assert!(!cells.is_empty(), "a scenario without cells"),
            Err(error) => check(&error, overridden),
        },
        Err(error) => check(&error, overridden),
    }
}

fn check(error: &Error, overridden: bool) {
    let shown = error.to_string();
    assert!(
        overridden || error.position.is_some(),
        "no place in the file: {shown}"
    );
    assert!(
        !error.problem.what.is_empty(),
        "nothing is said to be wrong"
    );
    assert_eq!(shown.lines().count(), 1, "more than one line: {shown}");
}

fn names() -> Registries {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Registries {
        congestion: list(&["reno", "cubic"]),
        loss_detection: list(&["static", "linux"]),
        profiles: vec![Profile {
            name: "linux-6".to_owned(),
            loss_detection: "linux".to_owned(),
        }],
        dialects: vec![Profile {
            name: "bsd-like".to_owned(),
            loss_detection: "static".to_owned(),
        }],
        sorters: list(&["none", "srpic"]),
        check_sorter: Some(|text| match text {
            "srpic:block_size=8" => Ok(()),
            _ => Err("srpic has no such setting".to_owned()),
        }),
        // A file of every name has its name as text, so that random text reaches its readers.
        read_file: Some(|_, name| Ok(name.replace('/', "\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Fragments of scenarios, so that random text reaches deep into the reader.
    const PIECES: &[&str] = &[
        "[[flow]]\n",
        "[[forward]]\n",
        "[[reverse]]\n",
        "[[probe]]\n",
        "[run]\n",
        "[grid]\n",
        "[receiver_card]\n",
        "[[grid.zip]]\n",
        "[grid.variants.a.b]\n",
        "kind = \"link\"\n",
        "kind = \"loss\"\n",
        "kind = \"spray\"\n",
        "rate = \"1 Mbit/s\"\n",
        "lane = [{}]\n",
        "name = \"a\"\n",
        "model = \"markov\"\n",
        "p13 = \"1 %\"\n",
        "queue = \"1 BDP\"\n",
        "rtt = \"1 ms\"\n",
        "flow.count = [1, 2]\n",
        "\"flow.*.size\" = [\"1 kB\"]\n",
        "sorter = \"srpic\"\n",
        "count = 3\n",
        "size = \"5 kB\"\n",
        "delay = \"-1 ms\"\n",
        "sender.mss = \"9 kB\"\n",
        "a.b.c.d = 1\n",
        "[[[",
        "\"",
        "\\u{0}",
        "= {",
        "# \u{1f600}\n",
        "9223372036854775808",
        "flow.0.count=7",
        "forward.a.rate=0 bit/s",
        "é",
    ];

    proptest! {
        #[test]
        fn random_text_does_not_panic(text in "\\PC{0,80}") {
            fuzz_one(text.as_bytes());
        }

        #[test]
        fn fragments_in_random_order_do_not_panic(order in proptest::collection::vec(0..PIECES.len(), 0..12)) {
            let text: String = order.iter().filter_map(|at| PIECES.get(*at)).copied().collect();
            fuzz_one(text.as_bytes());
        }

        #[test]
        fn random_overrides_do_not_panic(order in proptest::collection::vec(0..PIECES.len(), 0..6), set in "[a-z.*0-9]{0,20}=\\PC{0,20}") {
            let text: String = order.iter().filter_map(|at| PIECES.get(*at)).copied().collect();
            fuzz_one(format!("{text}\0{set}").as_bytes());
        }
    }

    /// Deeply nested tables must not overflow the stack.
    #[test]
    fn deep_nesting_is_an_error() {
        let dotted = format!("{}z = 1", "a.".repeat(100_000));
        let lists = format!("flow = {}", "[".repeat(100_000));
        let set = format!("[[flow]]\0flow.{}z=1", "a.".repeat(100_000));
        for text in [dotted, lists, set] {
            fuzz_one(text.as_bytes());
        }
    }
}
