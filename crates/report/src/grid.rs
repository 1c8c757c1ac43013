//! A plain text table that fits a width: columns are aligned, the first one may be shortened, and the least important
//! ones are dropped. Columns of rank 0 always stay, so a line is longer than the width if they alone are.

use std::io::{self, Write};

/// Number of spaces between two columns.
const GAP: usize = 2;
/// Width to which the first column is shortened before columns are dropped, characters.
const MIN_FIRST: usize = 31;
/// Width to which it is shortened when only columns are left that should not be dropped.
const MIN_FIRST_WITHOUT_CHOICE: usize = 16;

/// The layout of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Layout {
    /// Number of spaces before each line.
    pub indent: usize,
    /// Maximum number of characters per line; `None` if the output is not a terminal.
    pub width: Option<usize>,
    /// Whether headings may be bold.
    pub bold: bool,
    /// Number of columns, from the left, that are left-aligned; the others are right-aligned.
    pub left: usize,
    /// Columns with greater ranks are left out at any width.
    pub rank: u8,
}

impl Default for Layout {
    /// No indent, any width, no attributes, the first column aligned to the left, columns of every rank.
    fn default() -> Self {
        Layout {
            indent: 0,
            width: None,
            bold: false,
            left: 1,
            rank: u8::MAX,
        }
    }
}

impl Layout {
    /// Limits the width in characters, if given.
    #[must_use]
    pub fn width(mut self, width: Option<usize>) -> Self {
        self.width = width;
        self
    }

    /// Indents each line by this many spaces.
    #[must_use]
    pub fn indent(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// Prints headings in bold if `bold` is true.
    #[must_use]
    pub fn bold(mut self, bold: bool) -> Self {
        self.bold = bold;
        self
    }

    /// Leaves out columns with greater ranks at any width.
    #[must_use]
    pub fn up_to(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    /// Sets the number of left-aligned columns.
    #[must_use]
    pub fn left(mut self, left: usize) -> Self {
        self.left = left;
        self
    }
}

/// One column of a [`Grid`].
struct Column<'t> {
    /// Heading shared with the neighbours in the same group; empty for none.
    group: &'t str,
    /// Heading of this column.
    title: &'t str,
    /// On a narrow terminal columns with smaller ranks are placed first; of those that do not fit, none is shown.
    rank: u8,
}

/// Rows of text under headings. Columns on the left are left-aligned, the others right-aligned.
#[derive(Default)]
pub(crate) struct Grid<'t> {
    columns: Vec<Column<'t>>,
    rows: Vec<Vec<String>>,
}

impl<'t> Grid<'t> {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Grid::default()
    }

    /// Adds a column on the right.
    pub(crate) fn column(&mut self, group: &'t str, title: &'t str, rank: u8) {
        self.columns.push(Column { group, title, rank });
    }

    /// Adds a row with one cell per column; missing cells stay blank.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Writes headings and rows.
    pub(crate) fn write(&self, out: &mut dyn Write, style: &Layout) -> io::Result<()> {
        let layout = self.layout(style.width.map(|w| w.saturating_sub(style.indent)));
        let pad = " ".repeat(style.indent);
        let (bold, plain) = if style.bold {
            ("\x1b[1m", "\x1b[0m")
        } else {
            ("", "")
        };
        let groups = self.group_line(&layout);
        if !groups.trim().is_empty() {
            writeln!(out, "{pad}{bold}{}{plain}", groups.trim_end())?;
        }
        let titles = layout.iter().map(|&(c, w)| (c, self.columns[c].title, w));
        let titles = line(titles, style.left);
        writeln!(out, "{pad}{bold}{}{plain}", titles.trim_end())?;
        for row in &self.rows {
            let cells = layout.iter().map(|&(c, w)| (c, row[c].as_str(), w));
            writeln!(out, "{pad}{}", line(cells, style.left).trim_end())?;
        }
        Ok(())
    }

    /// The columns that are shown, with their widths: those of rank 0, then the others by rank as far as they fit.
    fn layout(&self, width: Option<usize>) -> Vec<(usize, usize)> {
        let all = 0..self.columns.len();
        let Some(width) = width else {
            return self.widths(all);
        };
        let whole = self.widths(all.clone());
        let room = |layout: &[(usize, usize)]| {
            let first = layout.first().map_or(0, |l| l.1);
            total(layout) - first.saturating_sub(MIN_FIRST) <= width
        };
        if room(&whole) {
            return shortened(whole, width);
        }
        let always = |&c: &usize| c == 0 || self.columns[c].rank == 0;
        let (mut shown, mut others): (Vec<usize>, Vec<usize>) = all.partition(always);
        others.sort_by_key(|&c| self.columns[c].rank);
        for c in others {
            let place = shown.partition_point(|&before| before < c);
            shown.insert(place, c);
            if !room(&self.widths(shown.iter().copied())) {
                shown.remove(place);
            }
        }
        shortened(self.widths(shown.into_iter()), width)
    }

    /// The widths of these columns side by side.
    fn widths(&self, columns: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
        let mut layout: Vec<(usize, usize)> = columns.map(|c| (c, self.natural_width(c))).collect();
        self.widen_for_groups(&mut layout);
        layout
    }

    fn natural_width(&self, c: usize) -> usize {
        let cells = self.rows.iter().map(|row| chars(&row[c])).max();
        chars(self.columns[c].title).max(cells.unwrap_or(0))
    }

    /// Widens columns for group headings that are longer than the columns they span.
    fn widen_for_groups(&self, layout: &mut [(usize, usize)]) {
        for (start, end) in self.spans(layout) {
            let need = chars(self.columns[layout[start].0].group);
            let have = total(&layout[start..end]);
            if need > have {
                layout[start].1 += need - have;
            }
        }
    }

    /// Ranges of neighbouring columns with the same group heading.
    fn spans(&self, layout: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let mut start = 0;
        for i in 1..=layout.len() {
            let group = self.columns[layout[start].0].group;
            let same = i < layout.len() && self.columns[layout[i].0].group == group;
            if !same {
                if !group.is_empty() {
                    spans.push((start, i));
                }
                start = i;
            }
        }
        spans
    }

    /// Group headings, each at the right edge of the columns it spans.
    fn group_line(&self, layout: &[(usize, usize)]) -> String {
        let mut text = String::new();
        for (start, end) in self.spans(layout) {
            let until = total(&layout[..end]);
            let group = self.columns[layout[start].0].group;
            let blank = until.saturating_sub(chars(&text) + chars(group));
            text.push_str(&" ".repeat(blank));
            text.push_str(group);
        }
        text
    }
}

