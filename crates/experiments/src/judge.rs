//! Judges claims by the measured quantities.

use crate::Claim;
use crate::data::{ClaimFile, Combine, Operand, Test, combinations, fill};
use crate::interval::{Interval, Value};
use crate::quantity::{Quantities, Quantity};
use crate::verdict::Verdict;

/// Maximum number of cells named in the detail of a claim.
const MAX_CELLS_NAMED: usize = 6;

/// Said of a claim that a quick run would fail.
const QUICK_FAILS: &str = "fails in this quick run, which decides no failure";

/// Placeholders and the words that replace them.
type Words = [(String, String)];

/// Judges the claims of one item.
pub(crate) fn judge(claims: &[ClaimFile], measured: &Quantities, quick: bool) -> Vec<Claim> {
    let judged = claims.iter().flat_map(|claim| {
        let each = combinations(&claim.each);
        let one = |words: Vec<(String, String)>| judge_one(claim, &words, measured, quick);
        each.into_iter().filter_map(one).collect::<Vec<_>>()
    });
    judged.collect()
}

/// One test of one cell.
struct Part {
    /// Index of the test in the claim.
    test: usize,
    cell: String,
    interval: Interval,
    printed: Option<f64>,
    verdict: Verdict,
    /// Distance from the nearer bound.
    margin: f64,
    /// Why the test has no valid criterion with this printed number.
    refused: Option<String>,
    /// It is about a ratio or difference of numbers of which one is far from the printed one.
    far: bool,
}

/// `None` if a quick run measured nothing that the claim is about; in a full run, the claim is then undecided.
fn judge_one(
    claim: &ClaimFile,
    words: &Words,
    measured: &Quantities,
    quick: bool,
) -> Option<Claim> {
    let mut parts = Vec::new();
    for (number, test) in claim.tests.iter().enumerate() {
        for more in combinations(&test.all) {
            let words: Vec<_> = words.iter().cloned().chain(more).collect();
            for mut part in parts_of(test, &words, claim.printed, measured) {
                part.test = number;
                parts.push(part);
            }
        }
    }
    if parts.is_empty() && quick {
        return None;
    }
    let found = Verdict::all(parts.iter().map(|part| part.verdict));
    // A smaller grid and shorter runs may miss what the full run shows.
    let only_quick = quick && found == Verdict::Failed;
    let verdict = if only_quick {
        Verdict::Undecided
    } else {
        found
    };
    let by_clarity = |a: &&Part, b: &&Part| {
        let key = |part: &Part| (part.verdict, part.test);
        key(a).cmp(&key(b)).then(a.margin.total_cmp(&b.margin))
    };
    let worst = parts.iter().min_by(by_clarity);
    let printed = claim.printed.or_else(|| worst?.printed);
    let ours = worst.map_or(Interval::unknown(f64::NAN), |part| part.interval);
    let mut text = fill(&claim.text, words);
    if let Some(printed) = printed {
        text = text.replace("{printed}", &printed.to_string());
    }
    Some(Claim {
        id: fill(&claim.id, words).replace(' ', "-"),
        text,
        source: claim.source.clone(),
        printed,
        ours: ours.value,
        interval: ours.ends(),
        verdict,
        basis: claim.basis_with(words),
        by_ratio_only: verdict == Verdict::Held && parts.iter().any(|part| part.far),
        criterion: claim.criterion.clone(),
        why: claim
            .why
            .as_ref()
            .filter(|_| verdict == Verdict::Failed)
            .map(|why| why.text.clone()),
        detail: match (only_quick, detail(&parts, worst)) {
            (true, Some(more)) => Some(format!("{QUICK_FAILS}; {more}")),
            (true, None) => Some(QUICK_FAILS.to_owned()),
            (false, detail) => detail,
        },
    })
}

