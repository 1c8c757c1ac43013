//! The `inorder` command as a function, for the program of that name and for the one that the Python package brings.
//! Each verb is one small file.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged input (what came before the damage
//! was used), 4 a threshold was exceeded, 130 interrupted.

#![forbid(unsafe_code)]

mod cli;
mod error;
mod exporter;
mod interrupt;
mod manners;
mod named;
mod outputs;
mod progress;
mod python;
mod running;
mod select;
mod sorters;
mod usage;
mod verbs;

pub use named::read as read_named;
pub use python::is_host as set_python;
pub use select::moment as parse_moment;
pub use sorters::parse as parse_sorter;

use std::ffi::OsString;
use std::io::Write;

use clap::CommandFactory;
use cli::Cli;
use error::{CliError, ExitCode, Outcome, USAGE};

/// Runs the command with `arguments`, the first of which is the name of the program, and returns its exit code.
///
/// It prints, and it takes over Ctrl-C for as long as the process lives.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = match cli::parse(arguments.into_iter().collect()) {
        Ok(cli) => {
            cli.manners.apply();
            told(cli.verb.run(Cli::command))
        }
        Err(error) if usage::is_requested(&error) => told(usage::print(&error)),
        Err(error) => {
            manners::complain(usage::one_line(&error));
            ExitCode::from(USAGE)
        }
    };
    // In a host that is not a Rust program, nothing else writes the last line if it is incomplete. That the standard
    // output cannot be written was noticed before.
    let _ = std::io::stdout().flush();
    code.0
}

/// The exit code, after an error was printed.
fn told(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(code) => code,
        // The reader of our output closed it: this is no error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            match &error {
                CliError::Lab(said) | CliError::Python(said) => manners::complain_in_lines(said),
                error => manners::complain(error),
            }
            error.exit_code()
        }
    }
}
