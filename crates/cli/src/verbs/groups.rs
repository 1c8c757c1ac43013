//! The verbs in groups, as `inorder help` lists them.

use std::fmt::Write;

use clap::Command;

/// Verbs that serve one purpose.
struct Group {
    /// What they do, in a word.
    title: &'static str,
    /// What they are applied to.
    sentence: &'static str,
    /// Their names; those that were not compiled in are left out.
    verbs: &'static [&'static str],
}

/// Every verb, once.
const GROUPS: [Group; 6] = [
    Group {
        title: "Analyse",
        sentence: "What happened to the packets of a capture, a log or a network interface.",
        verbs: &[
            "analyze", "compare", "diff", "qlog", "metrics", "watch", "probe", "reflect",
        ],
    },
    Group {
        title: "Reproduce",
        sentence: "TCP over paths that reorder, simulated or on real Linux, and the papers about them.",
        verbs: &["simulate", "lab", "emulate", "packetdrill", "reproduce"],
    },
    Group {
        title: "Repair",
        sentence: "Packets sorted before TCP receives them, in a capture or as they arrive.",
        verbs: &["sort", "live"],
    },
    Group {
        title: "Model",
        sentence: "Network processors and other systems as Petri nets.",
        verbs: &["netproc", "petri"],
    },
    Group {
        title: "Study",
        sentence: "Many captures or simulations as tasks that can be interrupted, and questions to their results.",
        verbs: &["corpus", "campaign", "population", "query", "summary"],
    },
    Group {
        title: "Command line",
        sentence: "Help, manual pages and completions.",
        verbs: &["help", "man", "completions"],
    },
];

/// The longest line where the terminal is wider, as in the help of each verb.
const WIDEST: usize = 100;
/// Columns in front of what a verb does.
const INDENT: usize = 15;

/// `command` with a help text that lists its verbs in groups, in lines of at most `width` columns.
pub(crate) fn grouped(command: Command, width: Option<usize>) -> Command {
    let width = width.map_or(WIDEST, |width| width.min(WIDEST));
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for group in &GROUPS {
        text.push_str(&wrapped(
            &format!("{}: {}", group.title, group.sentence),
            0,
            width,
        ));
        for verb in group.verbs {
            let about = match (*verb, command.find_subcommand(verb)) {
                ("help", _) => "Print this list, or the help of a verb".to_owned(),
                (_, None) => continue,
                (_, Some(found)) => found
                    .get_about()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            };
            let _ = write!(text, "  {verb:<0$}", INDENT - 2);
            text.push_str(wrapped(&about, INDENT, width).trim_start());
        }
        text.push('\n');
    }
    text.push_str("Options:\n{options}{after-help}");
    command.help_template(text)
}

/// `words` in lines of at most `width` columns, each of which begins with `indent` spaces.
fn wrapped(words: &str, indent: usize, width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words.split_whitespace() {
        if column > 0 && column + 1 + word.len() <= width {
            text.push(' ');
            column += 1;
        } else {
            if column > 0 {
                text.push('\n');
            }
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_verb_is_in_one_group() {
        let command = Cli::command();
        for verb in command.get_subcommands().map(Command::get_name) {
            let times = GROUPS.iter().flat_map(|group| group.verbs);
            assert_eq!(times.filter(|name| **name == verb).count(), 1, "{verb}");
        }
        for name in GROUPS.iter().flat_map(|group| group.verbs) {
            let is_known = *name == "help" || command.find_subcommand(name).is_some();
            assert!(is_known || !cfg!(feature = "parquet"), "{name}");
        }
    }

    #[test]
    fn the_help_fits_the_terminal() {
        for width in [40, 80, 200] {
            let help = grouped(Cli::command(), Some(width))
                .term_width(width)
                .render_help()
                .to_string();
            let listed = help.split("\nOptions:").next().unwrap_or_default();
            assert!(listed.contains("\nRepair: "), "{help}");
            for line in listed.lines() {
                assert!(line.len() <= width.min(WIDEST), "{width}: {line}");
            }
        }
    }
}
