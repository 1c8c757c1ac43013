//! Prints the rows of several repetitions as a table, CSV or JSON.

use inorder_netproc::{Report, Row};

use crate::error::CliError;
use crate::outputs::{self, to_stdout};

/// The format of the output.
#[derive(clap::Args)]
pub(super) struct Form {
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV: group, hop, name, unit, mean, low and high of each number
    #[arg(long)]
    csv: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    pub schema: bool,
}

/// Prints the JSON Schema of what `--json` prints.
pub(super) fn print_schema() -> Result<(), CliError> {
    to_stdout(|out| inorder_netproc::write_schema(out))
}

impl Form {
    /// Prints the rows; all repetitions have the same ones.
    pub(super) fn write(&self, title: &str, repetitions: &[Vec<Row>]) -> Result<(), CliError> {
        let report = Report::of(title.to_owned(), repetitions);
        if self.json {
            to_stdout(|out| report.write_json(out))
        } else if self.csv {
            to_stdout(|out| report.write_csv(out))
        } else {
            outputs::text(|out| report.write_text(out))
        }
    }
}
