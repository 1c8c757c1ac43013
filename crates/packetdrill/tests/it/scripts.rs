//! Every script of this crate must pass.

use std::fs;
use std::path::Path;

use inorder_packetdrill::table::{self, Row, Summary};
use inorder_packetdrill::{Options, run_text};
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
        set: &[],
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
