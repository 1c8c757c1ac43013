//! `inorder corpus`: analyses any number of captures into datasets.

use inorder_study::{Corpus, Job, Study, list};

use crate::error::Outcome;
use crate::manners;
use crate::verbs::study::Place;

/// Options of `inorder corpus`.
#[derive(clap::Args)]
#[command(after_help = "\
Each capture is analysed as by `inorder analyze`; the tables are those of `inorder analyze --rows`, and `captures` with a \
line for each. In folders every file is taken whose content is that of a capture, whatever its name; what is left out is named. A \
capture that \
cannot be read to its end is a row of the table `errors`, and what came before the damage is in the other tables. \
After Ctrl-C, or when the process or the machine was killed, the same command goes on; captures that are new become \
further tasks. The results are Parquet files; `inorder query` and `inorder summary`, which read them, need the Python \
package (see there).\n\n\
Examples:\n  inorder corpus captures/ --out study\n  inorder corpus 'captures/2024-*/*.pcap.gz' --out study --filter \
'port 443'\n  inorder corpus s3://bucket/captures --out study --scheduler tcp://host:8786\n  inorder query 'select \
count(*) from flows where reordered > 0' study\n  inorder summary study --by operator --beside operators.csv --html \
study.html")]
pub(crate) struct Args {
    /// Captures, folders with captures, patterns with * and ?, or with the Python package URLs such as s3://bucket/folder
    #[arg(required = true, value_name = "CAPTURES")]
    captures: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// Only connections and streams that EXPR selects, as of `inorder analyze`
    #[arg(long, value_name = "EXPR")]
    filter: Option<inorder_pipeline::Filter>,
    /// Where the captures were made, seen from the sender of the data: sender, receiver or middle [default: inferred]
    #[arg(long, value_name = "PLACE")]
    vantage: Option<String>,
    /// The tables that are written, by their names in `inorder analyze --rows`
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_values_t = Corpus::default().tables)]
    tables: Vec<String>,
    /// Flows of a capture reported one by one at most, the most severe first
    #[arg(long, value_name = "N", default_value_t = Corpus::default().max_flows)]
    max_flows: usize,
    /// Threads, each with a capture of its own [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = manners::threads)]
    threads: usize,
}

/// Plans the tasks, or goes on with them, and runs them.
pub(super) fn run(args: &Args) -> Outcome {
    let job = Job::Corpus(Corpus {
        filter: args.filter.as_ref().map(ToString::to_string),
        vantage: args.vantage.clone(),
        tables: args.tables.clone(),
        max_flows: args.max_flows,
    });
    let is_url = |capture: &String| capture.contains("://");
    if args.place.is_elsewhere() || args.captures.iter().any(is_url) {
        return args.place.elsewhere(&job, &args.captures, 0);
    }
    let listing = list(&args.captures)?;
    let study = Study::begin(&args.place.out, job, listing.captures, 0)?;
    for remark in &listing.remarks {
        manners::complain(remark);
    }
    let tally = args.place.run(&study, args.threads)?;
    let outcome = match tally.is_complete() {
        true => study.outcome()?.to_string(),
        false => String::new(),
    };
    args.place.report(&tally, "captures", &outcome)
}
