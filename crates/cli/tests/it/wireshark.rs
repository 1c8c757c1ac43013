//! The Wireshark script shows the verdicts of the command, from annotated captures and from plain ones. The tests run
//! tshark and say that they were skipped where it is not installed.

use std::collections::BTreeMap;
use std::process::Output;

use crate::common::{self, Folder, code, inorder, stderr, stdout};
use crate::common::{omits, says};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tools/wireshark/inorder.lua"
);
const RULES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tools/wireshark/colorfilters"
);
const CAPTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);

/// Runs tshark with the script; `None` if it is not installed.
fn tshark(file: &str, options: &[&str]) -> Option<Output> {
    let programs = common::needs(&["tshark"])?;
    let mut command = programs.command("tshark");
    command.args(["-X", &format!("lua_script:{SCRIPT}"), "-r", file]);
    command.args([
        "-o",
        concat!("inorder.command:", env!("CARGO_BIN_EXE_inorder")),
    ]);
    Some(command.args(options).output().expect("tshark runs"))
}

const FIELDS: [&str; 9] = [
    "kind",
    "verdict",
    "confidence",
    "extent",
    "late",
    "cause",
    "evidence",
    "reason",
    "proof_frame",
];

/// The fields of each frame with a verdict; several values of one field are separated by commas.
fn fields(file: &str) -> Option<BTreeMap<u64, Vec<String>>> {
    let names = FIELDS.map(|name| format!("inorder.{name}"));
    let mut options = vec!["-Y", "inorder", "-T", "fields", "-e", "frame.number"];
    options.extend(names.iter().flat_map(|name| ["-e", name]));
    let output = tshark(file, &options)?;
    omits(stderr(&output), "inorder.lua");
    let frame = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        let number = cells.next().unwrap().parse().unwrap();
        (number, cells.collect())
    };
    Some(stdout(&output).lines().map(frame).collect())
}

/// The fields of each frame with a verdict, as `inorder analyze` prints them.
fn expected() -> BTreeMap<u64, Vec<String>> {
    let output = inorder(&["analyze", "-q", "--csv", "--rows", "frames", CAPTURE]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut lines = stdout(&output)
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = |name: &str| {
        header
            .iter()
            .position(|column| *column == name)
            .expect("a column")
    };
    let columns = FIELDS.map(|name| place(if name == "late" { "late_ms" } else { name }));
    let mut frames: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for cells in lines {
        let frame = frames
            .entry(cells[place("frame")].parse().unwrap())
            .or_insert_with(|| vec![String::new(); 9]);
        for (value, column) in frame.iter_mut().zip(columns) {
            let comma = if value.is_empty() || cells[column].is_empty() {
                ""
            } else {
                ","
            };
            *value = format!("{value}{comma}{}", cells[column]);
        }
    }
    frames
}

#[test]
fn a_plain_capture_and_an_annotated_one_show_the_verdicts_of_the_command() {
    let folder = Folder::new("wireshark");
    let Some(plain) = fields(CAPTURE) else {
        return;
    };
    let expected = expected();
    assert!(expected.len() > 1_000);
    assert_eq!(plain, expected);
    let annotated = folder.path("it's annotated.pcapng");
    assert_eq!(
        code(&inorder(&[
            "analyze",
            "-q",
            "--annotate",
            &annotated,
            CAPTURE
        ])),
        0
    );
    assert_eq!(fields(&annotated), Some(expected));
}

#[test]
fn what_goes_wrong_is_said_and_the_capture_is_shown_all_the_same() {
    let wrong = ["-o", "inorder.command:/no/such/inorder", "-c", "3"];
    let Some(output) = tshark(CAPTURE, &wrong) else {
        return;
    };
    assert_eq!(stdout(&output).lines().count(), 3);
    says(stderr(&output), "inorder.lua: ");
}

#[test]
fn the_colouring_rules_are_filters() {
    let rules = std::fs::read_to_string(RULES).expect("the rules");
    let rules = rules.lines().filter(|line| !line.starts_with('#'));
    let (mut count, mut frames) = (0, 0);
    for rule in rules {
        let filter = rule.split('@').nth(2).expect("@name@filter@colours");
        let Some(output) = tshark(CAPTURE, &["-Y", filter]) else {
            return;
        };
        assert_eq!(code(&output), 0, "{filter}: {}", stderr(&output));
        count += 1;
        frames += stdout(&output).lines().count();
    }
    assert!(count > 3 && frames > 1_000);
}
