//! Distributions from files: values with their cumulative probabilities, as ns-2, ns-3 and htsim read them.
//!
//! Each line has a value and the probability that a variate is not larger, from 0 to 1, or in percent if the last line
//! says 100. Neither decreases; the last probability is 1. A column between the two is ignored (files of ns-2 have one).
//! Lines that begin with `#` are comments. Between two lines the distribution is linear; below the first one all of its
//! probability lies at its value.

use std::sync::Arc;

use crate::context::{Context, Kind};
use crate::error::Problem;
use crate::schema::Form;
use crate::trace::shown;
use crate::value::Node;

/// A distribution from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Cumulative {
    /// The name of its file.
    pub name: String,
    /// Values and the probabilities of variates up to them, 0 to 1; neither decreases.
    pub points: Arc<[(f64, f64)]>,
}

impl Cumulative {
    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// What is wrong, with file and line, and what was expected.
    pub fn parse(name: &str, text: &str) -> Result<Self, (String, String)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |expected: &str| {
                let what = format!("{name}:{number}: {}", shown(line));
                Err((what, expected.to_owned()))
            };
            let Some(point) = point(line) else {
                return wrong("a value and its cumulative probability");
            };
            let last = points.last().copied().unwrap_or((0.0, 0.0));
            if point.0 < last.0 || point.1 < last.1 {
                return wrong("values and probabilities that do not decrease");
            }
            points.push(point);
        }
        let scale = match points.last() {
            Some((_, 1.0)) => 1.0,
            Some((_, 100.0)) => 100.0,
            Some((_, last)) => {
                return Err((
                    format!("{name}: the last cumulative probability is {last}"),
                    "1, or 100 in percent".to_owned(),
                ));
            }
            None => {
                return Err((
                    format!("{name}: a distribution without a line"),
                    "a value and its cumulative probability on each line".to_owned(),
                ));
            }
        };
        points
            .iter_mut()
            .for_each(|(_, probability)| *probability /= scale);
        Ok(Cumulative {
            name: name.to_owned(),
            points: points.into(),
        })
    }

    /// The value that a share of all variates does not exceed, for a share from 0 to 1.
    pub fn quantile(&self, share: f64) -> f64 {
        let at = self
            .points
            .partition_point(|(_, probability)| *probability < share);
        let Some(&(value, probability)) = self.points.get(at) else {
            return self.points.last().map_or(0.0, |(value, _)| *value);
        };
        let before = at.checked_sub(1).and_then(|at| self.points.get(at));
        let Some(&(below, less)) = before else {
            return value;
        };
        below + (value - below) * (share - less) / (probability - less)
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        let first = self
            .points
            .first()
            .map_or(0.0, |(value, probability)| value * probability);
        let pairs = self.points.windows(2);
        let parts = pairs.map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1));
        first + parts.sum::<f64>()
    }
}

/// First and last of two or three numbers, which are neither negative nor infinite.
fn point(line: &str) -> Option<(f64, f64)> {
    let words: Vec<&str> = line
        .split([' ', '\t', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let (first, last) = match words.as_slice() {
        [first, last] | [first, _, last] => (first, last),
        _ => return None,
    };
    let number = |word: &str| {
        word.parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    Some((number(first)?, number(last)?))
}

/// The name of a file with a distribution, relative to the scenario.
#[derive(Clone, Copy, Debug)]
pub enum CumulativeFile {}

impl Kind for CumulativeFile {
    type Value = Cumulative;
    const FORM: Form = Form::Other("name of a file, relative to the scenario");
    fn read(node: &Node, context: &Context<'_>) -> Result<Cumulative, Problem> {
        let (name, text) = context.read_file(node)?;
        let parsed = Cumulative::parse(&name, &text);
        parsed.map_err(|(what, expected)| Problem::new(&node.place, what, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_linear_between_its_lines() {
        let sizes = Cumulative::parse("s", "# bytes\n1000 0.2\n2000, 0.6\n10000\t1\n").unwrap();
        let at = |share| sizes.quantile(share);
        assert_eq!(
            (at(0.0), at(0.2), at(0.4), at(1.0)),
            (1000.0, 1000.0, 1500.0, 10_000.0)
        );
        // 0.2 * 1000 + 0.4 * 1500 + 0.4 * 6000.
        assert!((sizes.mean() - 3200.0).abs() < 1e-9);
    }

    #[test]
    fn percent_and_a_middle_column_are_understood() {
        let percent = Cumulative::parse("s", "0 0\n100 50\n300 100").unwrap();
        assert_eq!(percent.quantile(0.75), 200.0);
        let ns2 = Cumulative::parse("s", "6 1 0.15\n13 1 1").unwrap();
        assert_eq!(ns2.quantile(0.1), 6.0);
        // A step: all between 0.2 and 0.9 is 5.
        let step = Cumulative::parse("s", "1 0.2\n5 0.2\n5 0.9\n9 1").unwrap();
        assert_eq!((step.quantile(0.2), step.quantile(0.5)), (1.0, 5.0));
        assert!((step.quantile(0.95) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn errors_have_file_and_line() {
        let wrong = |text| Cumulative::parse("web.cdf", text).unwrap_err().0;
        assert_eq!(wrong("1 0.5\nx 1\n"), "web.cdf:2: other text");
        assert_eq!(wrong("1 0.5\n2 0.4\n"), "web.cdf:2: \"2 0.4\"");
        assert_eq!(
            wrong("1 0.5\n"),
            "web.cdf: the last cumulative probability is 0.5"
        );
        assert_eq!(wrong("1 nan\n"), "web.cdf:1: other text");
    }
}
