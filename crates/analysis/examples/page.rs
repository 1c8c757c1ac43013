//! Prints the HTML page of an invented analysis: `cargo run --example page > page.html`. With any argument the page
//! has tables instead of charts.

#[path = "../tests/it/sample/mod.rs"]
mod sample;

use inorder_analysis::html::{self, Page};

fn main() -> std::io::Result<()> {
    let page = Page {
        charts: std::env::args().len() < 2,
        ..Page::default()
    };
    let analyses = [sample::analysis("</script><b>trace</b>.pcapng", 25)];
    html::write(&mut std::io::stdout().lock(), &analyses, &page)
}
