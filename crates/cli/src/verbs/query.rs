//! `inorder query` and `inorder summary`: questions to studies, which the Python package answers with DuckDB.

use std::path::{Path, PathBuf};

use crate::error::Outcome;
use crate::{outputs, python};

/// Options of `inorder query`.
#[derive(clap::Args)]
#[command(after_help = "\
Each dataset of a study is a table with the column `task`; rows of unfinished tasks are left out. With several studies, \
the tables of each are in a schema with the name of its folder: study.flows. Needs the Python package with DuckDB: \
`pip install '.[study]'` in a checkout of inorder.\n\n\
Examples:\n  inorder query 'select file, reordered from flows order by reordered desc limit 10' study\n  inorder query \
--csv=late.csv 'select file, late_ms from events' study")]
pub(crate) struct Query {
    /// A statement of DuckDB's SQL
    #[arg(value_name = "SQL")]
    sql: String,
    /// Folders of studies
    #[arg(required = true, value_name = "DIR")]
    studies: Vec<PathBuf>,
    /// Print CSV instead of a table, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Print JSON instead of a table, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
}

/// Options of `inorder summary`.
#[derive(clap::Args)]
#[command(after_help = "\
The tables: share of connections with reordering (figure 7 of \"I'll be a bit late - Packet Reordering in Mobile \
Networks\"), distribution and 95th percentile of the reordering rate (figure 8, table 1), events beyond the threshold \
(figure 9), connections with spurious recoveries (figure 10), reordering delay (figure 11), extent against sending rate \
(figure 12). Needs the Python package: `pip install '.[study]'` in a checkout of inorder.\n\n\
Examples:\n  inorder summary study\n  inorder summary study --beside operators.csv --by operator,technology --html \
study.html")]
pub(crate) struct Summary {
    /// The folder of a study made by `inorder corpus`
    #[arg(value_name = "DIR")]
    study: PathBuf,
    /// CSV or Parquet with a column `file`, the name of a capture as in the results, or its last part, and the columns by
    /// which connections are grouped; or the folder of the population that the captures come from
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
    /// The columns by which connections are grouped
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    by: Vec<String>,
    /// Connections with fewer data packets are left out
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_packets: u64,
    /// Duplicate-ACK threshold: events beyond it have a larger extent
    #[arg(long, value_name = "N", default_value_t = 3)]
    threshold: u64,
    /// Write a page with the figures, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the tables into DIR, a CSV file each
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

/// Hands the statement over.
pub(super) fn query(args: &Query) -> Outcome {
    let files = outputs::json_and_csv(args.json.as_deref(), args.csv.as_deref())?;
    outputs::check(&files, &[])?;
    let mut all = vec![args.sql.clone()];
    all.extend(args.studies.iter().map(|path| path.display().to_string()));
    option(&mut all, "--csv", args.csv.as_ref());
    option(&mut all, "--json", args.json.as_ref());
    force(&mut all);
    python::run("inorder.query", &all, "inorder query")
}

/// Hands the question over.
pub(super) fn summary(args: &Summary) -> Outcome {
    let page: Vec<&Path> = args.html.iter().map(PathBuf::as_path).collect();
    let beside: Vec<&Path> = args.beside.iter().map(PathBuf::as_path).collect();
    outputs::check(&page, &beside)?;
    let mut all = vec![args.study.display().to_string()];
    option(&mut all, "--beside", args.beside.as_ref());
    if !args.by.is_empty() {
        all.push(format!("--by={}", args.by.join(",")));
    }
    all.push(format!("--min-packets={}", args.min_packets));
    all.push(format!("--threshold={}", args.threshold));
    option(&mut all, "--html", args.html.as_ref());
    option(&mut all, "--csv", args.csv.as_ref());
    force(&mut all);
    python::run("inorder.summary", &all, "inorder summary")
}

fn option(all: &mut Vec<String>, name: &str, path: Option<&PathBuf>) {
    all.extend(path.map(|path| format!("{name}={}", path.display())));
}

fn force(all: &mut Vec<String>) {
    if crate::manners::may_replace() {
        all.push("--force".to_owned());
    }
}
