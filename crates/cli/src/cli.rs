//! The definition of the command line.

use clap::Parser;

use crate::manners::Manners;
use crate::verbs::Verb;

/// Measure, detect and repair packet reordering.
#[derive(Parser)]
#[command(
    name = "inorder",
    version,
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged input (what came before \
                  the damage was used), 4 a threshold was exceeded (analyze --threshold), 130 interrupted."
)]
pub struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every verb.
    #[command(flatten)]
    pub manners: Manners,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
