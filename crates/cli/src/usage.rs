//! Wrong options as one line, like every other error.

use std::io::Write;

use clap::Error;
use clap::error::ErrorKind;

use crate::error::{ExitCode, Outcome};

/// True if nothing is wrong: the user asked for help or the version.
pub(crate) fn is_requested(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// Prints the help or the version that was asked for.
pub(crate) fn print(error: &Error) -> Outcome {
    error.print()?;
    std::io::stdout().flush()?;
    Ok(ExitCode::from(error.exit_code() as u8))
}

/// What is wrong and what was expected, without the summary of the usage: `inorder VERB --help` prints that.
pub(crate) fn one_line(error: &Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    let lines = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let mut whole = String::new();
    // The usual reason is a misspelt option, not a file that is called like one.
    let lines = lines.filter(|line| !line.is_empty() && !line.contains("as a value, use '-- "));
    for line in lines {
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
    let is_unknown_verb =
        error.kind() == ErrorKind::InvalidSubcommand && !whole.contains("similar");
    if is_unknown_verb {
        whole.push_str("; `inorder help` lists the verbs");
    }
    if let Some(verb) = verb_without_example(error, &text) {
        whole.push_str(&format!(
            "; `inorder {verb} --help` has all options and examples"
        ));
    }
    in_words(whole)
}

/// The verb whose help answers the error, if no similar option does: something is missing or unknown. The summary of the usage, which
/// `text` ends with, begins with the verb.
fn verb_without_example<'t>(error: &Error, text: &'t str) -> Option<&'t str> {
    let is_incomplete = match error.kind() {
        ErrorKind::MissingRequiredArgument => true,
        ErrorKind::UnknownArgument => !text.contains("similar argument"),
        _ => false,
    };
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let verb = usage.and_then(|usage| usage.split(' ').nth(1));
    verb.filter(|verb| is_incomplete && verb.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Replaces messages of the standard library, which do not say what was expected.
fn in_words(mut text: String) -> String {
    let bare = [
        ("invalid digit found in string", "expected a whole number"),
        (
            "cannot parse integer from empty string",
            "expected a whole number",
        ),
        (
            "number too large to fit in target type",
            "expected a smaller number",
        ),
        (
            "number too small to fit in target type",
            "expected a greater number",
        ),
        (
            "number would be zero for non-zero type",
            "expected at least 1",
        ),
        ("invalid float literal", "expected a number"),
        ("cannot parse float from empty string", "expected a number"),
        ("..18446744073709551615", " and above"),
    ];
    for (standard, plain) in bare {
        text = text.replace(standard, plain);
    }
    text
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
                &["analyze", "--top", "x", "y"][..],
                "'--top <N>': expected a whole number",
            ),
            (
                &["simulate", "--repetitions", "0", "x"],
                "0 is not in 1 and above",
            ),
            (
                &["foo"],
                "unrecognized subcommand 'foo'; `inorder help` lists the verbs",
            ),
            (
                &["analyze", "--sorter", "windw", "x"],
                "no sorter `windw`, did you mean window?",
            ),
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
                "the following required arguments were not provided: <FILE>...; `inorder analyze --help` has all options and examples",
            ),
            (
                &["netproc", "-o", "x"],
                "unexpected argument '-o' found; `inorder netproc --help` has all options and examples",
            ),
            (
                &["analyze", "--max-flows", "0", "x"],
                "'--max-flows <N>': expected at least 1",
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
