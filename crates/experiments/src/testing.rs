//! Functions shared by the tests of papers.

use crate::setting::Context;

/// Short runs of a paper for its tests: checks that every item has valid results.
pub(crate) fn quick(paper: &str, repetitions: u32) -> crate::Findings {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let context = Context {
        progress: &|done, all| assert!(done <= all),
        repetitions: Some(repetitions),
        ..Context::quick(&stop)
    };
    let mut all = crate::Findings::default();
    for item in &crate::find(paper).expect("known").items {
        let findings = item.run(&context).expect("runs");
        assert!(!findings.claims.is_empty(), "{} claims nothing", item.name);
        all.extend(findings);
    }
    let mut ids: Vec<_> = all.claims.iter().map(|claim| claim.id.as_str()).collect();
    ids.sort_unstable();
    assert!(
        ids.windows(2).all(|pair| pair[0] != pair[1]),
        "an id twice: {ids:?}"
    );
    for claim in &all.claims {
        assert!(claim.ours.is_finite(), "{}: no value", claim.id);
        let detail = claim.detail.as_deref().unwrap_or_default();
        assert!(!detail.starts_with("not judged"), "{}: {detail}", claim.id);
    }
    all
}

/// Those of `ids` that are missing or do not have this verdict.
pub(crate) fn other_than<'a>(
    verdict: crate::Verdict,
    findings: &crate::Findings,
    ids: &[&'a str],
) -> Vec<&'a str> {
    let is = |id: &&str| {
        let mut claims = findings.claims.iter();
        claims.any(|claim| claim.id == **id && claim.verdict == verdict)
    };
    ids.iter().filter(|id| !is(id)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::ExperimentError;

    #[test]
    fn runs_stop_on_request() {
        let stop = std::sync::atomic::AtomicBool::new(true);
        let context = Context::quick(&stop);
        for paper in crate::papers().expect("reads") {
            for item in &paper.items {
                let outcome = item.run(&context);
                let stopped = matches!(outcome, Err(ExperimentError::Stopped));
                assert!(stopped, "{} {}", paper.name, item.name);
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_results() {
        let at = |seed| {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let context = Context {
                seed,
                ..Context::quick(&stop)
            };
            let entropy = crate::find("entropy").expect("known");
            entropy.items[0].run(&context).expect("runs")
        };
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
    }
}
