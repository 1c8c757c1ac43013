//! `inorder lab module`: builds modules for the lab's kernel.

use std::path::PathBuf;

use inorder_lab::kernel::DEFAULT;

use crate::error::{CliError, ExitCode, Outcome};
use crate::outputs;

/// Options of `inorder lab module`.
#[derive(clap::Args)]
#[command(after_help = "\
The modules are kept beside the kernel in the cache, and loaded for scenarios with network cards that coalesce \
interrupts or sort. The paths of the modules are printed.\n\n\
Examples:\n  inorder lab module kernel")]
pub(super) struct Args {
    /// Folder with the sources of the modules and their Kbuild: kernel/ of this project
    #[arg(value_name = "DIR")]
    sources: PathBuf,
    /// Version of the kernel
    #[arg(long, value_name = "VERSION", default_value = DEFAULT)]
    version: String,
    /// Build for the kernel of `inorder lab kernel --checked`
    #[arg(long)]
    checked: bool,
}

/// Builds the modules.
pub(super) fn run(args: &Args) -> Outcome {
    let kernel = super::kernel::cached(&args.version, args.checked)?;
    let built = kernel.build_modules(&args.sources).map_err(CliError::Lab)?;
    outputs::to_stdout(|out| {
        for module in &built {
            writeln!(out, "{}", module.display())?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
