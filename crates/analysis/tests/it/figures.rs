//! Every number in the headline can be derived from the JSON: it is a member, a sum of a member over flows, or the share
//! of one member in another.

use std::path::Path;

use inorder_analysis::{Analysis, headline};
use inorder_pipeline::{Analyzer, Input};

use crate::digits::{derivable, numbers};
use crate::sample;

fn check(analysis: &Analysis) -> usize {
    let said = headline(analysis).to_string();
    let texts = derivable(analysis);
    let numbers = numbers(&said);
    for number in &numbers {
        assert!(texts.contains(number), "{number} in: {said}");
    }
    numbers.len()
}

#[test]
fn numbers_of_an_invented_capture_are_in_its_json() {
    assert!(check(&sample::analysis("a.pcap", 3)) > 10);
}

#[test]
fn numbers_of_real_captures_are_in_their_json() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for file in [
        "demo/demo-sender.pcap",
        "demo/demo-receiver.pcap",
        "captures/loss-1.snd.pcap.gz",
    ] {
        let analysis = Analyzer::new()
            .run(Input::reader(
                file,
                std::fs::File::open(testdata.join(file)).unwrap(),
            ))
            .unwrap();
        assert!(check(&analysis) > 4, "{file}");
    }
}

#[test]
fn an_invented_number_is_found() {
    let texts = derivable(&sample::analysis("a.pcap", 3));
    for invented in ["64,123", "98.7", "31.9"] {
        assert!(!texts.contains(invented), "{invented}");
    }
}
