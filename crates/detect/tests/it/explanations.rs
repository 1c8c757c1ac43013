//! The page about the inference names every explanation, with the source that the code gives.

use std::path::Path;

use inorder_detect::Explanation;

#[test]
fn every_explanation_stands_in_the_page_with_its_source() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/inference.md");
    let page = std::fs::read_to_string(page).expect("docs/evidence/inference.md");
    for explanation in Explanation::ALL {
        let (name, source) = (explanation.name(), explanation.source());
        let (begins, ends) = (format!("| `{name}` | "), format!(" | {source} |"));
        let told = |line: &str| line.starts_with(&begins) && line.ends_with(&ends);
        assert!(page.lines().any(told), "expected {begins}...{ends}");
    }
}
