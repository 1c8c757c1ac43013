//! Prints the terminal output for an invented analysis: `cargo run --example text [WIDTH]`.

#[path = "../tests/it/sample/mod.rs"]
mod sample;

use inorder_analysis::table::{self, Style};

fn main() -> std::io::Result<()> {
    let style = Style {
        width: std::env::args().nth(1).and_then(|w| w.parse().ok()),
        events: true,
        ..Style::default()
    };
    table::write(
        &mut std::io::stdout(),
        &[sample::analysis("trace.pcapng", 25)],
        &style,
    )
}
