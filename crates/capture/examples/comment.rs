//! Copies a capture to pcapng with one comment on one packet.
//!
//! `cargo run --release --example comment -- IN OUT NUMBER TEXT`

use inorder_capture::{Capture, annotate};
use std::fs::File;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, input, output, number, text] = &args[..] else {
        return Err("expected IN OUT NUMBER TEXT".into());
    };
    let wanted: u64 = number.parse()?;
    let mut capture = Capture::open(Path::new(input))?;
    let copied = annotate(&mut capture, File::create(output)?, |number| {
        (number == wanted).then_some(text.as_str())
    })?;
    println!("{copied} frames");
    Ok(())
}
