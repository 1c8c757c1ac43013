//! Figures 5 to 12: chains of ten hops.

use inorder_netproc::Config;

use super::printed::{compare, matches, printed};
use super::runs::{HOPS, Runs, chain, dupacks, late_by_three, reading, run_all};
use super::{Context, ExperimentError, Findings};
use crate::{Claim, Comparison};

/// Rows for 1, 5 and 10 hops of each configuration, beside what is printed of ten.
fn over_hops(item: &str, runs: &Runs, configs: &[(String, Config)]) -> Vec<Comparison> {
    let mut rows = Vec::new();
    for (name, _) in configs {
        for hop in [1, 5, HOPS as usize] {
            let cell = format!("{name}, {hop} hops");
            for (measure, ours) in [
                (
                    "reordering (duplicate ACKs), %",
                    reading(runs, name, hop, dupacks),
                ),
                (
                    "retransmission (late by three), %",
                    reading(runs, name, hop, late_by_three),
                ),
                (
                    "fast retransmits, %",
                    reading(runs, name, hop, |r| r.fast_retransmits),
                ),
                (
                    "duplicate ACKs from the third, %",
                    reading(runs, name, hop, |r| r.dupacks_from_third),
                ),
            ] {
                rows.push(Comparison::new(item, &cell, measure, None, ours));
            }
        }
    }
    rows
}

/// Runs chains and puts what the paper prints of ten hops beside them.
fn chains(
    context: &Context<'_>,
    item: &str,
    configs: &[(String, Config)],
    points: f64,
) -> Result<(Runs, Findings), ExperimentError> {
    let runs = run_all(context, configs)?;
    let mut findings = Findings {
        comparisons: over_hops(item, &runs, configs),
        ..Findings::default()
    };
    for cell in printed(&item.replace("figure-", "fig"))? {
        let Some((name, _)) = configs
            .iter()
            .find(|(name, config)| matches(&cell, name, config))
        else {
            continue;
        };
        let count = if cell.metric == "reorder" {
            dupacks
        } else {
            late_by_three
        };
        let ours = reading(&runs, name, cell.hops as usize, count);
        findings.comparisons.push(compare(item, &cell, ours));
        let text = format!(
            "{}, {} B: {} at ten hops, percent, within {points} points",
            cell.config, cell.bytes, cell.metric
        );
        let id = format!("{item}/{}/{}", name.replace(' ', "-"), cell.metric);
        let claim = Claim::within_points(&id, &text, cell.value, ours, points);
        let failed = !claim.held;
        findings
            .claims
            .push(if failed { claim.note(POOR) } else { claim });
    }
    Ok((runs, findings))
}

const POOR: &str = "predicted, not fitted; the paper's figures here depend on what it does not tell (order of service, concurrent flows, what a retransmission is)";

pub(super) fn figure_5(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let configs = [64, 512].map(|bytes| {
        (
            format!("contiguous {bytes} B"),
            chain("contiguous", bytes, 8, 8),
        )
    });
    let (runs, mut findings) = chains(context, "figure-5", &configs, 6.0)?;
    for (name, _) in &configs {
        let (first, last) = (
            reading(&runs, name, 1, dupacks),
            reading(&runs, name, HOPS as usize, dupacks),
        );
        let text = format!("{name}: reordering grows with the number of hops (percent at ten)");
        findings.claims.push(Claim::new(
            &format!("figure-5/grows/{}", name.replace(' ', "-")),
            &text,
            last,
            first.surely_below(&last),
        ));
    }
    Ok(findings)
}

pub(super) fn figure_7(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    allocations(context, "figure-7", 64)
}

pub(super) fn figure_8(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    allocations(context, "figure-8", 512)
}

/// global < local < strided <= contiguous.
fn allocations(context: &Context<'_>, item: &str, bytes: u16) -> Result<Findings, ExperimentError> {
    let configs =
        ["contiguous", "strided", "local", "global"].map(|s| (s.to_owned(), chain(s, bytes, 8, 8)));
    let (runs, mut findings) = chains(context, item, &configs, 6.0)?;
    let late = |name: &str| reading(&runs, name, HOPS as usize, late_by_three);
    for (lower, higher, strict) in [
        ("global", "local", true),
        ("local", "strided", true),
        ("strided", "contiguous", false),
    ] {
        let (low, high) = (late(lower), late(higher));
        // "Not more" fails only where it is surely more.
        let held = if strict {
            low.mean < high.mean
        } else {
            !high.surely_below(&low)
        };
        let relation = if strict { "less" } else { "not more" };
        let text = format!(
            "{lower} allocation retransmits {relation} than {higher} (percent of {lower} at ten hops; {higher}: {:.1})",
            high.mean
        );
        let claim = Claim::new(&format!("{item}/{lower}-{higher}"), &text, low, held);
        findings
            .claims
            .push(if held { claim } else { claim.note(POOR) });
    }
    Ok(findings)
}

pub(super) fn figure_9(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    shapes(context, "figure-9", 64, &[(8, 8), (4, 8), (3, 8), (2, 8)])
}

pub(super) fn figure_10(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    shapes(context, "figure-10", 512, &[(8, 8), (4, 8), (3, 8), (2, 8)])
}

pub(super) fn figure_11(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    shapes(context, "figure-11", 64, &[(8, 4), (4, 8), (8, 2), (4, 4)])
}

pub(super) fn figure_12(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    shapes(context, "figure-12", 512, &[(8, 4), (4, 8), (8, 2), (4, 4)])
}

/// The configuration that number `n` is compared with: the one before it, if that has more engines.
fn compared_with(shapes: &[(u32, u32)], n: usize) -> Option<usize> {
    let before = n.checked_sub(1)?;
    (shapes[before].0 > shapes[n].0).then_some(before)
}

/// The same number of threads, or fewer, on fewer engines: less retransmission.
fn shapes(
    context: &Context<'_>,
    item: &str,
    bytes: u16,
    shapes: &[(u32, u32)],
) -> Result<Findings, ExperimentError> {
    let configs: Vec<_> = shapes
        .iter()
        .map(|&(engines, threads)| {
            (
                format!("{engines}x{threads} strided"),
                chain("strided", bytes, engines, threads),
            )
        })
        .collect();
    let (runs, mut findings) = chains(context, item, &configs, 6.0)?;
    let late = |n: usize| reading(&runs, &configs[n].0, HOPS as usize, late_by_three);
    for n in 1..configs.len() {
        let Some(with) = compared_with(shapes, n) else {
            continue;
        };
        let (more, fewer) = (late(with), late(n));
        let text = format!(
            "{} retransmits less than {} (percent at ten hops; the latter {:.1})",
            configs[n].0, configs[with].0, more.mean
        );
        let held = fewer.mean < more.mean;
        let claim = Claim::new(
            &format!(
                "{item}/{}-{}",
                configs[n].0.replace(" strided", ""),
                configs[with].0.replace(" strided", "")
            ),
            &text,
            fewer,
            held,
        );
        findings
            .claims
            .push(if held { claim } else { claim.note(POOR) });
    }
    Ok(findings)
}
