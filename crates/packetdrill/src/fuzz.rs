//! What must hold for any input at all; the check behind the fuzz target and the property tests.

use inorder_tcp::profiles::PROFILES;

use crate::{Options, Verdict, run_text};

/// Reads and runs `data` as a script: it ends without a panic, passes only without findings, and does the same
/// every time.
///
/// # Panics
/// If one of these does not hold.
pub fn fuzz_one(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let profile = &PROFILES[data.len() % PROFILES.len()];
    let options = Options {
        profile,
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
