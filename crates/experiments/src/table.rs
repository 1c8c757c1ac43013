//! The numbers of an item as a table: a row for each cell, a column for each measure, in the order in which they were measured.

use inorder_report::number::short;

use crate::claim::Comparison;

/// The numbers of one item.
pub(crate) struct Grid<'a> {
    /// Table or figure: `table-4`.
    pub item: &'a str,
    /// Headings: the measured quantities.
    pub measures: Vec<&'a str>,
    /// Cells, each with a number for each measure that it has.
    pub rows: Vec<(&'a str, Vec<Option<&'a Comparison>>)>,
}

impl<'a> Grid<'a> {
    /// A table for each item, in their order.
    pub(crate) fn all(comparisons: &'a [Comparison]) -> Vec<Self> {
        let items = once_each(comparisons.iter().map(|c| &*c.item));
        items
            .into_iter()
            .map(|item| Self::of(item, comparisons))
            .collect()
    }

    fn of(item: &'a str, comparisons: &'a [Comparison]) -> Self {
        let all: Vec<&Comparison> = comparisons.iter().filter(|c| c.item == item).collect();
        let measures = once_each(all.iter().map(|c| &*c.measure));
        let row = |cell: &'a str| {
            let value = |measure: &&str| {
                let found = all
                    .iter()
                    .find(|c| c.cell == cell && c.measure == **measure);
                found.copied()
            };
            (cell, measures.iter().map(value).collect())
        };
        let cells = once_each(all.iter().map(|c| &*c.cell));
        let rows = cells.into_iter().map(row).collect();
        Self {
            item,
            measures,
            rows,
        }
    }
}

/// What came, in its order, without repetitions.
pub(crate) fn once_each<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// "1.5 ± 0.2 (printed 2)": ours, half the width of its interval, and what the paper prints.
pub(crate) fn in_words(comparison: &Comparison) -> String {
    let half = comparison.interval.map(|[low, high]| (high - low) / 2.0);
    let half = half.filter(|half| *half > 0.0);
    let half = half.map(|half| format!(" ± {}", short(half)));
    let printed = comparison
        .printed
        .map(|p| format!(" (printed {})", short(p)));
    short(comparison.ours) + &half.unwrap_or_default() + &printed.unwrap_or_default()
}