/// Shortens the first column until the table fits, to a readable width at least.
fn shortened(mut layout: Vec<(usize, usize)>, width: usize) -> Vec<(usize, usize)> {
    let others = total(&layout) - layout.first().map_or(0, |l| l.1);
    if let Some(first) = layout.first_mut() {
        let room = width.saturating_sub(others);
        first.1 = first.1.min(room.max(MIN_FIRST_WITHOUT_CHOICE));
    }
    layout
}

fn line<'c>(cells: impl Iterator<Item = (usize, &'c str, usize)>, left: usize) -> String {
    let mut text = String::new();
    for (column, cell, width) in cells {
        let gap = if column == 0 { 0 } else { GAP };
        let cell = if column == 0 {
            shorten(cell, width)
        } else {
            cell.to_owned()
        };
        text.push_str(&" ".repeat(gap));
        // A format's own width ends at 65,535 characters.
        let blank = " ".repeat(width.saturating_sub(chars(&cell)));
        match column < left {
            true => text.extend([cell, blank]),
            false => text.extend([blank, cell]),
        }
    }
    text
}

fn total(layout: &[(usize, usize)]) -> usize {
    let gaps = GAP * layout.len().saturating_sub(1);
    layout.iter().map(|l| l.1).sum::<usize>() + gaps
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Replaces the middle of a text that is too long: its two ends are more useful.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = chars(text);
    if length <= width {
        return text.to_owned();
    }
    let keep = width.saturating_sub(1);
    let head: String = text.chars().take(keep - keep / 2).collect();
    let tail: String = text.chars().skip(length - keep / 2).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(width: Option<usize>) -> String {
        let mut grid = Grid::new();
        for (group, title, rank) in [
            ("", "flow", 0),
            ("", "packets", 0),
            ("extent", "max", 0),
            ("extent", "mean", 1),
        ] {
            grid.column(group, title, rank);
        }
        grid.row(vec![
            "[2001:db8::1]:40000->[2001:db8::2]:5001".into(),
            "1,200".into(),
        ]);
        let mut out = Vec::new();
        let layout = Layout::default().indent(1).width(width);
        grid.write(&mut out, &layout).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Longer than what a format takes for a width.
    #[test]
    fn a_name_may_be_of_any_length() {
        let mut grid = Grid::new();
        grid.column("", "name", 0);
        grid.row(vec!["x".repeat(70_000)]);
        let mut out = Vec::new();
        grid.write(&mut out, &Layout::default()).unwrap();
        assert!(out.len() >= 70_000);
    }

    #[test]
    fn columns_align_under_their_headings() {
        let expected = "\
                                                  extent
 flow                                     packets  max  mean
 [2001:db8::1]:40000->[2001:db8::2]:5001    1,200
";
        let lines: Vec<_> = expected.lines().map(str::trim_end).collect();
        let got = text(None);
        assert_eq!(got.lines().skip(1).collect::<Vec<_>>(), lines[1..]);
        // The group ends where its last column ends.
        let ends: Vec<usize> = got.lines().take(2).map(|l| l.chars().count()).collect();
        assert_eq!(ends[0], ends[1]);
    }

    #[test]
    fn narrow_tables_shorten_the_first_column_then_drop_the_least_important() {
        assert!(text(Some(57)).contains('…'));
        assert!(text(Some(57)).contains("mean"));
        assert!(!text(Some(50)).contains("mean"));
        for width in 0..60 {
            assert!(text(Some(width)).contains("flow"));
        }
        for width in 36..60 {
            let text = text(Some(width));
            let longest = text.lines().map(chars).max().unwrap_or(0);
            assert!(longest <= width, "{width}:\n{text}");
        }
    }

    #[test]
    fn shortened_text_keeps_both_ends() {
        assert_eq!(shorten("abcdefgh", 8), "abcdefgh");
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcdefgh", 0), "…");
    }
}
