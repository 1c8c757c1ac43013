//! The `inorder` command. Each verb is one small file.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged input (what came before the damage
//! was used), 130 interrupted.

mod annotations;
mod cli;
mod error;
mod interrupt;
mod outputs;
mod progress;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().verb.run(Cli::command()) {
        Ok(code) => code,
        // The reader of our output closed it: this is no error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inorder: {error}");
            error.exit_code()
        }
    }
}
