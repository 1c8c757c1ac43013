//! A paper as data: what `experiments/PAPER/paper.toml` may say.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::verdict::Range;

/// Words that a placeholder such as `{tcp}` stands for, one after the other.
pub(crate) type Choices = BTreeMap<String, Vec<Word>>;

/// A paper's file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperFile {
    /// Authors, title, where and when.
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
    /// What must be known to read the numbers: definitions, and what the paper does not tell and is assumed.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// `reduction`, which measures, and what that needs to know.
    pub run: toml::Table,
    /// Numbers the paper prints.
    #[serde(default, rename = "printed")]
    pub printed: Vec<PrintedFile>,
    /// What it claims.
    #[serde(default, rename = "claim")]
    pub claims: Vec<ClaimFile>,
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

/// A statement of the paper, or one for each of `for`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimFile {
    /// Unique within the paper.
    pub id: String,
    /// The statement, with its criterion and unit; `{printed}` stands for the printed number.
    pub text: String,
    /// Where the paper says so.
    pub source: String,
    /// The number it prints, where the measured quantity has none.
    pub printed: Option<f64>,
    /// One claim for each combination of these.
    #[serde(default, rename = "for")]
    pub each: Choices,
    /// What must hold; all of it.
    pub tests: Vec<Test>,
}

/// Something measured, and what it must be.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    pub measure: String,
    /// The cell, or a pattern with one `*`: then the test is one of every cell that matches.
    pub cell: String,
    /// Divided by this: a ratio of means.
    pub over: Option<Operand>,
    /// Less this.
    pub minus: Option<Operand>,
    /// What is made of all cells that match, in place of a test of each.
    pub combine: Option<Combine>,
    /// A test for each combination of these.
    #[serde(default)]
    pub all: Choices,
    /// One placeholder with its words in order: tested is each cell less the next.
    #[serde(default)]
    pub falling: Choices,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// At most this share of the printed number away from it: 0.05 is 5 %.
    pub within: Option<f64>,
    /// At most so much away from the printed number, in its own unit.
    pub within_points: Option<f64>,
    /// What will do instead, with the same placeholders.
    pub or: Option<Box<Test>>,
}

/// Another measured number; what is left out is as in the test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operand {
    /// A `*` stands for what that of the test's cell stands for.
    pub cell: Option<String>,
    pub measure: Option<String>,
}

/// What is made of several cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Combine {
    /// Their mean, repetition by repetition.
    Mean,
    /// The least of numbers in which nothing is random (the least of random ones says how much they scatter).
    Least,
    /// The greatest of such numbers.
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
    /// What is wrong with the claims, of what can be told before anything is measured.
    pub fn check(&self) -> Result<(), String> {
        let mut ids = BTreeSet::new();
        for claim in self.items.iter().flat_map(|item| &item.claims) {
            let wrong = |what| format!("claim {}: {what}", claim.id);
            if claim.tests.is_empty() {
                return Err(wrong("no tests".to_owned()));
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

impl Test {
    fn check(&self, printed: Option<f64>) -> Result<(), String> {
        if self.falling.len() > 1 || (self.falling.len() == 1 && self.minus.is_some()) {
            return Err("`falling` takes one placeholder, and no `minus`".to_owned());
        }
        if self.combine.is_some() && self.or.is_some() {
            return Err("`combine` takes no `or`".to_owned());
        }
        let needs_printed = self.within.is_some() || self.within_points.is_some();
        // A printed number may come with the quantity; the tolerance is then held against it when it is judged.
        if !needs_printed || printed.is_some() {
            self.range(printed)?;
        }
        self.or.as_ref().map_or(Ok(()), |or| or.check(printed))
    }

    /// The admissible values, beside this printed number; an error says why a claim of them would be none.
    pub fn range(&self, printed: Option<f64>) -> Result<Range, String> {
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

/// A text with its placeholders filled.
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
        // Six points about 5.8 admit a model without any reordering.
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
