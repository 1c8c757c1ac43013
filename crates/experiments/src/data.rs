//! A paper as data: the contents of `experiments/PAPER/paper.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::claim::Basis;
use crate::verdict::Range;

/// The words that replace a placeholder such as `{tcp}`, one after the other.
pub(crate) type Choices = BTreeMap<String, Vec<Word>>;

/// A paper's file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperFile {
    /// Authors, title, publication and year.
    pub title: String,
    /// Its tables and figures.
    #[serde(rename = "item")]
    pub items: Vec<ItemFile>,
}

/// A table or figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemFile {
    pub name: String,
    pub about: String,
    /// What readers must know: definitions, and assumptions where the paper gives no information.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The numbers in the cells' names over which figures are drawn; without any, each cell is a row.
    #[serde(default)]
    pub axes: Vec<AxisFile>,
    /// `reduction`, which does the measuring, and its settings.
    pub run: toml::Table,
    /// Numbers the paper prints.
    #[serde(default, rename = "printed")]
    pub printed: Vec<PrintedFile>,
    /// The claims of the paper.
    #[serde(default, rename = "claim")]
    pub claims: Vec<ClaimFile>,
}

/// A number in the cells' names that a figure has as its axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AxisFile {
    /// The part of the name between commas, with `#` for the number: `RI #`.
    pub label: String,
    /// The quantity, with its unit.
    pub title: String,
}

/// A number the paper prints.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrintedFile {
    /// The cell, or a pattern with one `*`.
    pub cell: String,
    pub measure: String,
    pub value: f64,
    pub half_width: Option<f64>,
}

/// A statement of the paper; one claim for each combination in `for`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimFile {
    /// Unique within the paper.
    pub id: String,
    /// The statement, with its criterion and unit; `{printed}` is replaced by the printed number.
    pub text: String,
    /// Table, figure or section of the paper with the statement.
    pub source: String,
    /// The printed number, if the measured quantity does not include it.
    pub printed: Option<f64>,
    /// One claim for each combination of these.
    #[serde(default, rename = "for")]
    pub each: Choices,
    /// What its verdict rests on.
    #[serde(default)]
    pub basis: Basis,
    /// Words of `for` with which it is about a variant that the paper did not use.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Why its criterion is as it is, where that is not plain.
    pub criterion: Option<String>,
    /// The conditions; all of them must hold.
    pub tests: Vec<Test>,
    /// The experiment that was made to find out why it fails.
    pub why: Option<WhyFile>,
}

/// An experiment on why a claim fails.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyFile {
    /// What was changed, and what came of it.
    pub text: String,
    /// The change: overrides of the item's scenario, or of its network processors (`flows=32`, `arbitration=fifo`). Empty if
    /// none can show it.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A measured quantity and its admissible values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    pub measure: String,
    /// The cell, or a pattern with one `*`, which tests every matching cell.
    pub cell: String,
    /// Divisor: the test is then about a ratio of means.
    pub over: Option<Operand>,
    /// Subtrahend: the test is then about a difference.
    pub minus: Option<Operand>,
    /// How to combine all matching cells into one number, instead of testing each.
    pub combine: Option<Combine>,
    /// One test for each combination of these.
    #[serde(default)]
    pub all: Choices,
    /// One placeholder with its words in order: the test is about each cell minus the next one.
    #[serde(default)]
    pub falling: Choices,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// Maximum distance from the printed number as a share of it: 0.05 is 5 %.
    pub within: Option<f64>,
    /// Maximum distance from the printed number, in its own unit.
    pub within_points: Option<f64>,
    /// Alternative conditions, with the same placeholders.
    pub or: Option<Box<Test>>,
}

/// Another measured quantity; parts that are missing are taken from the test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operand {
    /// A `*` is replaced by what the `*` of the test's cell matched.
    pub cell: Option<String>,
    pub measure: Option<String>,
}

/// How to combine several cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Combine {
    /// Their mean, for each repetition.
    Mean,
    /// The minimum of numbers that are not random (a minimum of random numbers measures their scatter).
    Least,
    /// The maximum of such numbers.
    Greatest,
}

/// A word or a number in a list of choices.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Word {
    Text(String),
    Whole(i64),
    Number(f64),
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl PaperFile {
    /// The errors in the claims that can be found before anything is measured.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut ids = BTreeSet::new();
        for claim in self.items.iter().flat_map(|item| &item.claims) {
            let wrong = |what: String| format!("claim {}: {what}", claim.id);
            if claim.tests.is_empty() {
                return Err(wrong("no tests".to_owned()));
            }
            let words = || claim.each.values().flatten().map(ToString::to_string);
            if let Some(other) = claim.variants.iter().find(|v| !words().any(|w| w == **v)) {
                return Err(wrong(format!("the variant {other:?} is no word of `for`")));
            }
            for words in combinations(&claim.each) {
                let id = fill(&claim.id, &words);
                if id.contains('{') || !ids.insert(id) {
                    return Err(wrong(
                        "its id is another's, or has a placeholder left".to_owned(),
                    ));
                }
            }
            claim
                .tests
                .iter()
                .try_for_each(|test| test.check(claim.printed).map_err(wrong))?;
        }
        Ok(())
    }
}

