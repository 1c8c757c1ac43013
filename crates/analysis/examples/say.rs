//! Prints the headline of captures, its claims, and what to do: `cargo run --example say FILE...`.

use inorder_analysis::cure::Cure;
use inorder_analysis::headline;
use inorder_pipeline::{Analyzer, Input};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let analysis = Analyzer::new().run(Input::reader(&file, std::fs::File::open(&file)?))?;
        let said = headline(&analysis);
        println!("{file}\n  {said}");
        let kinds: Vec<&str> = said.claims.iter().map(|claim| claim.kind()).collect();
        println!("  claims: {}", kinds.join(", "));
        let cure = Cure::of(&analysis);
        if let Some(none) = &cure.none {
            println!("  {}", none.text);
        }
        for action in &cure.actions {
            println!(
                "  * {} {}: {}",
                action.advice,
                action.expectation(),
                action.evidence
            );
        }
    }
    Ok(())
}
