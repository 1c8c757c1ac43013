//! What to look for and what to keep.

use inorder_sort::SorterConfig;

use crate::explanation::Explanations;
use crate::result::Vantage;

/// How a [`Tracker`](crate::Tracker) works.
#[derive(Clone, Debug)]
pub struct Config {
    /// Take every capture as made here; `None` infers it for each connection.
    pub vantage: Option<Vantage>,
    /// Keep every event and retransmission, not only their distributions.
    pub keep_events: bool,
    /// Keep points for a time-sequence diagram.
    pub keep_points: bool,
    /// Lay SRPIC over receiver-side captures.
    pub what_if: bool,
    /// Block sizes of the what-if, packets.
    pub block_sizes: Vec<u32>,
    /// Sorters laid over them besides, by name and settings.
    pub sorters: Vec<SorterConfig>,
    /// Coalescing times of the what-if, nanoseconds.
    pub coalesce_ns: Vec<u64>,
    /// What the inference at the sender weighs.
    pub explanations: Explanations,
    /// A connection with no packet for this long is closed, nanoseconds.
    pub idle_ns: i64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            vantage: None,
            keep_events: false,
            keep_points: false,
            what_if: true,
            block_sizes: vec![8, 32, 128],
            sorters: Vec::new(),
            coalesce_ns: vec![25_000, 75_000, 250_000],
            explanations: Explanations::default(),
            idle_ns: 600_000_000_000,
        }
    }
}
