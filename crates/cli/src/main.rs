//! The `inorder` command; the library of this package runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(inorder_command::run(std::env::args_os()))
}
