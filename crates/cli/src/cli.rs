//! The definition of the command line.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::manners::Manners;
use crate::outputs;
use crate::verbs::{SoonStarted, Verb, grouped};

/// Measure, detect and repair packet reordering.
#[derive(Parser)]
#[command(
    name = "inorder",
    version,
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged input (what came before \
                  the damage was used), 4 a threshold was exceeded (analyze --threshold), 130 interrupted."
)]
pub(crate) struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every verb.
    #[command(flatten)]
    pub manners: Manners,
}

/// The command with only those verbs that should start in a few milliseconds: they are parsed without the others.
#[derive(Parser)]
#[command(name = "inorder", version)]
struct Soon {
    #[command(subcommand)]
    verb: SoonStarted,
    #[command(flatten)]
    manners: Manners,
}

/// Reads the command line, the first word of which is the name of the program.
///
/// Where few verbs cannot read it, all do: so help and errors are those of the whole definition.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let verb = arguments.get(1).and_then(|word| word.to_str());
    if verb.is_some_and(SoonStarted::has_subcommand)
        && let Ok(Soon { verb, manners }) = Soon::try_parse_from(&arguments)
    {
        let verb = verb.into();
        return Ok(Cli { verb, manners });
    }
    whole(arguments)
}

/// Reads the command line by the definition of all verbs, whose help lists them in groups.
fn whole(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let command = grouped(Cli::command(), outputs::width());
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_errors_are_those_of_all_verbs() {
        for line in [
            "help",
            "--help",
            "analyze --help",
            "analyse x",
            "analyze --jsno x",
            "analyze",
            "sim",
        ] {
            let words: Vec<OsString> = ["inorder"]
                .into_iter()
                .chain(line.split(' '))
                .map(OsString::from)
                .collect();
            let (ours, all) = (parse(words.clone()).err(), whole(words).err());
            let shown = |error: Option<clap::Error>| error.map(|e| e.render().to_string());
            assert_eq!(shown(ours), shown(all), "{line}");
        }
    }

    #[test]
    fn options_of_every_verb_are_read_on_both_sides_of_one_that_starts_soon() {
        for line in ["--quiet analyze x", "analyze x --quiet"] {
            let words = ["inorder"]
                .into_iter()
                .chain(line.split(' '))
                .map(OsString::from);
            let cli = parse(words.collect()).ok();
            assert!(cli.is_some_and(|cli| matches!(cli.verb, Verb::Analyze(_))
                && format!("{:?}", cli.manners).contains("quiet: true")));
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
