//! `inorder lab kernel`: builds the lab's kernel once.

use inorder_lab::kernel::{Building, DEFAULT, Kernel, Kind, Source, build, cache};

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome};
use crate::progress::Bar;
use crate::{interrupt, outputs};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Options of `inorder lab kernel`.
#[derive(clap::Args)]
#[command(after_help = "\
The source is that of Debian's package linux-source-VERSION. The build takes about six minutes of processor time and \
2 GB in the cache folder, of which 100 MB stay. The path of the kernel is printed.\n\n\
Examples:\n  inorder lab kernel\n  inorder lab kernel --jobs 2\n  inorder lab kernel --cached")]
pub(super) struct Args {
    /// Version of the kernel, as in the name of the package linux-source-VERSION
    #[arg(long, value_name = "VERSION", default_value = DEFAULT)]
    version: String,
    /// Number of compilers at once [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A kernel that checks its memory accesses, locks and leaks, for tests of modules
    #[arg(long)]
    checked: bool,
    /// Only print the path of the kernel if it is in the cache, and fail otherwise
    #[arg(long)]
    cached: bool,
}

fn folder() -> Result<PathBuf, CliError> {
    cache().ok_or_else(|| {
        CliError::Lab("no folder for caches: neither XDG_CACHE_HOME nor HOME is set".to_owned())
    })
}

fn kind(checked: bool) -> Kind {
    match checked {
        true => Kind::Checked,
        false => Kind::Usual,
    }
}

/// The kernel of this version in the cache.
pub(super) fn cached(version: &str, checked: bool) -> Result<Kernel, CliError> {
    let cache = folder()?;
    Kernel::cached(&cache, version, kind(checked)).ok_or_else(|| {
        let option = if checked { " --checked" } else { "" };
        CliError::Lab(format!(
            "there is no such kernel {version} in {}; expected it after `inorder lab kernel --version {version}{option}`",
            cache.display()
        ))
    })
}

/// Builds, or finds, the kernel.
pub(super) fn run(args: &Args) -> Outcome {
    let cache = folder()?;
    let kind = kind(args.checked);
    let kernel = match Kernel::cached(&cache, &args.version, kind) {
        Some(kernel) => kernel,
        None if args.cached => cached(&args.version, args.checked)?,
        None => {
            let stop = interrupt::flag();
            let bar = Bar::endless();
            let source = Source::find(&args.version).map_err(CliError::Lab)?;
            let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let building = Building {
                cache: &cache,
                kind,
                jobs: args.jobs.unwrap_or(cores),
                stop,
                say: &|text| bar.say(text),
            };
            match build(&source, &building) {
                Ok(kernel) => kernel,
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(ExitCode(INTERRUPTED)),
                Err(problem) => return Err(CliError::Lab(problem)),
            }
        }
    };
    outputs::to_stdout(|out| writeln!(out, "{}", kernel.executable().display()))?;
    Ok(ExitCode::SUCCESS)
}
