//! Every item runs with its small grid and has results; a stopped run reports the stop.

use std::sync::atomic::AtomicBool;

use inorder_experiments::{Context, ExperimentError, Findings, Verdict, find};

fn quick(paper: &str, item: &str) -> Findings {
    let context = Context {
        quick: true,
        repetitions: Some(2),
        seed: 1,
        threads: 0,
        set: &[],
        progress: &|_, _| {},
        stop: &AtomicBool::new(false),
    };
    let paper = find(paper).expect("known");
    let item = paper.items.iter().find(|i| i.name == item).expect("known");
    item.run(&context).expect("runs")
}

/// Short runs decide claims about throughputs, which scatter little; no verdict contradicts the full runs.
#[test]
fn throughputs_of_the_network_processor() {
    for (table, claims, held) in [
        ("table-2", 7, 4),
        ("table-3", 8, 7),
        ("table-4", 7, 5),
        ("threads", 3, 3),
    ] {
        let findings = quick("network-processor", table);
        assert_eq!(findings.claims.len(), claims, "{table}");
        assert_eq!(failed(&findings), [""; 0], "{table}: {findings:#?}");
        let decided = findings.count(Verdict::Held);
        assert_eq!(decided, held, "{table}: {:#?}", findings.claims);
    }
}

/// Each scheme with each sender and sorter, and each repair alone and together.
#[test]
fn a_processor_in_the_path_of_tcp_and_two_repairs_together() {
    for (paper, item, cells) in [("processor", "schemes", 24), ("together", "both", 12)] {
        let findings = quick(paper, item);
        let goodput = findings.comparisons.iter();
        let goodput = goodput.filter(|c| c.measure == "goodput, Mbit/s");
        let goodput: Vec<_> = goodput.map(|c| (c.cell.as_str(), c.ours)).collect();
        assert_eq!(goodput.len(), cells, "{paper}");
        assert!(goodput.iter().all(|(_, ours)| *ours > 0.5), "{goodput:?}");
        assert_eq!(failed(&findings), [""; 0], "{paper}: {findings:#?}");
    }
}

#[test]
fn reordering_of_the_network_processor() {
    let findings = quick("network-processor", "table-1");
    assert_eq!(findings.claims.len(), 6);
    assert_eq!(failed(&findings), [""; 0], "{:#?}", findings.claims);
    let printed = findings.claims.iter().filter(|c| c.printed.is_some());
    assert_eq!(printed.count(), 6);
    assert!(
        findings
            .comparisons
            .iter()
            .all(|c| c.printed.is_some() && c.ours.is_finite())
    );
}

/// The claims about chains refer to existing cells.
#[test]
fn engines_over_hops() {
    let findings = quick("network-processor", "figure-9");
    assert_eq!((findings.claims.len(), findings.comparisons.len()), (5, 50));
}

fn failed(findings: &Findings) -> Vec<&str> {
    let claims = findings
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Failed);
    claims.map(|claim| claim.id.as_str()).collect()
}

#[test]
fn block_sizes_grow_as_in_the_figure() {
    let findings = quick("srpic", "figure-2");
    assert_eq!(findings.count(Verdict::Held), 5, "{findings:#?}");
    assert_eq!((findings.claims.len(), findings.comparisons.len()), (5, 18));
    let printed = findings.comparisons.iter().filter(|c| c.printed.is_some());
    assert_eq!(printed.count(), 7);
}

#[test]
fn the_sorter_adds_little_delay_to_an_interactive_flow() {
    let findings = quick("srpic", "figure-6");
    assert_eq!(failed(&findings), [""; 0], "{findings:#?}");
    assert_eq!(findings.claims.len(), 5);
    assert!(findings.comparisons.iter().all(|c| c.ours.is_finite()));
}

#[test]
fn cycles_are_counted_at_both_ends() {
    let findings = quick("srpic", "figure-5");
    assert_eq!(findings.claims.len(), 12);
    // Without reordering nothing is random, and the line is full after a few seconds; the paper has SACK off.
    for id in ["line-rate", "sender-same", "receiver-same"] {
        let id = format!("figure-5/{id}");
        let claim = findings.claims.iter().find(|claim| claim.id == id);
        let held = claim.is_some_and(|claim| claim.verdict == Verdict::Held);
        assert!(held, "{id}: {findings:#?}");
    }
}

/// The rows of a table are run and reported in pairs.
#[test]
fn a_table_of_pairs() {
    let findings = quick("srpic", "bursty-drops");
    assert_eq!((findings.claims.len(), findings.comparisons.len()), (1, 16));
    let detail = findings.claims[0].detail.as_deref().unwrap_or_default();
    assert!(detail.contains("of 2"), "{detail}");
}

#[test]
fn runs_stop_on_request() {
    let context = Context {
        quick: true,
        repetitions: None,
        seed: 1,
        threads: 0,
        set: &[],
        progress: &|_, _| {},
        stop: &AtomicBool::new(true),
    };
    let item = &find("network-processor").expect("known").items[0];
    assert!(matches!(item.run(&context), Err(ExperimentError::Stopped)));
}