/// The tests that result from one [`Test`] by replacing its placeholders.
fn parts_of(test: &Test, words: &Words, printed: Option<f64>, measured: &Quantities) -> Vec<Part> {
    let Some((name, steps)) = test.falling.iter().next() else {
        let cell = fill(&test.cell, words);
        return cells(test, &cell, test.minus.as_ref(), words, printed, measured);
    };
    let steps = steps.windows(2).flat_map(|pair| {
        let at = |n: usize| {
            let step = [(name.clone(), pair[n].to_string())];
            fill(&fill(&test.cell, words), &step)
        };
        let next = Operand {
            cell: Some(at(1)),
            measure: None,
        };
        cells(test, &at(0), Some(&next), words, printed, measured)
    });
    steps.collect()
}

/// One test for each matching cell.
fn cells(
    test: &Test,
    cell: &str,
    minus: Option<&Operand>,
    words: &Words,
    printed: Option<f64>,
    measured: &Quantities,
) -> Vec<Part> {
    let measure = fill(&test.measure, words);
    let matching = measured.matching(cell, &measure);
    if let Some(combine) = test.combine {
        return of_all(combine, test, cell, minus, words, printed, measured);
    }
    let of_cell = |(quantity, star): &(&Quantity, String)| {
        let other = |operand: &Operand| {
            let cell = operand.cell.as_deref().unwrap_or(cell);
            let cell = fill(cell, words).replace('*', star);
            let measure = fill(operand.measure.as_deref().unwrap_or(&measure), words);
            measured.get(&cell, &measure)
        };
        let mut value = quantity.value.clone();
        let mut compared = Vec::new();
        if let Some(operand) = minus {
            let other = other(operand)?;
            value = value.minus(&other.value);
            compared.push(other);
        }
        if let Some(operand) = &test.over {
            let other = other(operand)?;
            value = value.over(&other.value);
            compared.push(other);
        }
        let far = !compared.is_empty()
            && compared
                .into_iter()
                .chain([*quantity])
                .any(Quantity::is_far);
        let printed = printed.or(quantity.printed.map(|(value, _)| value));
        let mut part = part(test, &quantity.cell, &value, printed);
        part.far = far;
        if let Some(instead) = &test.or {
            let cell = fill(&instead.cell, words).replace('*', star);
            let others = cells(
                instead,
                &cell,
                instead.minus.as_ref(),
                words,
                None,
                measured,
            );
            let others = others.iter().map(|part| part.verdict);
            part.verdict = Verdict::any(others.chain([part.verdict]));
        }
        Some(part)
    };
    matching.iter().filter_map(of_cell).collect()
}

/// The test of the combination of all matching cells.
fn of_all(
    combine: Combine,
    test: &Test,
    cell: &str,
    minus: Option<&Operand>,
    words: &Words,
    printed: Option<f64>,
    measured: &Quantities,
) -> Vec<Part> {
    let measure = fill(&test.measure, words);
    let made_of = |operand: &Operand| {
        let cell = fill(operand.cell.as_deref().unwrap_or(cell), words);
        let measure = fill(operand.measure.as_deref().unwrap_or(&measure), words);
        combined(combine, &measured.matching(&cell, &measure))
    };
    let matching = measured.matching(cell, &measure);
    let first = matching.first().and_then(|(quantity, _)| quantity.printed);
    let printed = printed.or(first.map(|(value, _)| value));
    let value = || {
        let mut value = combined(combine, &matching)?;
        if let Some(operand) = minus {
            value = value.minus(&made_of(operand)?);
        }
        if let Some(operand) = &test.over {
            value = value.over(&made_of(operand)?);
        }
        Some(value)
    };
    let compares = minus.is_some() || test.over.is_some();
    let value = value().map(|value| Part {
        far: compares && matching.iter().any(|(quantity, _)| quantity.is_far()),
        ..part(test, cell, &value, printed)
    });
    value.into_iter().collect()
}

