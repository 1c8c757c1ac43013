//! The numbers measured for an item, by cell and measure; tables show them and claims are judged by them.

use std::collections::HashMap;

use crate::interval::Value;
use crate::magnitude::is_far;

/// One measured number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    /// The cell of the grid: `S-Sender, 1 streams, 0.2 %, srpic`.
    pub cell: String,
    /// The measured quantity, with its unit: `throughput, Mb/s`.
    pub measure: String,
    /// Our result.
    pub value: Value,
    /// The printed value, with the half width of its interval if it is also printed.
    pub printed: Option<(f64, Option<f64>)>,
    /// True if tables show it, false if only claims use it.
    pub shown: bool,
}

impl Quantity {
    /// True if it is more than a factor of 2 from the printed value.
    pub(crate) fn is_far(&self) -> bool {
        let ours = self.value.shown().value;
        self.printed
            .is_some_and(|(printed, _)| is_far(ours, printed))
    }
}

/// All numbers measured for an item, in the order of its tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quantities {
    all: Vec<Quantity>,
    places: HashMap<(String, String), usize>,
}

impl Quantities {
    /// Adds a number that tables show.
    pub(crate) fn show(&mut self, cell: &str, measure: &str, value: Value) {
        self.add(cell, measure, value, true);
    }

    /// Adds a number that only claims use.
    pub(crate) fn keep(&mut self, cell: &str, measure: &str, value: Value) {
        self.add(cell, measure, value, false);
    }

    fn add(&mut self, cell: &str, measure: &str, value: Value, shown: bool) {
        let key = (cell.to_owned(), measure.to_owned());
        self.places.insert(key, self.all.len());
        self.all.push(Quantity {
            cell: cell.to_owned(),
            measure: measure.to_owned(),
            value,
            printed: None,
            shown,
        });
    }

    /// Adds the printed value for the cells that match `pattern` (see [`captured`]).
    pub(crate) fn print(&mut self, pattern: &str, measure: &str, printed: (f64, Option<f64>)) {
        let mut all = self.all.iter_mut();
        let of = |q: &&mut Quantity| q.measure == measure && captured(pattern, &q.cell).is_some();
        all.by_ref()
            .filter(of)
            .for_each(|q| q.printed = Some(printed));
    }

    /// The number of a cell.
    pub(crate) fn get(&self, cell: &str, measure: &str) -> Option<&Quantity> {
        let at = self.places.get(&(cell.to_owned(), measure.to_owned()))?;
        self.all.get(*at)
    }

    /// The numbers of the cells that match `pattern`, each with the text that its `*` matched.
    pub(crate) fn matching<'a>(
        &'a self,
        pattern: &str,
        measure: &str,
    ) -> Vec<(&'a Quantity, String)> {
        if !pattern.contains('*') {
            let only = self.get(pattern, measure);
            return only.into_iter().map(|q| (q, String::new())).collect();
        }
        let of = self.all.iter().filter(|q| q.measure == measure);
        of.filter_map(|q| Some((q, captured(pattern, &q.cell)?.to_owned())))
            .collect()
    }

    /// The rows of the tables.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Quantity> {
        self.all.iter().filter(|quantity| quantity.shown)
    }
}

/// The text matched by the single `*` of a pattern; a pattern without `*` matches only itself.
pub(crate) fn captured<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        None => (pattern == text).then_some(""),
        Some((before, after)) => text.strip_prefix(before)?.strip_suffix(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        assert_eq!(captured("*, srpic", "1 stream, srpic"), Some("1 stream"));
        assert_eq!(captured("*, srpic", "1 stream, none"), None);
        assert_eq!(captured("a*a", "a"), None);
        assert_eq!(captured("exact", "exact"), Some(""));
        assert_eq!(captured("exact", "exactly"), None);
    }

    #[test]
    fn numbers_are_found_by_cell_and_measure() {
        let mut all = Quantities::default();
        all.show("RI 4", "recoveries", Value::Exact(3.0));
        all.keep("RI 8", "recoveries", Value::Exact(2.0));
        all.show("RI 8", "throughput", Value::Exact(9.0));
        all.print("RI *", "recoveries", (4.0, None));
        let stars: Vec<_> = all.matching("RI *", "recoveries");
        let stars: Vec<_> = stars
            .iter()
            .map(|(q, star)| (&q.value, star.as_str()))
            .collect();
        assert_eq!(
            stars,
            [(&Value::Exact(3.0), "4"), (&Value::Exact(2.0), "8")]
        );
        let printed: Vec<_> = all.shown().map(|quantity| quantity.printed).collect();
        assert_eq!(printed, [Some((4.0, None)), None]);
    }
}
