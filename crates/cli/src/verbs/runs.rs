//! What `simulate`, `campaign` and `lab` share: the scenario with its overrides, and the outputs of a campaign.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inorder_report::number::{count, plural};
use inorder_scenario::{Cell, Scenario};
use inorder_sim::output::{self, Report};
use inorder_sim::{Campaign, Own, Results, run_cells};

use crate::error::{CliError, usage};
use crate::progress::Bar;
use crate::{manners, outputs};

/// The options that change a scenario.
#[derive(clap::Args)]
pub(super) struct Changes {
    /// Override a key of the scenario, or an axis of its grid
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of the first repetition
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Runs of each cell
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repetitions: Option<u64>,
    /// A first look: one repetition with a tenth of the duration and of the warm-up
    #[arg(long)]
    quick: bool,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = manners::threads)]
    pub threads: usize,
}

/// The options that say where results go.
#[derive(clap::Args)]
pub(super) struct Outputs {
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE: a row for each run
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Write runs.parquet and samples.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Write an HTML page with window, threshold, round-trip time and throughput over time
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The files of --parquet.
const PARQUET: [&str; 2] = ["runs.parquet", "samples.parquet"];

impl Changes {
    /// Number of runs of each cell, if the options set it.
    pub(super) fn repetitions(&self) -> Option<u64> {
        self.repetitions.or(self.quick.then_some(1))
    }

    /// The scenario and its cells after the overrides were applied; `draws` if something is drawn over time.
    pub(super) fn cells(
        &self,
        file: &Path,
        draws: bool,
    ) -> Result<(Scenario, Vec<Cell>), CliError> {
        let text = read_text(file)?;
        let changes = inorder_sim::Changes {
            set: self.set.clone(),
            seed: self.seed,
            quick: self.quick,
            samples: draws,
        };
        let name = file.display().to_string();
        inorder_sim::cells(&text, &name, &changes, &Own::reading(read_beside))
            .map_err(CliError::usage)
    }

    /// The campaign that these options ask for.
    #[cfg(feature = "parquet")]
    pub(super) fn campaign(&self, file: &Path) -> Result<inorder_study::Campaign, CliError> {
        Ok(inorder_study::Campaign {
            scenario: read_text(file)?,
            file: file.display().to_string(),
            set: self.set.clone(),
            seed: self.seed,
            repetitions: self.repetitions,
            quick: self.quick,
        })
    }

    /// What part of the requested runs these are.
    pub(super) fn runs_done(&self, cells: &[Cell], done: usize) -> String {
        let wanted = |cell: &Cell| self.repetitions().unwrap_or(cell.config.run.repetitions);
        let wanted: u64 = cells.iter().map(wanted).sum();
        format!("with {} of {}", count(done as u64), plural(wanted, "run"))
    }
}

impl Outputs {
    /// Whether something is drawn or written over time.
    pub(super) fn draws(&self) -> bool {
        self.html.is_some() || self.parquet().is_some()
    }

    /// Checks the outputs before the first run.
    pub(super) fn prepare(&self, scenario: &Path) -> Result<(), CliError> {
        let files = [&self.json, &self.csv, &self.html];
        let printed = |path: &&PathBuf| path.as_os_str() == "-";
        if files.into_iter().flatten().filter(printed).count() > 1 {
            return usage!("the standard output takes one of --json, --csv and --html");
        }
        let named: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
        outputs::check(&named, &[scenario])?;
        if let Some(dir) = self.parquet() {
            outputs::directory(dir)?;
            outputs::check_in(dir, &PARQUET, &[scenario])?;
        }
        Ok(())
    }

    /// True if one of the files is the standard output, which then has no room for text.
    pub(super) fn take_stdout(&self) -> bool {
        let mut files = [&self.json, &self.csv, &self.html].into_iter().flatten();
        files.any(|path| path.as_os_str() == "-")
    }

    /// Writes all files.
    pub(super) fn write(&self, report: &Report<'_>) -> Result<(), CliError> {
        let mut written = outputs::Attempts::default();
        if let Some(path) = &self.json {
            written.of(outputs::write_to(path, |out| {
                output::write_json(out, report)
            }));
        }
        if let Some(path) = &self.csv {
            written.of(outputs::write_to(path, |out| {
                output::write_csv(out, report)
            }));
        }
        if let Some(path) = &self.html {
            written.of(outputs::write_to(path, |out| {
                output::write_page(out, report)
            }));
        }
        written.of(self.write_parquet(report));
        written.finish()
    }

    #[cfg(feature = "parquet")]
    fn parquet(&self) -> Option<&PathBuf> {
        self.parquet.as_ref()
    }

    #[cfg(not(feature = "parquet"))]
    #[expect(
        clippy::unused_self,
        reason = "without the feature there is no such option"
    )]
    fn parquet(&self) -> Option<&PathBuf> {
        None
    }

    #[cfg(feature = "parquet")]
    fn write_parquet(&self, report: &Report<'_>) -> Result<(), CliError> {
        let Some(dir) = &self.parquet else {
            return Ok(());
        };
        outputs::replace(&dir.join(PARQUET[0]), |file| {
            output::write_runs(file, report)
        })?;
        outputs::replace(&dir.join(PARQUET[1]), |file| {
            output::write_samples(file, report)
        })
    }

    #[cfg(not(feature = "parquet"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "without the feature there is nothing to write"
    )]
    fn write_parquet(&self, _: &Report<'_>) -> Result<(), CliError> {
        Ok(())
    }
}

/// The text of a scenario.
pub(super) fn read_text(file: &Path) -> Result<String, CliError> {
    let bytes = std::fs::read(file).map_err(CliError::file(file, "read"))?;
    let no_text = |_| std::io::Error::other("expected TOML, found bytes that are no text");
    let text = String::from_utf8(bytes).map_err(no_text);
    text.map_err(CliError::file(file, "read"))
}

/// The text of a file that a scenario names, relative to the folder of the scenario's own file.
pub(super) fn read_beside(scenario: &str, name: &str) -> Result<String, String> {
    let folder = Path::new(scenario).parent().unwrap_or(Path::new(""));
    let file = folder.join(name);
    crate::read_named(&file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The base name of each cell's captures: the name of the scenario file, with a number if there are several cells.
pub(super) fn names(scenario: &Path, cells: usize) -> impl Iterator<Item = String> {
    let stem = scenario.file_stem().map_or_else(
        || "scenario".into(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    (0..cells).map(move |number| match cells {
        1 => stem.clone(),
        _ => format!("{stem}-{number:03}"),
    })
}

/// Makes the folder `dir` of captures, and checks the `files` of each cell in it.
pub(super) fn prepare_captures<const N: usize>(
    scenario: &Path,
    cells: usize,
    dir: &Path,
    files: impl Fn(&Path, &str) -> [PathBuf; N],
) -> Result<(), CliError> {
    outputs::directory(dir)?;
    names(scenario, cells).try_for_each(|name| {
        let files = files(dir, &name);
        outputs::check(&files.each_ref().map(PathBuf::as_path), &[scenario])
    })
}

/// Simulates the cells.
pub(super) fn simulated(
    changes: &Changes,
    outputs: &Outputs,
    cells: &[Cell],
    stop: &AtomicBool,
) -> Result<Results, CliError> {
    let bar = Bar::simulated();
    let campaign = Campaign {
        repetitions: changes.repetitions().unwrap_or(0),
        threads: changes.threads,
        progress: &bar,
        stop,
    };
    run_cells(cells, &campaign, &Own::default(), outputs.draws()).map_err(CliError::usage)
}
