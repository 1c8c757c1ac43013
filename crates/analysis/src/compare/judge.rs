//! What changed, and how sure that is.

use inorder_base::named;
use inorder_base::stats::{Estimate, Sampled, difference};
use inorder_report::Kind;

use super::read::{Cell, Observed, Side, Unreadable};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// A measure before and after.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The cell of a grid, or the capture of a folder; empty for everything together.
    pub cell: String,
    /// Name of the measure.
    pub measure: String,
    /// Its meaning.
    pub about: String,
    /// Unit of all values; empty for shares and counts.
    pub unit: String,
    /// Which says how values are printed.
    pub kind: Kind,
    /// Value and number of units before; no value if no unit has one.
    pub before: (Option<f64>, u64),
    /// Value and number of units after.
    pub after: (Option<f64>, u64),
    /// `after - before`; its half width is infinite if there are too few units.
    pub difference: Option<Estimate>,
    /// What follows.
    pub verdict: Verdict,
}

named! {
    /// What can be said of a change.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Verdict {
        /// The whole interval of the difference is on the good side.
        Better = "better",
        /// The whole interval is on the bad side.
        Worse = "worse",
        /// The interval does not contain 0, and neither side is the good one.
        Changed = "changed",
        /// The values are equal, in every run.
        Equal = "equal",
        /// The interval contains 0.
        Undecided = "undecided",
        /// There is no interval: fewer than two units on a side, or no value at all.
        TooLittle = "too-little-data",
    }
}

/// Two results side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The file before the change.
    pub before: String,
    /// The file after it.
    pub after: String,
    /// What the independent units are: `flows` or `runs`.
    pub units: &'static str,
    /// Every measure of every cell that both have.
    pub changes: Vec<Change>,
    /// Cells or captures that only one of them has.
    pub unmatched: Vec<String>,
}

/// Compares two results of the same kind.
///
/// # Errors
/// If one is an analysis and the other a simulation.
pub fn compare(before: &Side, after: &Side) -> Result<Comparison, Unreadable> {
    if before.units != after.units {
        return Err(Unreadable::kinds(before, after));
    }
    let mut changes = Vec::new();
    let mut unmatched = Vec::new();
    for cell in &before.cells {
        match find(after, &cell.label) {
            Some(later) => changes.extend(of_cell(cell, later)),
            None => unmatched.push(format!("{} ({})", cell.label, before.name)),
        }
    }
    let only_after = after
        .cells
        .iter()
        .filter(|cell| find(before, &cell.label).is_none());
    unmatched.extend(only_after.map(|cell| format!("{} ({})", cell.label, after.name)));
    // A folder beside a single capture: there is nothing to match.
    if !before.has_names() || !after.has_names() {
        unmatched.clear();
    }
    Ok(Comparison {
        before: before.name.clone(),
        after: after.name.clone(),
        units: before.units,
        changes,
        unmatched,
    })
}

fn find<'s>(side: &'s Side, label: &str) -> Option<&'s Cell> {
    side.cells.iter().find(|cell| cell.label == label)
}

fn of_cell<'c>(before: &'c Cell, after: &'c Cell) -> impl Iterator<Item = Change> + 'c {
    before.observed.iter().filter_map(|earlier| {
        let mut later = after.observed.iter();
        let later = later.find(|later| later.measure == earlier.measure)?;
        Some(change(&before.label, earlier, later))
    })
}

fn change(cell: &str, before: &Observed, after: &Observed) -> Change {
    let difference = estimate(before, after);
    Change {
        cell: cell.to_owned(),
        measure: before.measure.clone(),
        about: before.about.clone(),
        unit: before.unit.clone(),
        kind: before.kind,
        before: (sampled(before).map(|s| s.value), before.units()),
        after: (sampled(after).map(|s| s.value), after.units()),
        verdict: verdict(difference, before.more_is_worse),
        difference,
    }
}

/// The difference with its interval; `None` if one of them has no value.
fn estimate(before: &Observed, after: &Observed) -> Option<Estimate> {
    let is_paired = before.seeds == after.seeds && before.seeds.len() == before.pairs.len();
    if is_paired && before.seeds.len() > 1 {
        let pairs = before.pairs.iter().zip(&after.pairs);
        let differences: Vec<f64> = pairs.map(|(b, a)| a.0 - b.0).collect();
        return Some(Estimate::of_sample(&differences, CONFIDENCE));
    }
    Some(difference(&sampled(before)?, &sampled(after)?, CONFIDENCE))
}

