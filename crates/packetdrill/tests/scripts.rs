//! Every script of this crate must pass.

use std::fs;
use std::path::Path;

use inorder_packetdrill::script::What;
use inorder_packetdrill::table::{self, Row, Summary};
use inorder_packetdrill::{Options, Verdict, parse, run, run_text};
use inorder_tcp::profiles;

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of the scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "pkt"))
        .collect();
    files.sort();
    let options = Options {
        profile: profiles::find("linux-6").expect("a profile"),
        tolerance: None,
        trace: true,
    };
    files
        .iter()
        .map(|path| Row {
            file: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            outcome: run_text(
                &fs::read_to_string(path).expect("a readable script"),
                &options,
            ),
        })
        .collect()
}

#[test]
fn all_our_scripts_pass() {
    let rows = rows();
    println!("{}", table::text(&rows));
    for row in &rows {
        if !row.outcome.findings.is_empty() {
            println!("{}:\n{}", row.file, row.outcome.trace.join("\n"));
        }
    }
    assert!(rows.len() >= 30, "{} scripts", rows.len());
    assert_eq!(Summary::of(&rows).passed, rows.len());
}

/// What is damaged: an expected packet acknowledges or numbers one byte more, a call is expected to return one more, an
/// assertion's first comparison is reversed. `None` for a statement that expects nothing.
fn damaged(what: &What) -> Option<What> {
    match what {
        What::Expect(packet) => {
            let mut packet = packet.clone();
            match &mut packet.ack {
                Some(ack) => *ack = ack.wrapping_add(1),
                None => packet.seq = packet.seq.wrapping_add(1),
            }
            Some(What::Expect(packet))
        }
        What::Call(call) => {
            // A script chooses its descriptors by the results it writes.
            let chooses = matches!(call.name.as_str(), "socket" | "accept" | "accept4");
            let result = call.result.filter(|_| !chooses)?;
            let mut call = call.clone();
            call.result = Some(result + 1);
            Some(What::Call(call))
        }
        What::Code(text) if text.contains("==") => Some(What::Code(text.replacen("==", "!=", 1))),
        _ => None,
    }
}

#[test]
fn each_expectation_damaged_fails() {
    let options = Options {
        profile: profiles::find("linux-6").expect("a profile"),
        tolerance: None,
        trace: false,
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut count = 0;
    let mut survived = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of the scripts") {
        let path = entry.expect("an entry").path();
        let script =
            parse(&fs::read_to_string(&path).expect("a readable script")).expect("a script");
        for (at, event) in script.events.iter().enumerate() {
            let Some(what) = damaged(&event.what) else {
                continue;
            };
            let mut script = script.clone();
            script.events[at].what = what;
            count += 1;
            if run(&script, &options).verdict != Verdict::Failed {
                survived.push(format!("{}:{}", path.display(), event.line));
            }
        }
    }
    assert!(survived.is_empty(), "of {count}: {survived:#?}");
    assert!(count > 1000, "{count}");
}
