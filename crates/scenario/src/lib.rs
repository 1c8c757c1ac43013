//! Scenario files in TOML: what is sent over which paths, for how long, and what is varied.
//!
//! A typical scenario has twenty lines. Values carry their units, and each error is one line with the position and
//! the nearest valid name. [`Scenario::cells`] returns every combination of the grid as plain data with all defaults
//! filled in. This crate runs nothing and contains no algorithm: the names of algorithms are passed in as
//! [`Registries`].
//!
//! ```
//! use inorder_scenario::{Profile, Registries, Scenario};
//!
//! let text = r#"
//! [[flow]]
//! sender.congestion = "cubik"
//!
//! [[forward]]
//! kind = "link"
//! rate = "1 Gbit/s"
//!
//! [grid]
//! "flow.count" = [1, 5, 10]
//! "#;
//! let names = Registries {
//!     congestion: vec!["reno".into(), "cubic".into()],
//!     profiles: vec![Profile { name: "linux-6".into(), loss_detection: "linux".into() }],
//!     ..Registries::default()
//! };
//! let mut scenario = Scenario::load(text, "three.toml", &names)?;
//! assert_eq!(
//!     scenario.cells().unwrap_err().to_string(),
//!     "three.toml:3:21: congestion: unknown congestion control \"cubik\", \
//!      expected one of the congestion controls reno, cubic, nearest valid name \"cubic\"",
//! );
//! scenario.set("flow.sender.congestion=cubic")?;
//! let cells = scenario.cells()?;
//! assert_eq!(cells[2].label("flow.count"), Some("10"));
//! assert_eq!(cells[2].config.flows[0].count, 10);
//! # Ok::<(), inorder_scenario::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod config;
mod context;
mod cumulative;
mod declare;
mod dotted;
mod error;
mod fuzz;
mod grid;
pub mod kind;
mod names;
pub mod population;
mod quantity;
mod reader;
mod reference;
mod replaced;
mod scenario;
pub mod schema;
mod trace;
mod value;

pub use config::Config;
pub use cumulative::Cumulative;
pub use error::{Error, Place, Problem};
#[doc(hidden)]
pub use fuzz::fuzz_one;
pub use grid::{Axis, Point};
pub use names::{FileReader, Profile, Registries, SorterCheck};
pub use reference::{defaults, markdown};
pub use scenario::{Cell, Scenario};
pub use trace::{OPPORTUNITY_BYTES, Trace};
