//! Runs the scripts named on the command line with the profile `linux-6` and prints their traces and results.

use std::fs;

use inorder_packetdrill::table::{self, Row};
use inorder_packetdrill::{Options, run_text};
use inorder_tcp::profiles;

fn main() -> std::io::Result<()> {
    let profile = profiles::find("linux-6").unwrap_or(&profiles::PROFILES[0]);
    let options = Options {
        profile,
        set: &[],
        tolerance: None,
        trace: true,
    };
    let mut rows = Vec::new();
    for file in std::env::args().skip(1) {
        let outcome = run_text(&fs::read_to_string(&file)?, &options);
        println!("{}", outcome.trace.join("\n"));
        rows.push(Row { file, outcome });
    }
    print!("{}", table::text(&rows));
    Ok(())
}
