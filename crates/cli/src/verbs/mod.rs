//! The verbs. A new one is a file with `Args` and `run`, and three lines here.

use clap::Subcommand;

use crate::error::Outcome;

mod completions;
mod man;

/// One variant a verb.
#[derive(Subcommand)]
pub enum Verb {
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page, or write one page a verb into a directory
    Man(man::Args),
}

impl Verb {
    /// Does it.
    pub fn run(&self) -> Outcome {
        match self {
            Verb::Completions(args) => completions::run(args),
            Verb::Man(args) => man::run(args),
        }
    }
}