fn sampled(observed: &Observed) -> Option<Sampled> {
    let sampled = Sampled::ratio_with(&observed.pairs, &observed.further)?;
    if !observed.is_share {
        return Some(sampled);
    }
    let of: f64 = observed.pairs.iter().map(|pair| pair.0).sum();
    let per: f64 = observed.pairs.iter().map(|pair| pair.1).sum();
    let (of, per) = (of + observed.further.of, per + observed.further.per);
    Some(sampled.with_variance_of_at_least((of + 1.0) / (per * per)))
}

fn verdict(difference: Option<Estimate>, more_is_worse: Option<bool>) -> Verdict {
    let Some((estimate, half)) = difference.and_then(|d| Some((d, d.half()?))) else {
        return Verdict::TooLittle;
    };
    if estimate.mean == 0.0 && half == 0.0 {
        return Verdict::Equal;
    }
    if estimate.covers(0.0) || half.is_nan() {
        return Verdict::Undecided;
    }
    match more_is_worse {
        None => Verdict::Changed,
        Some(more_is_worse) if more_is_worse == (estimate.mean > 0.0) => Verdict::Worse,
        Some(_) => Verdict::Better,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(pairs: &[(f64, f64)]) -> Observed {
        Observed {
            measure: "late".to_owned(),
            about: String::new(),
            unit: String::new(),
            kind: Kind::Share,
            more_is_worse: Some(true),
            is_share: true,
            pairs: pairs.to_vec(),
            further: inorder_base::stats::Moments::default(),
            seeds: Vec::new(),
        }
    }

    fn judged(before: &[(f64, f64)], after: &[(f64, f64)]) -> Verdict {
        change("", &share(before), &share(after)).verdict
    }

    #[test]
    fn a_clear_change_is_better_or_worse_and_one_flow_decides_nothing() {
        let bad = [(100.0, 1_000.0), (110.0, 1_000.0), (95.0, 1_000.0)];
        let good = [(1.0, 1_000.0), (0.0, 1_000.0), (2.0, 1_000.0)];
        assert_eq!(judged(&bad, &good), Verdict::Better);
        assert_eq!(judged(&good, &bad), Verdict::Worse);
        assert_eq!(judged(&bad, &bad), Verdict::Undecided);
        assert_eq!(judged(&bad[..1], &good[..1]), Verdict::TooLittle);
        assert_eq!(judged(&[], &good), Verdict::TooLittle);
    }

    #[test]
    fn equal_flows_do_not_make_few_packets_certain() {
        // One late packet of ten against none of ten, in two flows each: no variance between the flows.
        let (before, after) = ([(1.0, 10.0), (1.0, 10.0)], [(0.0, 10.0), (0.0, 10.0)]);
        assert_eq!(judged(&before, &after), Verdict::Undecided);
    }

    #[test]
    fn runs_of_the_same_seeds_are_compared_in_pairs() {
        let runs = |values: &[f64]| Observed {
            pairs: values.iter().map(|v| (*v, 1.0)).collect(),
            seeds: (0..values.len() as u64).collect(),
            is_share: false,
            ..share(&[])
        };
        // The runs differ by much, the change by little and always the same way.
        let (before, after) = (runs(&[10.0, 50.0, 90.0]), runs(&[11.0, 51.1, 91.0]));
        assert_eq!(change("", &before, &after).verdict, Verdict::Worse);
        assert_eq!(change("", &before, &before).verdict, Verdict::Equal);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Exchanging the sides exchanges better and worse, and changes nothing else.
        #[test]
        fn the_verdict_has_a_mirror_image(
            a in prop::collection::vec((0.0f64..50.0, 50.0f64..100.0), 0..6),
            b in prop::collection::vec((0.0f64..50.0, 50.0f64..100.0), 0..6),
        ) {
            let mirrored = match judged(&a, &b) {
                Verdict::Better => Verdict::Worse,
                Verdict::Worse => Verdict::Better,
                same => same,
            };
            prop_assert_eq!(judged(&b, &a), mirrored);
        }
    }
}
