//! Studies: many captures, or many simulated runs, as tasks whose results are datasets of Parquet files.
//!
//! A [`Study`] is a folder with a plan and its results. Its tasks are independent of each other, and each is a function of
//! the plan ([`Study::run_task`]), so they may run in any order, on any number of threads or machines, and more than
//! once. What a task writes appears at once or not at all, and the row in the table `tasks` that marks it as done is
//! written last. So a study that was killed loses the tasks that were running, and going on is the same as beginning:
//! tasks that are done are not run again.
//!
//! | job | a task is | tables |
//! |---|---|---|
//! | [`Corpus`] | a few captures | those of `inorder analyze`, and `errors` for captures that cannot be read to their end |
//! | [`Campaign`] | a few runs of a scenario's grid | `runs` |
//! | [`Population`] | a few connections with drawn settings | captures, `connections` with the settings and the truth, `truth` with every event |
//!
//! Layout of the folder:
//!
//! ```text
//! study.json                          the job and the tasks
//! TABLE/_schema.parquet               the columns, without rows
//! TABLE/task=000017/part.parquet      the rows of a task that has any
//! tasks/task=000017/part.parquet      the task is done
//! tmp/                                what is being written
//! ```

#![forbid(unsafe_code)]

mod campaign;
mod corpus;
mod error;
mod folder;
mod listing;
mod open;
mod outcome;
mod plan;
mod population;
mod run;
mod study;
mod tables;
mod tally;
mod work;

pub use campaign::Campaign;
pub use corpus::Corpus;
pub use error::Error;
pub use inorder_scenario::population::{Network, Population};
pub use listing::{Listing, list};
pub use open::{Changed, Open};
pub use outcome::Outcome;
pub use plan::{Job, Plan};
pub use run::Progress;
pub use study::Study;
pub use tables::TaskRow;
pub use tally::Tally;
pub use work::{Listed, Work};
