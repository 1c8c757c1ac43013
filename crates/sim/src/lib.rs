//! Simulates TCP over paths that reorder, as described by scenario files.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use inorder_scenario::Scenario;
//! use inorder_sim::{Campaign, registries, run_all};
//!
//! let text = r#"
//! [run]
//! duration = "1 s"
//! repetitions = 2
//! [[flow]]
//! [[forward]]
//! kind = "link"
//! rate = "100 Mbit/s"
//! [[forward]]
//! kind = "delay"
//! delay = "5 ms"
//! [[reverse]]
//! kind = "delay"
//! delay = "5 ms"
//! [grid]
//! "forward.1.jitter" = ["0 ms", "0.5 ms"]
//! "#;
//! let cells = Scenario::load(text, "jitter.toml", &registries())?.cells()?;
//! let stop = AtomicBool::new(false); // a Ctrl-C handler may set it
//! let campaign = Campaign { repetitions: 0, threads: 2, progress: &(), stop: &stop };
//! let results = run_all(&cells, &campaign)?;
//! let late = |cell: usize| results[cell].estimate("reordered_at_stack").unwrap().mean;
//! assert_eq!(late(0), 0.0);
//! assert!(late(1) > 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A run is a function of a cell and a seed ([`run`]). Clocks, threads and the order of hash maps do not influence
//! it, so results are bit-identical on every machine. [`run_all`] runs a grid with its repetitions on all processors
//! and returns [`Measure`]s with Student's intervals; [`run_all_with`] keeps what its caller wants of each run.
//! [`run_tapped`] shows every packet at both ends; [`Captures`] writes these packets to files, with the truth.

#![forbid(unsafe_code)]

mod application;
mod build;
mod campaign;
mod capture;
mod cost;
mod destinations;
mod engine;
mod error;
mod event;
mod flow;
pub mod limits;
mod line;
mod measure;
mod network;
mod observer;
mod oracle;
mod order;
pub mod output;
mod own;
mod packet;
mod plan;
mod pool;
mod probes;
mod queue;
mod ranges;
mod result;
mod run;
mod samples;
mod spurious;
mod standstill;
mod statistics;
mod tap;
mod work;
mod world;

pub use build::{registries, registries_with, sorter_of};
pub use campaign::{Campaign, CellResult, Progress, Values, run_all, run_all_with};
pub use capture::{Captured, Captures, Damaged, Pairs, Truth, TruthEvent, TruthFlow};
pub use cost::{Cost, cost};
pub use engine::Engine;
pub use error::Error;
pub use flow::Counts;
pub use measure::{MEASURES, Measure, find as find_measure, values};
pub use observer::{EventKind, SenderEvent};
pub use oracle::NAME as ORACLE;
pub use order::Order;
pub use own::{MakeControl, MakeLossDetection, MakeSorter, Own, OwnSorter};
pub use packet::{Body, Channel, End, Packet};
pub use plan::{Changes, Results, cells, run_cells};
pub use ranges::Ranges;
pub use result::{FlowResult, LineResult, ProbeResult, RunResult};
pub use run::{Opening, openings, repetition_seed, run, run_tapped, run_watched};
pub use samples::{SAMPLES, Sample};
pub use statistics::{Estimate, estimate};
pub use tap::{NoTap, Tap};

/// The program in the tutorial works.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorials/congestion-control.md")]
struct CongestionControlTutorial;
