//! Tables of numbers printed in papers: comma-separated files next to the scenarios.

use thiserror::Error;

/// A table of printed values: text columns that name the cell, and number columns with `_ci` columns for intervals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Printed {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// Why a file is not a printed table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PrintedError {
    /// The file contains only empty lines and comments.
    #[error("no header line")]
    NoHeader,
    /// A row with another number of fields than the header.
    #[error("line {line}: expected {expected} fields, found {found}")]
    Fields {
        /// Line, from 1.
        line: usize,
        /// Number of fields in the header.
        expected: usize,
        /// Number of fields in the row.
        found: usize,
    },
}

impl Printed {
    /// Reads comma-separated lines; `#` starts a comment line.
    pub(crate) fn parse(text: &'static str) -> Result<Self, PrintedError> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (_, header) = lines.next().ok_or(PrintedError::NoHeader)?;
        let header: Vec<_> = header.split(',').map(str::trim).collect();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let row: Vec<_> = line.split(',').map(str::trim).collect();
            if row.len() != header.len() {
                return Err(PrintedError::Fields {
                    line: number + 1,
                    expected: header.len(),
                    found: row.len(),
                });
            }
            rows.push(row);
        }
        Ok(Self { header, rows })
    }

    /// The rows, in the paper's order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|fields| Row {
            header: &self.header,
            fields,
        })
    }
}

/// One row of a printed table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    header: &'a [&'static str],
    fields: &'a [&'static str],
}

impl Row<'_> {
    /// Columns and fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.header.iter().copied().zip(self.fields.iter().copied())
    }

    /// The field of the column called `column`.
    pub(crate) fn text(&self, column: &str) -> Option<&'static str> {
        let at = self.header.iter().position(|name| *name == column)?;
        self.fields.get(at).copied()
    }

    /// The field as a number.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    /// A value and the half width of its interval, from `column` and `column_ci`.
    pub(crate) fn value(&self, column: &str) -> Option<(f64, f64)> {
        let half_width = self.number(&format!("{column}_ci"))?;
        Some((self.number(column)?, half_width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_value_has_its_interval_in_the_ci_column() {
        let table = Printed::parse("# tables\nsender,thr_none,thr_none_ci\n\nS,472.0,4.1\n")
            .expect("reads");
        let row = table.rows().next().expect("a row");
        assert_eq!(row.value("thr_none"), Some((472.0, 4.1)));
        assert_eq!(
            (row.text("sender"), row.value("nothing")),
            (Some("S"), None)
        );
        assert_eq!(row.fields().count(), 3);
    }

    #[test]
    fn a_short_row_is_named() {
        let error = Printed::parse("a,b\n1\n").expect_err("short");
        assert_eq!(
            error,
            PrintedError::Fields {
                line: 2,
                expected: 2,
                found: 1
            }
        );
    }
}
