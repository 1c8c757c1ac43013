//! Tables, JSON, CSV, Parquet and the page.

pub mod csv;
pub mod html;
pub mod json;
mod model;
pub mod names;
mod peer;
pub mod table;
pub mod units;
mod verdict;

pub use model::{Analysis, StreamReport};
pub use peer::{ExtentAgreement, PeerComparison, PeerCounts, PeerFlow, PeerTotal, Score};
pub use verdict::{Totals, verdict};
