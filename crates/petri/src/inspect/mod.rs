//! What can be found out about a place/transition net, and how it is printed.
//!
//! [`read`] takes any of the formats of nets, [`examine`] simulates, solves, explores and answers, and the [`Document`] has
//! the findings as text, JSON and tables.
//!
//! ```
//! use inorder_petri::inspect::{Watch, Wishes, examine, read};
//!
//! let text = "place free 1\nplace busy\n\
//!     transition begin exponential rate 1\n in free\n out busy\n\
//!     transition end exponential rate 3\n in busy\n out free\n";
//! let wishes = Wishes {
//!     exact: true,
//!     queries: vec!["P(busy = 1)".to_owned()],
//!     ..Wishes::default()
//! };
//! let document = examine(read("server", text.as_bytes())?, &wishes, &Watch::default())?;
//! let mut printed = Vec::new();
//! document.write_text(&mut printed)?;
//! assert!(String::from_utf8(printed)?.contains("P(busy = 1): 0.25"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod document;
mod ends;
mod error;
mod exact;
mod examine;
mod kind;
mod queries;
mod simulate;
mod source;
mod structure;
mod table;
#[cfg(feature = "arrow")]
mod tables;
#[cfg(test)]
mod tests;
mod watch;

pub use crate::markov::Solving;
pub use crate::text::ReadError;
pub use columns::write_schema;
pub use document::{Document, Findings};
pub use ends::Ends;
pub use error::{Error, SimulationError};
pub use exact::{Exact, ExactPlace, ExactTransition};
pub use examine::{Wishes, examine, examine_moves};
pub use kind::REAL;
pub use queries::{Answer, Known};
pub use simulate::{Clock, Settings, Simulated};
pub use source::{read, read_with};
pub use watch::{Progress, Watch};
