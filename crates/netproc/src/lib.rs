//! Network processors that reorder, as coloured timed Petri nets: the files of `nets`, which `inorder-nets` runs.
//!
//! The model of the Intel IXP 2400 follows S. Govind, R. Govindarajan and J. Kuri, "Packet reordering in network
//! processors" (IPDPS 2007): micro-engines and threads that finish out of order, the memories they wait for, and the
//! schemes that restore the order. In addition to the paper there is a software [`forwarder`] whose cores work in
//! bursts.
//!
//! ```
//! use inorder_netproc::{Config, run};
//!
//! let base = Config { packets: 5_000, ..Config::default() };
//! let outcome = run(&base)?;
//! assert!((outcome.throughput_gbps - 2.96).abs() < 0.1);
//! // DRAM is what limits; packets wait for it, and behind those that are late.
//! let dram = outcome.utilisation.iter().find(|u| u.resource == "DRAM").map(|u| u.share());
//! assert!(dram > Some(0.99));
//!
//! let signalled = run(&Config { scheme: "its".to_owned(), ..base })?;
//! assert_eq!(signalled.hops[0].dupacks, 0);
//! # Ok::<(), inorder_netproc::NetprocError>(())
//! ```

#![forbid(unsafe_code)]

mod account;
pub mod calibration;
mod config;
mod error;
pub mod forwarder;
#[cfg(test)]
mod invariants;
mod model;
mod online;
pub mod picture;
mod repeat;
mod report;
mod rows;
mod run;
pub mod scheme;

pub use account::{Resource, Spent, Utilisation};
pub use config::{Arbitration, Config, ConfigError, Dequeue, Length, Traffic};
pub use error::NetprocError;
pub use online::{Exit, Online};
pub use repeat::{Repetitions, repeat};
pub use report::{Report, write_schema};
pub use rows::Row;
pub use run::{Firings, Outcome, check, run, run_while, warm_up};
