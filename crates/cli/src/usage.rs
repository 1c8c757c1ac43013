//! Wrong options as one line, like every other error.

use clap::Error;
use clap::error::ErrorKind;

/// True if nothing is wrong: the user asked for help or the version.
pub fn is_requested(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// What is wrong and what was expected, without the summary of the usage: `inorder help VERB` prints that.
pub fn one_line(error: &Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    let lines = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let mut whole = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        let line = line.strip_prefix("tip: ").unwrap_or(line);
        match whole.chars().last() {
            None => {}
            // The line introduces the next one.
            Some(':') => whole.push(' '),
            Some(_) if line.starts_with('[') => whole.push(' '),
            Some(_) => whole.push_str("; "),
        }
        whole.push_str(line);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn line(arguments: &[&str]) -> String {
        let words = ["inorder"].iter().chain(arguments);
        match Cli::try_parse_from(words) {
            Ok(_) => panic!("{arguments:?} is valid"),
            Err(error) => one_line(&error),
        }
    }

    #[test]
    fn wrong_options_are_one_line_that_says_what_was_expected() {
        for (arguments, expected) in [
            (
                &["analyse", "x"][..],
                "unrecognized subcommand 'analyse'; a similar subcommand exists: 'analyze'",
            ),
            (
                &["analyze", "--evnts", "x"],
                "unexpected argument '--evnts' found; a similar argument exists: '--events'",
            ),
            (
                &["analyze"],
                "the following required arguments were not provided: <FILE>...",
            ),
            (
                &["analyze", "--vantage", "sendr", "x"],
                "a similar value exists: 'sender'",
            ),
            (
                &["analyze", "--filter", "tcp adn udp", "x"],
                "character 5: found `adn`, expected `and`, `or` or the end",
            ),
            (
                &["analyze", "--from", "noon", "x"],
                "expected a time with an offset",
            ),
        ] {
            let line = line(arguments);
            assert!(line.contains(expected), "{arguments:?}: {line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
