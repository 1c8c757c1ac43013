//! Many captures at once: the lines that begin and end the text, the table with a page for each, folders.

use std::fs;
use std::path::Path;

use crate::common::says;
use crate::common::{Folder, code, complaint, inorder, json, stderr, stdout};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/demo/");

fn demo(end: &str) -> Vec<u8> {
    fs::read(format!("{DEMO}demo-{end}.pcap")).unwrap()
}

/// A capture without packets: pcap, microseconds, Ethernet.
const EMPTY: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
];

#[test]
fn the_text_begins_with_a_line_for_each_and_ends_with_the_worst() {
    let folder = Folder::new("many-text");
    let mut files = vec!["analyze".to_owned()];
    files.push(folder.file("receiver.pcap", &demo("receiver")));
    files.extend((0..3).map(|n| folder.file(&format!("empty{n}.pcap"), &EMPTY)));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let output = inorder(&files);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(lines[0].starts_with("capture "), "{}", lines[0]);
    assert!(
        lines[1].contains("receiver.pcap") && lines[1].contains(" % of arrivals late"),
        "{}",
        lines[1]
    );
    assert!(lines[2].contains("empty0.pcap"), "{}", lines[2]);
    assert_eq!(lines[5], "");
    let end = lines
        .iter()
        .position(|line| line.starts_with("With trouble, 1 of 4 captures"));
    assert!(
        lines[end.unwrap() + 1].contains("receiver.pcap (37.7 % of arrivals late, "),
        "{lines:?}"
    );

    // One capture has no lines, and two have no end.
    assert!(stdout(&inorder(&files[..2])).starts_with(files[1]));
    assert!(!stdout(&inorder(&files[..3])).contains("With trouble"));
}

#[test]
fn the_page_of_many_is_a_table_with_a_page_for_each() {
    let folder = Folder::new("many-pages");
    let mut files = vec![folder.file("a b#1.pcap", &demo("receiver"))];
    files.push(folder.file("none.pcap", b"no capture"));
    files.extend((0..20).map(|n| folder.file(&format!("empty{n}.pcap"), &EMPTY)));
    let page = folder.path("my day.html");
    let mut line = vec!["analyze", "-q", "--html", &page];
    line.extend(files.iter().map(String::as_str));
    for _ in 0..2 {
        // One is no capture.
        assert_eq!(code(&inorder(&line)), 1);
    }
    let table = fs::read_to_string(&page).unwrap();
    let link = "href=\"my%20day-captures/0001-a-b-1.pcap.html\"";
    let first = table
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tr>")
        .next()
        .unwrap();
    assert!(first.contains(link), "the most severe first: {first}");
    // A capture that could not be read does not shift the numbers in the links of the others.
    assert!(table.contains("0002-empty0.pcap.html\">"));
    let pages = folder.path("my day-captures");
    assert_eq!(fs::read_dir(&pages).unwrap().count(), 21);
    for link in table.split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap().replace("%20", " ");
        assert!(Path::new(&folder.path(&link)).is_file(), "{link}");
    }
    let one = fs::read_to_string(Path::new(&pages).join("0001-a-b-1.pcap.html")).unwrap();
    assert!(one.contains("<a href=\"../my%20day.html\">All captures</a>"));
    assert!(one.contains("data-chart=sequence>"));

    // A file of the user in the folder stays.
    fs::write(Path::new(&pages).join("0001-a-b-1.pcap.html"), "mine").unwrap();
    let output = inorder(&line);
    says(stderr(&output), "was not written by inorder");
    assert_eq!(
        fs::read_to_string(Path::new(&pages).join("0001-a-b-1.pcap.html")).unwrap(),
        "mine"
    );
}

#[test]
fn folders_are_compared_capture_by_capture() {
    let folder = Folder::new("folders");
    for (place, end) in [("before/deep", "sender"), ("after/deep", "receiver")] {
        fs::create_dir_all(folder.path(place)).unwrap();
        folder.file(&format!("{place}/same.trace0"), &demo(end));
    }
    folder.file("before/only.pcap", &demo("receiver"));
    folder.file("after/notes.txt", b"a thesis");
    let (before, after) = (folder.path("before"), folder.path("after"));
    let output = inorder(&["compare", &before, &after]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    says(text, "Captures of the same name, before > after");
    assert!(text.contains("\ndeep/same.trace0"), "{text}");
    assert!(text.contains("Only in one of them: only.pcap ("), "{text}");
    let told = stderr(&output);
    assert!(
        told.contains("1 of 2 files skipped: no capture (") && told.contains("notes.txt"),
        "{told}"
    );

    let document = json(&inorder(&["compare", "--json", &before, &after]));
    let late = |cell: &str| {
        let mut all = document["changes"].as_array().unwrap().iter();
        let found = all.find(|c| c["cell"] == cell && c["measure"] == "late");
        found.unwrap()["before_units"].as_u64().unwrap()
    };
    assert_eq!((late(""), late("deep/same.trace0")), (2, 1));

    fs::remove_file(folder.path("after/deep/same.trace0")).unwrap();
    assert!(complaint(&["compare", "-q", &before, &after], 2).contains("no capture here"));
    folder.file("after/other.pcap", &demo("receiver"));
    let output = inorder(&["compare", &before, &after]);
    assert!(stdout(&output).contains("No capture has the same name in both folders"));
}

#[test]
fn numbers_of_captures_have_separators() {
    let folder = Folder::new("thousand");
    let late = folder.file("late.pcap", &demo("sender")[..60_000]);
    let captures = vec![late.as_str(); 1_000];
    let run = inorder(&[&["analyze", "--no-what-if"], &captures[..]].concat());
    let mut last = stdout(&run).lines().rev();
    let title = last.find(|line| line.contains("most severe"));
    assert_eq!(title, Some("The 10 most severe of 1,000 captures"));
}
