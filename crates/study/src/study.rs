//! A study in its folder.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inorder_sim::CellResult;

use crate::error::Error;
use crate::folder::{Folder, Lock};
use crate::listing::tasks;
use crate::open::Open;
use crate::outcome::Outcome;
use crate::plan::{Job, Plan};
use crate::tables::{CAPTURES, ERRORS, TASK, TASKS, TaskRow};
use crate::tally::Tally;
use crate::work::{Listed, Work};
use crate::{campaign, corpus, population};

/// The job, understood.
enum Ready {
    Corpus(Box<corpus::Ready>),
    Campaign(Box<campaign::Ready>),
    Population(Box<population::Ready>),
}

impl Ready {
    fn of(job: &Job) -> Result<Self, Error> {
        Ok(match job {
            Job::Corpus(job) => Ready::Corpus(Box::new(job.ready()?)),
            Job::Campaign(job) => Ready::Campaign(Box::new(job.ready()?)),
            Job::Population(job) => Ready::Population(Box::new(population::Ready::new(job)?)),
        })
    }
}

/// A study: a plan, and what is done of it.
pub struct Study {
    folder: Folder,
    plan: Plan,
    ready: Ready,
    /// Held by the process that planned it, not by others that only run tasks.
    _lock: Option<Lock>,
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study")
            .field("folder", &self.folder)
            .field("tasks", &self.plan.tasks.len())
            .finish_non_exhaustive()
    }
}

impl Study {
    /// Begins a study in `root`, or goes on with the one that is there. `captures` are those of a corpus; `per_task` is the
    /// number of runs of a task of a campaign, or of connections of a population, 0 for a sensible one.
    ///
    /// A study that goes on keeps its tasks; captures that are new become further tasks.
    ///
    /// # Errors
    /// If the job is wrong, the folder has something else or a study that asked for something else, or another process is
    /// working on it.
    pub fn begin(
        root: &Path,
        job: Job,
        captures: Vec<Listed>,
        per_task: u64,
    ) -> Result<Self, Error> {
        let ready = Ready::of(&job)?;
        let folder = Folder::new(root);
        folder.create()?;
        let lock = folder.lock()?;
        folder.sweep();
        let plan = match folder.has_plan() {
            true => continued(&folder, &job, captures)?,
            false => {
                let tasks = match &ready {
                    Ready::Corpus(_) => tasks(captures),
                    Ready::Campaign(job) => job.tasks(per_task),
                    Ready::Population(job) => job.tasks(per_task),
                };
                Plan::new(job, tasks)
            }
        };
        folder.write_schema(TASKS, |out| {
            inorder_report::parquet::write(out, TASK, [] as [TaskRow; 0])
        })?;
        match &ready {
            Ready::Corpus(job) => job.write_schemas(&folder)?,
            Ready::Campaign(job) => job.write_schemas(&folder)?,
            Ready::Population(job) => job.write_schemas(&folder)?,
        }
        folder.write_plan(&plan.text()?)?;
        Ok(Study {
            folder,
            plan,
            ready,
            _lock: Some(lock),
        })
    }

    /// Opens the study in `root`, to run single tasks or to read results.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let folder = Folder::new(root);
        let plan = Plan::parse(&folder.read_plan()?, &root.display().to_string())?;
        Ok(Study {
            ready: Ready::of(&plan.job)?,
            folder,
            plan,
            _lock: None,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The tasks that are not done, by their places in the plan.
    pub fn todo(&self) -> Vec<usize> {
        let all = 0..self.plan.tasks.len();
        all.filter(|&task| !self.is_done(task)).collect()
    }

    /// True if the results of the task, by its place in the plan, are all there.
    pub fn is_done(&self, task: usize) -> bool {
        self.folder.part(TASKS, &Plan::name_of(task)).is_file()
    }

    /// True if a capture of the task, which is done, is damaged or could not be read.
    fn has_errors(&self, task: usize) -> bool {
        self.folder.part(ERRORS, &Plan::name_of(task)).is_file()
    }

    /// How much is done.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for (task, work) in self.plan.tasks.iter().enumerate() {
            tally.tasks += 1;
            tally.items += work.len();
            if self.is_done(task) {
                tally.done += 1;
                tally.items_done += work.len();
                tally.with_errors += usize::from(self.has_errors(task));
            }
        }
        tally
    }

