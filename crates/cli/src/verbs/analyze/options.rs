//! The options of `inorder analyze`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inorder_analysis::Rows;
use inorder_analysis::threshold::Threshold;
use inorder_detect::{Config, OneAssumption, Vantage};
use inorder_pipeline::memory;
use inorder_sort::SorterConfig;

use crate::select::Select;
use crate::{manners, sorters};

/// Options of `inorder analyze`.
#[derive(clap::Args)]
#[command(after_help = help())]
pub(crate) struct Args {
    /// Captures (pcap, pcapng or snoop, plain or compressed), each analysed on its own; `-` for the
    /// standard input
    #[arg(required_unless_present = "schema", value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Analyse the files, in the order given, as one capture that was rotated
    #[arg(long)]
    pub(super) join: bool,
    /// Where the captures were made, seen from the sender of the data
    #[arg(long, value_enum, default_value_t = VantageArg::Auto)]
    pub(super) vantage: VantageArg,
    /// Assume a habit of the endpoints instead of learning it, such as receiver.dsack=none
    #[arg(long, value_name = "HABIT=VALUE")]
    pub(super) assume: Vec<OneAssumption>,
    /// Keep and print every single event
    #[arg(long)]
    pub(super) events: bool,
    #[command(flatten)]
    pub(super) to: To,
    /// The same traffic captured at the other end: shows what really happened, and which of this capture's
    /// conclusions are right
    #[arg(long, value_name = "OTHER")]
    pub(super) peer: Option<PathBuf>,
    #[command(flatten)]
    pub(super) bounds: Bounds,
    /// Do not compute how much reordering a sorting receiver would have left
    #[arg(long)]
    pub(super) no_what_if: bool,
    /// Compute it for this sorter as well, given by name and settings as in window:hold=300us; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "no_what_if", value_parser = sorters::parse)]
    pub(super) sorter: Vec<SorterConfig>,
    #[command(flatten)]
    pub(super) select: Select,
    /// Report only flows and streams whose `src:port->dst:port` contains TEXT
    #[arg(long, value_name = "TEXT")]
    pub(super) flow: Option<String>,
    /// End with exit code 4 if a number is exceeded: late=1%,spurious=0.5%,flow.max_extent=10; see below
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub(super) threshold: Vec<Threshold>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    pub(super) schema: bool,
}

/// Where results are written, besides the terminal.
#[derive(clap::Args)]
pub(super) struct To {
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(super) json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE: a row for each flow, with --events for
    /// each event, or as --rows says
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(super) csv: Option<PathBuf>,
    /// What the rows of --csv are
    #[arg(long, value_name = "ROWS", requires = "csv", value_parser = rows())]
    pub(super) rows: Option<&'static Rows>,
    /// Write all tables of --rows into DIR: flows.parquet, events.parquet, streams.parquet, ...
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    pub(super) parquet: Option<PathBuf>,
    /// Write a page with charts that opens without a network; of more than 20 captures a table, with a page for each in a
    /// folder beside it
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Write a pcapng copy of the capture with a comment at each event
    #[arg(long, value_name = "OUT.pcapng")]
    pub(super) annotate: Option<PathBuf>,
}

/// How much is reported, and what the analysis may take.
#[derive(clap::Args)]
pub(super) struct Bounds {
    /// Flows shown at most in text and with charts
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) top: usize,
    /// Flows reported one by one at most, in every output, the most severe first; the others are summed. Each takes about
    /// 2 KiB of memory
    #[arg(long, value_name = "N", default_value_t = default_max_flows(), conflicts_with = "peer")]
    pub(super) max_flows: NonZeroUsize,
    /// Memory that the analysis of a capture takes at most, such as 512M, 4G or unlimited. Connections for which there is no room are
    /// ended early, those in order first, and only summed [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse, conflicts_with = "peer")]
    pub(super) memory: Option<usize>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = manners::threads)]
    pub(super) threads: Option<usize>,
}

fn default_max_flows() -> NonZeroUsize {
    NonZeroUsize::new(Config::default().max_flows).unwrap_or(NonZeroUsize::MIN)
}

impl Args {
    /// What a row of the CSV output is.
    pub(super) fn rows(&self) -> Option<&'static Rows> {
        let default = if self.events { "events" } else { "flows" };
        self.to.rows.or_else(|| Rows::named(default))
    }
}

/// Parses the name of a table; help, completions and errors list the names.
fn rows() -> impl TypedValueParser<Value = &'static Rows> {
    let names = Rows::ALL
        .iter()
        .map(|rows| PossibleValue::new(rows.name).help(rows.about));
    PossibleValuesParser::new(names).try_map(|name| Rows::named(&name).ok_or("no such table"))
}

/// What follows the list of options.
fn help() -> String {
    let measures = inorder_analysis::measures::MEASURES.iter();
    let measures: Vec<String> = measures
        .map(|m| format!("  {:<14} {}", m.name, m.about))
        .collect();
    format!(
        "{}\n\nThresholds: NAME=VALUE% bounds a share of the whole capture, NAME=VALUE the number of packets (or the \
         value of a mean, in its unit). flow.NAME bounds each flow; there NAME may also be any column of flows that is \
         a number (see --schema), such as flow.max_late_ms=5. rate_bps is bounded from below. NAME is one of\n{}\n\n\
         Examples:\n  inorder analyze trace.pcapng\n  inorder analyze --events --json trace.pcapng > trace.json\n  \
         inorder analyze --filter 'dst port 443 and not 10.0.0.0/8' --from +10s --to +20s trace.pcapng\n  \
         inorder analyze -q --threshold late=1%,spurious=0.5% trace.pcapng || echo exceeded\n  \
         tcpdump -w - tcp | inorder analyze --html order.html -",
        crate::select::HELP,
        measures.join("\n")
    )
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum VantageArg {
    /// Infer it for each connection
    Auto,
    /// At or next to the sender
    Sender,
    /// At or next to the receiver
    Receiver,
    /// On the path between them
    Middle,
}

impl VantageArg {
    pub(super) fn forced(self) -> Option<Vantage> {
        match self {
            VantageArg::Auto => None,
            VantageArg::Sender => Some(Vantage::Sender),
            VantageArg::Receiver => Some(Vantage::Receiver),
            VantageArg::Middle => Some(Vantage::Middle),
        }
    }
}
