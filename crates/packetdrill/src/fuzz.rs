//! Properties that hold for any input: the check for the fuzz target and the property tests.

use inorder_tcp::profiles::PROFILES;

use crate::{Options, Verdict, run_text};

/// Reads and runs `data` as a script: it ends without a panic, passes only without findings, and gives the same
/// result every time.
///
/// # Panics
/// If one of these properties does not hold.
pub fn fuzz_one(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let profile = &PROFILES[data.len() % PROFILES.len()];
    let options = Options {
        profile,
        set: &[],
        tolerance: None,
        trace: true,
    };
    let outcome = run_text(&text, &options);
    assert_eq!(
        outcome.verdict == Verdict::Passed,
        outcome.findings.is_empty()
    );
    assert_eq!(outcome, run_text(&text, &options));
}