    /// What the captures of a corpus that are done say on the whole.
    ///
    /// # Errors
    /// If the lines of a task cannot be read.
    pub fn outcome(&self) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        for task in (0..self.plan.tasks.len()).filter(|&task| self.is_done(task)) {
            let part = |table| self.folder.part(table, &Plan::name_of(task));
            let (lines, failures) = (part(CAPTURES), part(ERRORS));
            if lines.is_file() {
                outcome.lines(&lines)?;
            }
            if failures.is_file() {
                outcome.failures(&failures)?;
            }
        }
        Ok(outcome)
    }

    /// As [`Tally::complaint`].
    pub fn complaint(&self) -> Option<String> {
        self.tally().complaint(self.folder.root())
    }

    /// Runs a task and writes its results: the same files whenever and wherever it runs.
    ///
    /// # Errors
    /// If there is no such task, it cannot run, its results cannot be written, or `stop` became true.
    pub fn run_task(
        &self,
        task: usize,
        open: &dyn Open,
        stop: &Arc<AtomicBool>,
    ) -> Result<TaskRow, Error> {
        self.plan.check_version()?;
        let work = self.plan.tasks.get(task);
        let work = work.ok_or_else(|| {
            let tasks = self.plan.tasks.len();
            Error::usage(format!("expected a task below {tasks}, found {task}"))
        })?;
        let name = Plan::name_of(task);
        let mismatch = || Error::usage("the plan has a task that is not of its job");
        let row = match (&self.ready, work) {
            (Ready::Corpus(job), Work::Captures(captures)) => {
                job.run(&self.folder, &name, captures, open, stop)?
            }
            (Ready::Campaign(job), Work::Items { first, count }) => {
                job.run(&self.folder, &name, *first..first + count, stop)?
            }
            (Ready::Population(job), Work::Items { first, count }) => {
                job.run(&self.folder, &name, *first..first + count, stop)?
            }
            _ => return Err(mismatch()),
        };
        self.folder.write_part(TASKS, &name, |out| {
            inorder_report::parquet::write(out, TASK, [row])
        })?;
        Ok(row)
    }

    /// The title of a campaign and the results of its cells so far, in the order of the grid; cells without runs are there,
    /// too.
    ///
    /// # Errors
    /// If this is no campaign, or its files cannot be read.
    pub fn cells(&self) -> Result<(String, Vec<CellResult>), Error> {
        let Ready::Campaign(job) = &self.ready else {
            return Err(Error::usage("expected the study of a campaign"));
        };
        let tasks = self.plan.tasks.iter().enumerate();
        let done: Vec<(String, u64)> = tasks
            .filter(|(task, _)| self.is_done(*task))
            .filter_map(|(task, work)| match work {
                Work::Items { first, .. } => Some((Plan::name_of(task), *first)),
                Work::Captures(_) => None,
            })
            .collect();
        job.read(&self.folder, &done)
    }
}

/// The plan that is in the folder, with the captures that are new.
fn continued(folder: &Folder, job: &Job, captures: Vec<Listed>) -> Result<Plan, Error> {
    let name = folder.root().display().to_string();
    let mut plan = Plan::parse(&folder.read_plan()?, &name)?;
    plan.check_version()?;
    if plan.job != *job {
        return Err(Error::usage(format!(
            "{name}: has a study that asked for something else; expected the same scenario and options as there, or \
             another folder"
        )));
    }
    let known: std::collections::BTreeMap<&str, &Listed> = plan
        .tasks
        .iter()
        .filter_map(|work| match work {
            Work::Captures(captures) => Some(captures),
            Work::Items { .. } => None,
        })
        .flatten()
        .map(|capture| (capture.file.as_str(), capture))
        .collect();
    let mut fresh = Vec::new();
    for capture in captures {
        match known.get(capture.file.as_str()) {
            Some(planned) if **planned == capture => {}
            Some(_) => {
                return Err(Error::usage(format!(
                    "{}: this capture changed, or is another one, since the study in {name} began; expected the same \
                     captures, or another folder",
                    capture.path
                )));
            }
            None => fresh.push(capture),
        }
    }
    plan.tasks.extend(tasks(fresh));
    Ok(plan)
}
