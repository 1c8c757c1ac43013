//! Every item runs on its small grid and says something; a stopped run says so.

use std::sync::atomic::AtomicBool;

use inorder_experiments::{Context, ExperimentError, Findings, find};

fn quick(paper: &str, item: &str) -> Findings {
    let context = Context {
        quick: true,
        repetitions: Some(2),
        seed: 1,
        progress: &|_, _| {},
        stop: &AtomicBool::new(false),
    };
    let paper = find(paper).expect("known");
    let item = paper.items.iter().find(|i| i.name == item).expect("known");
    (item.run)(&context).expect("runs")
}

#[test]
fn throughputs_of_the_network_processor() {
    for (table, claims) in [
        ("table-2", 7),
        ("table-3", 8),
        ("table-4", 3),
        ("threads", 3),
    ] {
        let findings = quick("network-processor", table);
        let failed: Vec<_> = findings.claims.iter().filter(|c| !c.held).collect();
        assert_eq!(findings.claims.len(), claims, "{table}");
        assert!(failed.is_empty(), "{table}: {failed:#?}");
    }
}

#[test]
fn reordering_of_the_network_processor() {
    let findings = quick("network-processor", "table-1");
    assert_eq!(findings.claims.len(), 6);
    assert!(
        findings.claims.iter().all(|c| c.held),
        "{:#?}",
        findings.claims
    );
    assert!(
        findings
            .comparisons
            .iter()
            .all(|c| c.printed.is_some() && c.ours.is_finite())
    );
}

#[test]
fn a_stop_is_obeyed() {
    let context = Context {
        quick: true,
        repetitions: None,
        seed: 1,
        progress: &|_, _| {},
        stop: &AtomicBool::new(true),
    };
    let item = &find("network-processor").expect("known").items[0];
    assert!(matches!(
        (item.run)(&context),
        Err(ExperimentError::Stopped)
    ));
}
