//! A plain text table that fits a width: columns align, the first one may be shortened, the
//! least important ones drop out.

use std::io::{self, Write};

/// Blank columns between two table columns.
const GAP: usize = 2;
/// The first column is not shortened below this.
const MIN_FIRST: usize = 31;

/// One column of a [`Grid`].
pub struct Column {
    /// Heading shared with neighbours of the same group; empty for none.
    pub group: &'static str,
    /// Heading of this column.
    pub title: &'static str,
    /// Columns with a greater rank drop out first when the terminal is narrow; 0 never does.
    pub rank: u8,
}

/// Rows of text under headings. The first column is left-aligned, the others right-aligned.
pub struct Grid<'a> {
    columns: &'a [Column],
    rows: Vec<Vec<String>>,
}

impl<'a> Grid<'a> {
    /// An empty table.
    pub fn new(columns: &'a [Column]) -> Self {
        Grid {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row: one cell a column; missing cells stay blank.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Writes headings and rows, each line after `indent` blanks, within `width` characters if
    /// given. `heading` surrounds the heading lines (terminal attributes).
    pub fn write(
        &self,
        out: &mut dyn Write,
        indent: usize,
        width: Option<usize>,
        heading: (&str, &str),
    ) -> io::Result<()> {
        let layout = self.layout(width.map(|w| w.saturating_sub(indent)));
        let pad = " ".repeat(indent);
        let groups = self.group_line(&layout);
        if !groups.trim().is_empty() {
            writeln!(out, "{pad}{}{}{}", heading.0, groups.trim_end(), heading.1)?;
        }
        let titles = layout.iter().map(|&(c, w)| (c, self.columns[c].title, w));
        let titles = line(titles);
        writeln!(out, "{pad}{}{}{}", heading.0, titles.trim_end(), heading.1)?;
        for row in &self.rows {
            let cells = layout.iter().map(|&(c, w)| (c, row[c].as_str(), w));
            writeln!(out, "{pad}{}", line(cells).trim_end())?;
        }
        Ok(())
    }

    /// The columns that stay, with their widths.
    fn layout(&self, width: Option<usize>) -> Vec<(usize, usize)> {
        let mut layout: Vec<(usize, usize)> = (0..self.columns.len())
            .map(|c| (c, self.natural_width(c)))
            .collect();
        self.widen_for_groups(&mut layout);
        let Some(width) = width else { return layout };
        while total(&layout) > width {
            let first = layout.first().map_or(0, |l| l.1);
            let excess = total(&layout) - width;
            if first > MIN_FIRST && first - MIN_FIRST >= excess {
                layout[0].1 = first - excess;
                return layout;
            }
            let Some(drop) = self.least_important(&layout) else {
                if let Some(l) = layout.first_mut() {
                    l.1 = l.1.min(MIN_FIRST);
                }
                return layout;
            };
            layout.remove(drop);
            self.widen_for_groups(&mut layout);
        }
        layout
    }

    fn least_important(&self, layout: &[(usize, usize)]) -> Option<usize> {
        (0..layout.len())
            .filter(|&i| i > 0 && self.columns[layout[i].0].rank > 0)
            .max_by_key(|&i| self.columns[layout[i].0].rank)
    }

    fn natural_width(&self, c: usize) -> usize {
        let cells = self.rows.iter().map(|row| chars(&row[c])).max();
        chars(self.columns[c].title).max(cells.unwrap_or(0))
    }

    /// Makes room for group headings longer than the columns they span.
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

fn line<'c>(cells: impl Iterator<Item = (usize, &'c str, usize)>) -> String {
    let mut text = String::new();
    for (column, cell, width) in cells {
        if column == 0 {
            let cell = shorten(cell, width);
            text.push_str(&format!("{cell:<width$}"));
        } else {
            text.push_str(&format!("{:GAP$}{cell:>width$}", ""));
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

/// Cuts the middle out of a text that is too long; both ends tell more than the middle.
pub fn shorten(text: &str, width: usize) -> String {
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

    const COLUMNS: [Column; 4] = [
        Column {
            group: "",
            title: "flow",
            rank: 0,
        },
        Column {
            group: "",
            title: "packets",
            rank: 0,
        },
        Column {
            group: "extent",
            title: "max",
            rank: 0,
        },
        Column {
            group: "extent",
            title: "mean",
            rank: 1,
        },
    ];

    fn text(width: Option<usize>) -> String {
        let mut grid = Grid::new(&COLUMNS);
        grid.row(vec![
            "[2001:db8::1]:40000->[2001:db8::2]:5001".into(),
            "1,200".into(),
        ]);
        let mut out = Vec::new();
        grid.write(&mut out, 1, width, ("", "")).unwrap();
        String::from_utf8(out).unwrap()
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
    }

    #[test]
    fn shortened_text_keeps_both_ends() {
        assert_eq!(shorten("abcdefgh", 8), "abcdefgh");
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcdefgh", 0), "…");
    }
}
