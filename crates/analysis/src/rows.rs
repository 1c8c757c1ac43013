//! The tables of CSV and Parquet: what a row can be, one entry each.
//!
//! The columns have the same names as in JSON. Both formats have everything that JSON has: what is a list there is a
//! table here.

use std::io::{self, Write};

#[cfg(feature = "arrow")]
use arrow_schema::SchemaRef;
#[cfg(feature = "arrow")]
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::{Sheet, csv};

use crate::columns;
use crate::model::Analysis;

/// What the rows of a table are.
#[derive(Clone, Copy)]
pub struct Rows {
    /// Its name, as in `--rows`; lower case, words joined by `-`.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// True if the rows are only there when single events were kept.
    pub needs_events: bool,
    csv: fn(&mut dyn Write, &[Analysis]) -> io::Result<()>,
    #[cfg(feature = "parquet")]
    parquet: fn(&mut (dyn Write + Send), &[Analysis]) -> io::Result<()>,
    #[cfg(feature = "arrow")]
    arrow: fn(&[Analysis], usize, &mut TakeBatch<'_>) -> io::Result<SchemaRef>,
}

/// Declares the tables: of each its name, what a row is, the functions of [`columns`] with its columns and its rows, and `of events`
/// if the rows are only there when single events were kept.
macro_rules! tables {
    ($($name:literal: $about:literal => $columns:ident, $rows:ident $(, of $events:ident)?;)+) => {
        &[$(Rows {
            name: $name,
            about: $about,
            needs_events: {
                let words: &[&str] = &[$(stringify!($events))?];
                !words.is_empty()
            },
            csv: |out, analyses| write_csv(out, &columns::$columns(), columns::$rows(analyses)),
            #[cfg(feature = "parquet")]
            parquet: |out, analyses| {
                let rows = columns::$rows(analyses);
                inorder_report::parquet::write(out, &columns::$columns(), rows)
            },
            #[cfg(feature = "arrow")]
            arrow: |analyses, size, take| {
                let (columns, rows) = (columns::$columns(), columns::$rows(analyses));
                Batches::new(&columns, rows, Texts::Views, size).pass(take)
            },
        }),+]
    };
}

fn write_csv<R>(
    out: &mut dyn Write,
    columns: &Sheet<'_, R>,
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    csv::write(out, columns, rows)
}

impl Rows {
    /// Every table. To add one, add its columns and rows to `columns` and a line here.
    pub const ALL: &'static [Rows] = tables! {
        "flows": "TCP flows" => flows, flow_rows;
        "events": "Late, lost and refused packets" => events, event_rows, of events;
        "retransmissions": "Retransmissions, each with its verdict" => retransmissions, retransmission_rows, of events;
        "recoveries": "Recovery phases" => recoveries, recovery_rows, of events;
        "frames": "The verdict on each frame that has one, in the order of the capture" => frames, frame_rows, of events;
        "streams": "Streams of other numbered services" => streams, stream_rows;
        "attempts": "Attempts to open connections that carried no data" => attempts, attempt_rows;
        "what-if": "What a sorting receiver would have left, for each setting" => what_ifs, what_if_rows;
        "stream-what-if": "What a sorting receiver would have left of a stream, for each setting" => stream_what_ifs, stream_what_if_rows;
        "replay-windows": "What anti-replay windows would have refused of a stream, for several sizes" => replay_windows, replay_window_rows;
        "rates": "Reordering by sending rate" => rates, rate_rows;
        "rate-extents": "Late packets by sending rate and by extent in bytes" => rate_extents, rate_extent_rows;
        "causes": "Recoveries by what the sender reacted to" => causes, cause_rows;
        "upstream": "The order at a capture point on the path" => upstream, upstream_rows;
        "distributions": "Distributions of extents, late times and more, a row for each bucket" => buckets, bucket_rows;
        "peer": "Flows compared with the other end" => peers, peer_rows;
        "files": "Captures" => files, file_rows;
        "skipped": "Frames that could not be analysed, by reason" => skipped, skipped_rows;
    };

    /// The table with this name.
    pub fn named(name: &str) -> Option<&'static Rows> {
        Rows::ALL.iter().find(|rows| rows.name == name)
    }

    /// The name of its Parquet file.
    pub fn file_name(&self) -> String {
        format!("{}.parquet", self.name.replace('-', "_"))
    }

    /// Writes CSV. `out` should be buffered.
    ///
    /// ```
    /// use inorder_analysis::Rows;
    ///
    /// let mut out = Vec::new();
    /// Rows::named("flows").unwrap().write_csv(&mut out, &[])?;
    /// assert!(out.starts_with(b"file,flow,"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write, analyses: &[Analysis]) -> io::Result<()> {
        (self.csv)(out, analyses)
    }

    /// Writes Parquet.
    ///
    /// # Errors
    /// If `out` cannot be written.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(
        &self,
        out: &mut (dyn Write + Send),
        analyses: &[Analysis],
    ) -> io::Result<()> {
        (self.parquet)(out, analyses)
    }

    /// Passes the rows to `take` as record batches of at most `size` rows, one after the other, until it returns false.
    /// Returns names and types of the columns, which are there without any rows too.
    ///
    /// # Errors
    /// If a column has a value that is not of its kind, which is a fault of its declaration.
    #[cfg(feature = "arrow")]
    pub fn batches(
        &self,
        analyses: &[Analysis],
        size: usize,
        take: &mut TakeBatch<'_>,
    ) -> io::Result<SchemaRef> {
        (self.arrow)(analyses, size, take)
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_columns_are_sound() {
        for (at, rows) in Rows::ALL.iter().enumerate() {
            assert!(Rows::ALL[..at].iter().all(|other| other.name != rows.name));
            let mut out = Vec::new();
            rows.write_csv(&mut out, &[]).unwrap();
            let header = String::from_utf8(out).unwrap();
            let mut names: Vec<&str> = header.trim_end().split(',').collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(
                (names.len(), names[0].is_empty()),
                (count, false),
                "{header}"
            );
        }
    }
}
