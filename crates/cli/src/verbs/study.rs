//! What `corpus`, `campaign` and `population` share: where results go, and how tasks run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use inorder_report::number::{count, plural};
use inorder_study::{Error, Job, Progress, Study, Tally};

use crate::error::{CliError, DAMAGED, ExitCode, INTERRUPTED, Outcome};
use crate::progress::Bar;
use crate::{interrupt, manners, outputs, python};

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Where results go, and who works.
#[derive(clap::Args)]
pub(super) struct Place {
    /// The folder of the study: datasets of Parquet files, partitioned by task. Running again goes on with it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Hand the tasks to the workers of this Dask scheduler, which see DIR under the same path; needs the Python package.
    /// `local:N` starts N workers here
    #[arg(long, value_name = "ADDRESS")]
    pub scheduler: Option<String>,
}

impl Place {
    /// True if the Python package does the work.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.scheduler.is_some()
    }

    /// Lets the Python package do it.
    pub(super) fn elsewhere(&self, job: &Job, captures: &[String], per_task: u64) -> Outcome {
        let request = serde_json::json!({
            "job": job,
            "captures": captures,
            "out": self.out,
            "per_task": per_task,
            "scheduler": self.scheduler,
            "progress": manners::may_show_progress(),
            "quiet": manners::is_quiet(),
        });
        let what = match self.scheduler {
            Some(_) => "--scheduler",
            None => "a capture in a bucket",
        };
        python::run("inorder.cluster", &[request.to_string()], what)
    }

    /// Runs the tasks on the threads of this process.
    pub(super) fn run(&self, study: &Study, threads: usize) -> Result<Tally, CliError> {
        let bar = TaskBar(Bar::counting("", "tasks"));
        let stop = Arc::new(AtomicBool::new(false));
        let interrupted = interrupt::flag();
        let ended = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    if interrupted.load(Ordering::Relaxed) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(LOOK);
                }
            });
            let done = study.run(threads, &(), &bar, &stop);
            ended.store(true, Ordering::Relaxed);
            done
        });
        done.map_err(CliError::from)
    }

    /// What is done, and how to go on.
    pub(super) fn report(&self, tally: &Tally, things: &str, more: &str) -> Outcome {
        let out = self.out.display();
        let (done, all) = (tally.items_done, tally.items);
        if !tally.is_complete() {
            manners::complain(format_args!(
                "interrupted: {} of {} {things} are done; the same command goes on with the rest",
                count(done),
                count(all)
            ));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let all = plural(all, things.trim_end_matches('s'));
        outputs::text(|to| writeln!(to, "{all}: {out}\n{more}"))?;
        if let Some(complaint) = tally.complaint(&self.out) {
            manners::complain(&complaint);
            return Ok(ExitCode::from(DAMAGED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

struct TaskBar(Bar);

impl Progress for TaskBar {
    fn at(&self, done: usize, all: usize) {
        self.0.at(done as u64, Some(all as u64));
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        match error {
            Error::File {
                path,
                action,
                source,
            } => CliError::File {
                path,
                action,
                source,
            },
            error => CliError::Usage(error.to_string()),
        }
    }
}

/// How to look at the results.
pub(super) fn query(out: &Path, sql: &str) -> String {
    format!("    inorder query '{sql}' {}", out.display())
}