impl ClaimFile {
    /// What the claim rests on with these words.
    pub(crate) fn basis_with(&self, words: &[(String, String)]) -> Basis {
        let varies = words.iter().any(|(_, word)| self.variants.contains(word));
        if varies { Basis::Variant } else { self.basis }
    }
}

impl Test {
    fn check(&self, printed: Option<f64>) -> Result<(), String> {
        if self.falling.len() > 1 || (self.falling.len() == 1 && self.minus.is_some()) {
            return Err("`falling` takes one placeholder, and no `minus`".to_owned());
        }
        if self.combine.is_some() && self.or.is_some() {
            return Err("`combine` takes no `or`".to_owned());
        }
        let needs_printed = self.within.is_some() || self.within_points.is_some();
        // A printed number may be given with the quantity; the tolerance is then checked when the claim is judged.
        if !needs_printed || printed.is_some() {
            self.range(printed)?;
        }
        self.or.as_ref().map_or(Ok(()), |or| or.check(printed))
    }

    /// The admissible values for this printed number, or an error if the claim would be meaningless.
    pub(crate) fn range(&self, printed: Option<f64>) -> Result<Range, String> {
        let mut range = Range::default();
        if let Some(at) = self.above {
            range = range.from(at, false);
        }
        if let Some(at) = self.at_least {
            range = range.from(at, true);
        }
        if let Some(at) = self.below {
            range = range.until(at, false);
        }
        if let Some(at) = self.at_most {
            range = range.until(at, true);
        }
        if self.within.is_some() || self.within_points.is_some() {
            let centre = printed.ok_or("`within` needs a printed number")?;
            let distances = [self.within.map(|w| w * centre.abs()), self.within_points];
            let distance = distances
                .into_iter()
                .flatten()
                .fold(f64::INFINITY, f64::min);
            if distance >= centre.abs() {
                return Err(format!(
                    "the tolerance {distance} is as wide as the printed {centre}"
                ));
            }
            range = range.around(centre, distance);
        }
        if range.is_everything() {
            Err("no bound: the claim could not fail".to_owned())
        } else if range.is_empty() {
            Err("no value satisfies all bounds: the claim could not hold".to_owned())
        } else {
            Ok(range)
        }
    }
}

/// Every combination of words, as pairs of placeholder and word.
pub(crate) fn combinations(choices: &Choices) -> Vec<Vec<(String, String)>> {
    choices
        .iter()
        .fold(vec![Vec::new()], |combined, (name, words)| {
            let with = |so_far: &Vec<(String, String)>| {
                let so_far = so_far.clone();
                words.iter().map(move |word| {
                    let mut pairs = so_far.clone();
                    pairs.push((name.clone(), word.to_string()));
                    pairs
                })
            };
            combined
                .iter()
                .flat_map(|so_far| with(so_far).collect::<Vec<_>>())
                .collect()
        })
}

/// A text with its placeholders replaced.
pub(crate) fn fill(text: &str, words: &[(String, String)]) -> String {
    words.iter().fold(text.to_owned(), |text, (name, word)| {
        text.replace(&format!("{{{name}}}"), word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(text: &str) -> Test {
        toml::from_str(&format!("cell = 'a'\nmeasure = 'b'\n{text}")).expect("reads")
    }

    #[test]
    fn a_check_that_cannot_fail_or_hold_is_refused() {
        assert!(test("").range(None).is_err());
        assert!(test("above = 2\nbelow = 2").range(None).is_err());
        assert!(test("within = 0.1").range(None).is_err());
        // A tolerance of six points around 5.8 would accept a model without any reordering.
        assert!(test("within_points = 6").range(Some(5.8)).is_err());
        assert!(
            test("within_points = 6\nwithin = 0.5")
                .range(Some(5.8))
                .is_ok()
        );
        assert!(test("at_least = 2\nat_most = 2").range(None).is_ok());
    }

    #[test]
    fn a_paper_with_a_claim_that_cannot_fail_does_not_read() {
        let claim = |tests: &str| {
            let text = format!(
                "title = 'a'\n[[item]]\nname = 'b'\nabout = 'c'\nrun = {{}}\n\
                 [[item.claim]]\nid = 'd/{{n}}'\ntext = ''\nsource = 's'\nfor = {{ n = [1, 2] }}\ntests = [{tests}]"
            );
            toml::from_str::<PaperFile>(&text).expect("reads").check()
        };
        assert_eq!(claim("{ cell = 'a', measure = 'b', above = 1 }"), Ok(()));
        assert_eq!(claim("{ cell = 'a', measure = 'b', within = 0.1 }"), Ok(()));
        let everything = claim("{ cell = 'a', measure = 'b' }");
        assert!(everything.is_err_and(|what| what.starts_with("claim d/{n}: no bound")));
        assert!(claim("").is_err());
    }

    #[test]
    fn placeholders_are_filled_in_all_combinations() {
        let choices: Choices = toml::from_str("tcp = ['a', 'b']\nri = [4, 8]").expect("reads");
        let texts: Vec<String> = combinations(&choices)
            .iter()
            .map(|words| fill("{tcp} at {ri}", words))
            .collect();
        assert_eq!(texts.len(), 4);
        assert!(texts.contains(&"b at 4".to_owned()), "{texts:?}");
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let unknown = toml::from_str::<Test>("cell = 'a'\nmeasure = 'b'\natleast = 2");
        assert!(unknown.is_err_and(|error| error.to_string().contains("atleast")));
    }
}
