//! The tables of CSV and Parquet: what a row can be, one entry each.
//!
//! The columns have the same names as in JSON. Both formats have everything that JSON has: what is a list there is a
//! table here.

use std::io::{self, Write};

use crate::flows::{
    ATTEMPT, CAUSE_COUNT, EVENT, FLOW, RATE_CLASS, RECOVERY, REORDERING, REPLAY_WINDOW,
    RETRANSMISSION, STREAM, WHAT_IF,
};
#[cfg(feature = "arrow")]
use arrow_schema::SchemaRef;
#[cfg(feature = "arrow")]
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::{Sheet, csv};

use crate::columns::{
    self, file_sheet, in_files, in_streams, made, made_sheet, rows, sheet, stream_sheet,
};
use crate::frames::FRAME;
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

/// Declares the tables: of each its name, what a row is, its columns, its rows, and `of events` if the rows are only there when single events
/// were kept.
macro_rules! tables {
    (|$analyses:ident| $($name:literal: $about:literal => $columns:expr, $rows:expr $(, of $events:ident)?;)+) => {
        &[$(Rows {
            name: $name,
            about: $about,
            needs_events: {
                let words: &[&str] = &[$(stringify!($events))?];
                !words.is_empty()
            },
            csv: |out, $analyses| write_csv(out, &$columns, $rows),
            #[cfg(feature = "parquet")]
            parquet: |out, $analyses| inorder_report::parquet::write(out, &$columns, $rows),
            #[cfg(feature = "arrow")]
            arrow: |$analyses, size, take| {
                Batches::new(&$columns, $rows, Texts::Views, size).pass(take)
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
    /// Every table. To add one, add a line here, and what it needs to `columns`.
    pub const ALL: &'static [Rows] = tables! { |all|
        "flows": "TCP flows"
            => sheet(FLOW), columns::flow_rows(all);
        "events": "Late, lost and refused packets"
            => sheet(EVENT), rows(all, |flow| &flow.records.events), of events;
        "retransmissions": "Retransmissions, each with its verdict"
            => sheet(RETRANSMISSION), rows(all, |flow| &flow.records.retransmissions), of events;
        "recoveries": "Recovery phases"
            => sheet(RECOVERY), rows(all, |flow| &flow.recoveries.list), of events;
        "frames": "The verdict on each frame that has one, in the order of the capture"
            => made_sheet(FRAME), columns::frame_rows(all), of events;
        "streams": "Streams of other numbered services"
            => file_sheet(STREAM), in_files(all, |file| &file.streams);
        "attempts": "Attempts to open connections that carried no data"
            => file_sheet(ATTEMPT), in_files(all, |file| &file.attempts.list);
        "what-if": "What a sorting receiver would have left, for each setting"
            => sheet(WHAT_IF), rows(all, |flow| &flow.what_if);
        "stream-what-if": "What a sorting receiver would have left of a stream, for each setting"
            => stream_sheet(WHAT_IF), in_streams(all, |stream| &stream.what_if);
        "replay-windows": "What anti-replay windows would have refused of a stream, for several sizes"
            => stream_sheet(REPLAY_WINDOW), in_streams(all, |stream| stream.replay.as_ref().map_or(&[][..], |replay| &replay.windows));
        "rates": "Reordering by sending rate"
            => sheet(RATE_CLASS), rows(all, |flow| &flow.by_rate);
        "rate-extents": "Late packets by sending rate and by extent in bytes"
            => made_sheet(columns::EXTENTS_AT_RATE), made(all, columns::extents_at_rates);
        "causes": "Recoveries by what the sender reacted to"
            => sheet(CAUSE_COUNT), rows(all, |flow| &flow.recoveries.by_cause);
        "upstream": "The order at a capture point on the path"
            => sheet(REORDERING), rows(all, |flow| flow.upstream.as_deref().map_or(&[][..], std::slice::from_ref));
        "distributions": "Distributions of extents, late times and more, a row for each bucket"
            => made_sheet(columns::BUCKET), made(all, columns::buckets);
        "peer": "Flows compared with the other end"
            => columns::peers(), columns::peer_rows(all);
        "files": "Captures"
            => columns::files(), columns::file_rows(all);
        "skipped": "Frames that could not be analysed, by reason"
            => file_sheet(columns::SKIPPED), in_files(all, |file| &file.skipped);
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
