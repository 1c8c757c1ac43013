//! Papers, read from their files, and how an item of one is run.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::data::{ItemFile, PaperFile};
use crate::judge::judge;
use crate::quantity::Quantities;
use crate::{Findings, papers as own};

/// What stands in `experiments/`, by its path there.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The name of a paper's file in its folder.
const PAPER_FILE: &str = "/paper.toml";

/// How to run.
pub struct Context<'a> {
    /// A smaller grid and shorter runs, for a first look and for tests.
    pub quick: bool,
    /// Independent repetitions; `None`: as the experiment wants.
    pub repetitions: Option<u32>,
    /// Seed of the first repetition; the others follow.
    pub seed: u64,
    /// Threads; 0: one for each processor. The results do not depend on it.
    pub threads: usize,
    /// Told of runs done and runs known so far.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set to stop; what is complete is kept.
    pub stop: &'a AtomicBool,
}

#[cfg(test)]
impl<'a> Context<'a> {
    /// One repetition on the small grid, from seed 1.
    pub(crate) fn quick(stop: &'a AtomicBool) -> Self {
        Context {
            quick: true,
            repetitions: Some(1),
            seed: 1,
            threads: 0,
            progress: &|_, _| {},
            stop,
        }
    }
}

impl Context<'_> {
    /// Repetitions to make, where the experiment itself wants `usual`.
    pub fn repetitions_or(&self, usual: u32) -> u32 {
        self.repetitions
            .unwrap_or(if self.quick { 2 } else { usual })
            .max(1)
    }

    /// True once the user has had enough.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Why an item gave nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
    /// A printed table of this crate does not read.
    #[error("printed values: {0}")]
    Printed(#[from] crate::printed::PrintedError),
    /// A scenario of this crate does not read.
    #[error("{0}")]
    Scenario(#[from] inorder_scenario::Error),
    /// A scenario could not be run.
    #[error("{0}")]
    Sim(#[from] inorder_sim::Error),
    /// A network processor could not be simulated.
    #[error("{0}")]
    Netproc(#[from] inorder_netproc::NetprocError),
    /// The system gives no threads.
    #[error("no threads to run on: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A paper's file does not read.
    #[error("experiments/{file}: {what}")]
    Data {
        /// Path below `experiments/`.
        file: String,
        /// What is wrong, with the line where it is known.
        what: String,
    },
}

impl ExperimentError {
    /// Something is wrong in a file of a paper.
    pub(crate) fn data(file: &str, what: &impl ToString) -> Self {
        Self::Data {
            file: file.to_owned(),
            what: what.to_string(),
        }
    }
}

/// A paper.
pub struct Paper {
    /// Name for commands: that of its folder.
    pub name: &'static str,
    /// Authors, title, where and when.
    pub title: String,
    /// Its tables and figures.
    pub items: Vec<Item>,
}

/// A table or figure.
pub struct Item {
    /// `table-4`, `figure-7`.
    pub name: String,
    /// What it shows.
    pub about: String,
    run: Run,
}

/// What measures for an item, from the settings in its file.
pub(crate) type Reduction = fn(&Setting<'_>) -> Result<Quantities, ExperimentError>;

enum Run {
    Rust(fn(&Context<'_>) -> Result<Findings, ExperimentError>),
    Data {
        paper_file: &'static str,
        item: ItemFile,
        reduction: Reduction,
    },
}

/// What a reduction is given.
pub(crate) struct Setting<'a> {
    /// How to run.
    pub context: &'a Context<'a>,
    paper_file: &'a str,
    item: &'a ItemFile,
}

impl Setting<'_> {
    /// The settings of the item's `run`, as the reduction wants them.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ExperimentError> {
        let mut table = self.item.run.clone();
        table.remove("reduction");
        let wrong = |error: toml::de::Error| {
            let what = format!("item {}: run: {}", self.item.name, error.message());
            ExperimentError::data(self.paper_file, &what)
        };
        table.try_into().map_err(wrong)
    }
}

impl Item {
    /// Runs the scenarios and judges the claims.
    pub fn run(&self, context: &Context<'_>) -> Result<Findings, ExperimentError> {
        match &self.run {
            Run::Rust(run) => run(context),
            Run::Data {
                paper_file,
                item,
                reduction,
            } => {
                let setting = Setting {
                    context,
                    paper_file,
                    item,
                };
                let mut measured = reduction(&setting)?;
                for printed in &item.printed {
                    let value = (printed.value, printed.half_width);
                    measured.print(&printed.cell, &printed.measure, value);
                }
                Ok(Findings {
                    claims: judge(&item.claims, &measured, context.quick),
                    comparisons: measured.comparisons(&item.name),
                    remarks: item.remarks.clone(),
                })
            }
        }
    }
}

/// A file in `experiments/`, by its path there.
pub(crate) fn file(name: &str) -> Result<&'static str, ExperimentError> {
    let found = FILES.iter().find(|(path, _)| *path == name);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| ExperimentError::data(name, &"no such file"))
}

/// All papers; an error if a file of this crate does not read.
pub fn papers() -> Result<&'static [Paper], &'static ExperimentError> {
    static PAPERS: LazyLock<Result<Vec<Paper>, ExperimentError>> = LazyLock::new(read_all);
    PAPERS.as_deref()
}

/// The paper called `name`.
pub fn find(name: &str) -> Option<&'static Paper> {
    papers().ok()?.iter().find(|paper| paper.name == name)
}

fn read_all() -> Result<Vec<Paper>, ExperimentError> {
    let files = FILES.iter().filter(|(path, _)| path.ends_with(PAPER_FILE));
    let mut all = files
        .map(|(path, text)| read(path, text))
        .collect::<Result<Vec<_>, _>>()?;
    all.extend(own::LEGACY.iter().map(|(name, title, items)| {
        let item = |&(name, about, run): &own::LegacyItem| Item {
            name: name.to_owned(),
            about: about.to_owned(),
            run: Run::Rust(run),
        };
        Paper {
            name,
            title: (*title).to_owned(),
            items: items.iter().map(item).collect(),
        }
    }));
    Ok(all)
}

fn read(path: &'static str, text: &str) -> Result<Paper, ExperimentError> {
    let paper: PaperFile =
        toml::from_str(text).map_err(|error| ExperimentError::data(path, &error))?;
    let items = paper.items.into_iter().map(|item| {
        let name = item.run.get("reduction").and_then(toml::Value::as_str);
        let reduction = name.and_then(own::reduction).ok_or_else(|| {
            let known: Vec<_> = own::reductions().map(|(name, _)| name).collect();
            let what = format!(
                "item {}: run.reduction: expected one of {}",
                item.name,
                known.join(", ")
            );
            ExperimentError::data(path, &what)
        })?;
        Ok(Item {
            name: item.name.clone(),
            about: item.about.clone(),
            run: Run::Data {
                paper_file: path,
                item,
                reduction,
            },
        })
    });
    let items = items.collect::<Result<_, ExperimentError>>()?;
    Ok(Paper {
        name: path.strip_suffix(PAPER_FILE).unwrap_or(path),
        title: paper.title,
        items,
    })
}
