//! `inorder population`: connections with drawn settings, captured, with the truth about them.

use std::path::PathBuf;

use inorder_study::{Job, Population, Study};

use crate::error::{CliError, Outcome};
use crate::manners;
use crate::verbs::runs::read_text;
use crate::verbs::study::{Place, query};

/// Options of `inorder population`.
#[derive(clap::Args)]
#[command(after_help = "\
FILE has a scenario and, for each network, the distributions of some of its keys; docs/corpora.md explains it. DIR gets \
a capture of each connection at its sender (captures/), its settings with the truth about it (the dataset \
`connections`), and everything that happened to a packet (the dataset `truth`).\n\n\
Examples:\n  inorder population experiments/mobile/population.toml --connections 600 --out population\n  inorder corpus \
population/captures --out study")]
pub(crate) struct Args {
    /// The population, in TOML
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    place: Place,
    /// Number of connections, instead of what FILE says
    #[arg(long, value_name = "N")]
    connections: Option<u64>,
    /// Seed, instead of what FILE says
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = manners::threads)]
    threads: usize,
}

/// Plans the tasks, or goes on with them, and runs them.
pub(super) fn run(args: &Args) -> Outcome {
    let name = args.file.display().to_string();
    let population = Population::parse(&read_text(&args.file)?, &name);
    let mut population = population.map_err(|error| CliError::Usage(error.to_string()))?;
    population.connections = args.connections.unwrap_or(population.connections);
    population.seed = args.seed.unwrap_or(population.seed);
    let job = Job::Population(population);
    if args.place.is_elsewhere() {
        return args.place.elsewhere(&job, &[], 0);
    }
    let study = Study::begin(&args.place.out, job, Vec::new(), 0)?;
    let tally = args.place.run(&study, args.threads)?;
    let sql = "select * from connections limit 5";
    args.place
        .report(&tally, "connections", &query(&args.place.out, sql))
}
