//! What the Python package does for the command: several machines, buckets, and SQL. It is found as `python3 -m inorder`,
//! or as the interpreter that the variable INORDER_PYTHON names; the command that the package brings uses its own.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::error::{CliError, ExitCode, Outcome};

/// The interpreter that runs this command, if one does.
static HOST: OnceLock<PathBuf> = OnceLock::new();

/// Makes the interpreter known that runs this command.
pub fn is_host(interpreter: PathBuf) {
    let _ = HOST.set(interpreter);
}

/// Runs a module of the package with these arguments, and returns its exit code; `what` names what needs it.
pub(crate) fn run(module: &str, arguments: &[String], what: &str) -> Outcome {
    let named = std::env::var_os("INORDER_PYTHON").map(PathBuf::from);
    let interpreter = named
        .or_else(|| HOST.get().cloned())
        .unwrap_or_else(|| "python3".into());
    let missing = || {
        CliError::Python(format!(
            "{what} needs the Python package, which {} does not have: run `pip install '.[study,cluster]'` in a checkout of \
             inorder, or name the interpreter that has it in INORDER_PYTHON",
            interpreter.display()
        ))
    };
    let has = Command::new(&interpreter)
        .args(["-c", "import inorder"])
        .output();
    if !has.is_ok_and(|has| has.status.success()) {
        return Err(missing());
    }
    let done = Command::new(&interpreter)
        .arg("-m")
        .arg(module)
        .args(arguments)
        .status()
        .map_err(|_| missing())?;
    // Without a code it was ended by a signal, which it got as we did.
    let code = done.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::from(crate::error::INTERRUPTED), ExitCode::from))
}