fn part(test: &Test, cell: &str, value: &Value, printed: Option<f64>) -> Part {
    let interval = value.judged();
    let (verdict, margin, refused) = match test.range(printed) {
        Ok(range) => (range.judge(interval), range.margin(interval.value), None),
        Err(refused) => (Verdict::Undecided, f64::NAN, Some(refused)),
    };
    Part {
        test: 0,
        cell: cell.to_owned(),
        interval,
        printed,
        verdict,
        margin,
        refused,
        far: false,
    }
}

/// `None` without numbers, and for the minimum or maximum of random numbers, for which no interval is known.
fn combined(combine: Combine, all: &[(&Quantity, String)]) -> Option<Value> {
    let all: Vec<&Value> = all.iter().map(|(quantity, _)| &quantity.value).collect();
    if all.is_empty() {
        return None;
    }
    if combine == Combine::Mean {
        return Some(Value::mean(&all));
    }
    let exact = all.iter().map(|value| match value {
        Value::Exact(number) => Some(*number),
        _ => None,
    });
    let numbers: Vec<f64> = exact.collect::<Option<_>>()?;
    let extreme = match combine {
        Combine::Least => f64::min,
        _ => f64::max,
    };
    numbers.into_iter().reduce(extreme).map(Value::Exact)
}

