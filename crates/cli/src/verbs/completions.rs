//! `inorder completions`: completion scripts, generated from the definition of the command line.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::error::{ExitCode, Outcome};

/// Options of `inorder completions`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n  inorder completions bash > ~/.local/share/bash-completion/completions/inorder\n  \
inorder completions zsh > ~/.zfunc/_inorder")]
pub(crate) struct Args {
    /// The shell for which to print the script
    shell: Shell,
}

/// Prints the script for `command`.
pub(super) fn run(args: &Args, mut command: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "inorder", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
