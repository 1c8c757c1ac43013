//! The `inorder` command. Each verb is one small file.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged input (what came before the damage
//! was used), 4 a threshold was exceeded, 130 interrupted.

mod cli;
mod error;
mod interrupt;
mod manners;
mod outputs;
mod progress;
mod select;
mod sorters;
mod usage;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cli::Cli;
use error::USAGE;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if usage::is_requested(&error) => error.exit(),
        Err(error) => {
            eprintln!("inorder: {}", usage::one_line(&error));
            return ExitCode::from(USAGE);
        }
    };
    cli.manners.apply();
    match cli.verb.run(Cli::command()) {
        Ok(code) => code,
        // The reader of our output closed it: this is no error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inorder: {error}");
            error.exit_code()
        }
    }
}