/// The cell of the number, and the other cells in which the claim did not hold; nothing for a claim about one cell.
fn detail(parts: &[Part], worst: Option<&Part>) -> Option<String> {
    let Some(worst) = worst else {
        return Some("none of the quantities it is about was measured".to_owned());
    };
    if let Some(refused) = parts.iter().find_map(|part| part.refused.as_ref()) {
        return Some(format!("not judged: {refused}"));
    }
    if parts.len() < 2 {
        return None;
    }
    let with = |verdict| parts.iter().filter(move |part| part.verdict == verdict);
    let held = with(Verdict::Held).count();
    let mut text = format!("{}; held in {held} of {}", worst.cell, parts.len());
    for verdict in [Verdict::Failed, Verdict::Undecided] {
        let mut cells: Vec<&str> = with(verdict).map(|part| part.cell.as_str()).collect();
        let left_out = cells.len().saturating_sub(MAX_CELLS_NAMED);
        cells.truncate(MAX_CELLS_NAMED);
        if cells.is_empty() {
            continue;
        }
        text.push_str(&format!("; {}: {}", verdict.name(), cells.join("; ")));
        if left_out > 0 {
            text.push_str(&format!(" and {left_out} more"));
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Basis;

    fn claim(text: &str) -> ClaimFile {
        toml::from_str(&format!(
            "id = 'a'\ntext = 'b'\nsource = 'section 1'\n{text}"
        ))
        .expect("reads")
    }

    fn measured() -> Quantities {
        let mut all = Quantities::default();
        for (sorter, numbers) in [("none", [10.0, 11.0, 12.0]), ("srpic", [5.0, 5.5, 6.1])] {
            for (streams, factor) in [(1, 1.0), (5, 3.0)] {
                let values = numbers.map(|n| n * factor);
                all.show(
                    &format!("{streams} streams, {sorter}"),
                    "ACKs",
                    Value::of(values),
                );
            }
        }
        all.show("noise, none", "ACKs", Value::of([1.0, 9.0, 2.0]));
        all.show("noise, srpic", "ACKs", Value::of([2.0, 1.0, 8.0]));
        all
    }

    fn verdict(text: &str) -> Verdict {
        judge(&[claim(text)], &measured(), false)[0].verdict
    }

    #[test]
    fn cells_are_compared_if_their_stars_match_the_same_text() {
        let text = "tests = [{ cell = '*, srpic', measure = 'ACKs', over = { cell = '*, none' }, below = 0.7 }]";
        let claims = judge(&[claim(text)], &measured(), false);
        assert_eq!(claims[0].verdict, Verdict::Undecided);
        let told = claims[0].detail.as_deref();
        let expected = "noise, srpic; held in 2 of 3; undecided: noise, srpic";
        assert_eq!(told, Some(expected));
        let text = text.replace("0.7", "0.3");
        assert_eq!(verdict(&text), Verdict::Failed);
    }

    #[test]
    fn one_claim_for_each_word() {
        let text = "tests = [{ cell = '{n} streams, none', measure = 'ACKs', above = 9 }]\nfor = { n = [1, 5] }";
        let mut spec = claim(text);
        spec.id = "a/{n}".to_owned();
        let claims = judge(&[spec], &measured(), false);
        let ids: Vec<_> = claims.iter().map(|c| (c.id.as_str(), c.verdict)).collect();
        assert_eq!(ids, [("a/1", Verdict::Undecided), ("a/5", Verdict::Held)]);
        assert_eq!((claims[1].ours, claims[1].detail.as_deref()), (33.0, None));
    }

    #[test]
    fn an_order_is_tested_between_neighbours() {
        let order = "tests = [{ cell = '{n} streams, none', measure = 'ACKs', falling = { n = [5, 1] }, above = 0 }]";
        assert_eq!(verdict(order), Verdict::Held);
        assert_eq!(verdict(&order.replace("[5, 1]", "[1, 5]")), Verdict::Failed);
    }

    #[test]
    fn an_alternative_is_sufficient() {
        let text = "tests = [{ cell = '1 streams, *', measure = 'ACKs', above = 20, or = { cell = '1 streams, *', measure = 'ACKs', below = 20 } }]";
        assert_eq!(verdict(text), Verdict::Held);
    }

    #[test]
    fn the_minimum_of_random_numbers_decides_nothing() {
        let text =
            "tests = [{ cell = '*, none', measure = 'ACKs', combine = 'least', below = 20 }]";
        assert_eq!(verdict(text), Verdict::Undecided);
        let mean = text.replace("least", "mean").replace("20", "100");
        assert_eq!(verdict(&mean), Verdict::Held);
    }

    #[test]
    fn a_quick_run_fails_nothing() {
        let spec = claim("tests = [{ cell = '1 streams, none', measure = 'ACKs', below = 5 }]");
        let full = judge(std::slice::from_ref(&spec), &measured(), false);
        let quick = judge(&[spec], &measured(), true);
        assert_eq!(full[0].verdict, Verdict::Failed);
        assert_eq!(quick[0].verdict, Verdict::Undecided);
        assert_eq!(quick[0].detail.as_deref(), Some(QUICK_FAILS));
    }

    #[test]
    fn a_ratio_of_numbers_far_from_the_printed_ones_holds_by_ratio_only() {
        let spec = claim(
            "tests = [{ cell = '1 streams, srpic', measure = 'ACKs', over = { cell = '1 streams, none' }, below = 0.7 }]",
        );
        let mut all = measured();
        all.print("1 streams, none", "ACKs", (12.0, None));
        let near = judge(std::slice::from_ref(&spec), &all, false);
        assert_eq!(
            (near[0].verdict, near[0].by_ratio_only),
            (Verdict::Held, false)
        );
        all.print("1 streams, none", "ACKs", (100.0, None));
        assert!(judge(&[spec], &all, false)[0].by_ratio_only);
    }

    #[test]
    fn a_variant_is_named_by_its_word() {
        let spec = claim(
            "for = { n = [1, 5] }\nvariants = ['5']\ntests = [{ cell = '{n} streams, none', measure = 'ACKs', above = 9 }]",
        );
        let bases: Vec<_> = judge(&[spec], &measured(), false)
            .iter()
            .map(|claim| claim.basis)
            .collect();
        assert_eq!(bases, [Basis::Prediction, Basis::Variant]);
    }

    #[test]
    fn a_quick_run_omits_claims_about_unmeasured_cells() {
        let spec = claim("tests = [{ cell = 'nowhere', measure = 'ACKs', above = 9 }]");
        assert!(judge(std::slice::from_ref(&spec), &measured(), true).is_empty());
        assert_eq!(
            judge(&[spec], &measured(), false)[0].verdict,
            Verdict::Undecided
        );
    }
}
