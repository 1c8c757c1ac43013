//! `inorder man`: manual pages, generated from the definition of the command line.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap_mangen::Man;

use crate::error::{CliError, ExitCode, Outcome};
use crate::outputs;

/// Options of `inorder man`.
#[derive(clap::Args)]
pub struct Args {
    /// Write inorder.1 and one page for each verb into this folder instead of printing inorder.1
    dir: Option<PathBuf>,
}

/// Prints or writes the pages of `command`.
pub fn run(args: &Args, mut command: clap::Command) -> Outcome {
    command.build();
    match &args.dir {
        None => io::stdout().write_all(&page(&command)?)?,
        Some(dir) => write_all(&command, dir)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(command: &clap::Command, dir: &Path) -> Result<(), CliError> {
    outputs::directory(dir)?;
    write_with_verbs(command, "inorder", dir)
}

/// The page of a command and those of the verbs below it.
fn write_with_verbs(command: &clap::Command, name: &str, dir: &Path) -> Result<(), CliError> {
    write_page(command, name, dir)?;
    let verbs = command.get_subcommands();
    for verb in verbs.filter(|verb| verb.get_name() != "help") {
        write_with_verbs(verb, &format!("{name}-{}", verb.get_name()), dir)?;
    }
    Ok(())
}

fn write_page(command: &clap::Command, name: &str, dir: &Path) -> Result<(), CliError> {
    let path = dir.join(format!("{name}.1"));
    let page = page(command)?;
    outputs::to_file(&path, |out| out.write_all(&page))
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
