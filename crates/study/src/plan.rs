//! The plan of a study: what every task does, decided once.

use serde::{Deserialize, Serialize};

use crate::campaign::Campaign;
use crate::corpus::Corpus;
use crate::error::Error;
use crate::work::Work;
use inorder_scenario::population::Population;

/// The sign of our plans, with the version of their form.
const SCHEMA: &str = "inorder-study/1";

/// The version that is running.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a study does.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Analyses captures.
    Corpus(Corpus),
    /// Runs the grid of a scenario.
    Campaign(Campaign),
    /// Simulates connections whose settings are drawn, and captures them.
    Population(Population),
}

/// What a study does, and in which tasks. It is written before the first task runs; tasks are only ever added.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Plan {
    schema: String,
    /// The version of inorder that began it; empty if it was before versions were kept.
    #[serde(default)]
    inorder: String,
    /// What is done.
    pub job: Job,
    /// The tasks. The name of a task is its place here.
    pub tasks: Vec<Work>,
}

impl Plan {
    pub(crate) fn new(job: Job, tasks: Vec<Work>) -> Self {
        Plan {
            schema: SCHEMA.to_owned(),
            inorder: VERSION.to_owned(),
            job,
            tasks,
        }
    }

    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let plan: Plan = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("{name}: not the plan of a study: {error}")))?;
        match plan.schema == SCHEMA {
            true => Ok(plan),
            false => Err(Error::usage(format!(
                "{name}: expected a study of the form {SCHEMA}, found {}",
                plan.schema
            ))),
        }
    }

    /// Refuses to go on with what another version began: its results would not be those of one program.
    pub(crate) fn check_version(&self) -> Result<(), Error> {
        match self.inorder.as_str() {
            "" | VERSION => Ok(()),
            other => Err(Error::usage(format!(
                "this study was begun by inorder {other}; expected that version to go on with it, found {VERSION}"
            ))),
        }
    }

    pub(crate) fn text(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(Error::usage)
    }

    /// The name of a task, as in `task=000017`.
    pub fn name_of(task: usize) -> String {
        format!("{task:06}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_cut_into_tasks_without_a_gap() {
        let cut = |all, each| -> Vec<(u64, u64)> {
            let tasks = Work::items(all, each);
            let pair = |work: &Work| match work {
                Work::Items { first, count } => (*first, *count),
                Work::Captures(_) => unreachable!("only items were made"),
            };
            tasks.iter().map(pair).collect()
        };
        assert_eq!(cut(5, 2), [(0, 2), (2, 2), (4, 1)]);
        assert_eq!(cut(4, 4), [(0, 4)]);
        assert_eq!(cut(0, 4), []);
        assert_eq!(cut(2, 0), [(0, 1), (1, 1)]);
    }

    #[test]
    fn another_version_does_not_go_on_with_a_study() {
        let job = Job::Corpus(Corpus::default());
        let text = Plan::new(job, Vec::new()).text().unwrap();
        let check = |text: &str| Plan::parse(text, "study").unwrap().check_version();
        assert!(check(&text).is_ok());
        let own = format!("\"inorder\":\"{VERSION}\",");
        assert!(text.contains(&own), "{text}");
        assert!(
            check(&text.replace(&own, "")).is_ok(),
            "older plans have none"
        );
        let other = check(&text.replace(&own, "\"inorder\":\"0.0.9\","));
        let line = other.unwrap_err().to_string();
        assert!(
            line.starts_with("this study was begun by inorder 0.0.9;"),
            "{line}"
        );
    }
}
