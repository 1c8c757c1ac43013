//! Sums over flows that are not reported say what the flows would say.

use inorder_analysis::compare::{Side, compare};
use inorder_analysis::measures::MEASURES;
use inorder_analysis::{Analysis, Totals, headline};

use crate::sample;

/// The same analysis, with only the first flows reported.
fn bounded(whole: &Analysis, kept: usize) -> Analysis {
    let mut part = whole.clone();
    let rest = part.flows.split_off(kept);
    part.summed = Totals::of(&rest);
    part
}

#[test]
fn the_sums_of_a_flow_are_its_part_in_every_measure() {
    for flow in &sample::analysis("sums.pcap", 3).flows {
        let only = Analysis {
            summed: Totals::of([flow]),
            ..Analysis::default()
        };
        assert_eq!(only.summed.measures.all().len(), MEASURES.len());
        for measure in MEASURES {
            let sums = measure.of_summed(&only);
            let Some(part) = measure.of_flow(flow) else {
                assert_eq!(sums.units, 0, "{}", measure.name);
                continue;
            };
            assert_eq!(sums.units, 1, "{}", measure.name);
            // Sums over late packets are rounded to whole packets and nanoseconds.
            let is = |sum: f64, part: f64| {
                assert!(
                    (sum - part).abs() <= 1e-9 * part.abs() + 1e-6,
                    "{}: {sum} {part}",
                    measure.name
                );
            };
            is(sums.of, part.of);
            is(sums.per, part.per);
            is(sums.of_per / part.per, part.of);
            is(
                sums.of_of / part.of.max(1.0),
                part.of * part.of / part.of.max(1.0),
            );
            is(sums.per_per / part.per, part.per);
        }
    }
}

#[test]
fn totals_and_headline_do_not_depend_on_how_many_flows_are_reported() {
    let whole = sample::analysis("whole.pcap", 9);
    for kept in [1, 2, 5, 11] {
        let part = bounded(&whole, kept);
        assert_eq!(part.totals(), whole.totals());
        assert_eq!(headline(&part).to_string(), headline(&whole).to_string());
    }
}

#[test]
fn a_comparison_has_the_same_interval_whether_flows_are_reported_or_summed() {
    let (before, after) = (sample::analysis("before", 4), sample::analysis("after", 9));
    let side = |analysis: &Analysis| Side::of_analyses("side", std::slice::from_ref(analysis));
    let whole = compare(&side(&before), &side(&after)).unwrap();
    let part = compare(&side(&bounded(&before, 1)), &side(&bounded(&after, 3))).unwrap();
    // Verdicts are not compared: a difference of 0 may be one of rounding.
    for (whole, part) in whole.changes.iter().zip(&part.changes) {
        assert_eq!(
            (whole.before.1, whole.after.1),
            (part.before.1, part.after.1)
        );
        let value = whole.before.0.unwrap_or(0.0).abs() + whole.after.0.unwrap_or(0.0).abs();
        let (Some(whole), Some(part)) = (whole.difference, part.difference) else {
            continue;
        };
        // Differences of squares lose half of the digits.
        let is = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * value;
        assert!(
            is(whole.mean, part.mean) && is(whole.half_width, part.half_width),
            "{whole:?} {part:?}"
        );
    }
}
