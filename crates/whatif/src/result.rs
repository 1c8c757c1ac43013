//! What a sorting receiver would have left of the reordering.

use std::sync::Arc;

use inorder_sort::{SorterConfig, srpic};

/// One setting of a sorter laid over a receiver-side capture.
#[derive(Clone, PartialEq, Debug)]
pub struct WhatIf {
    /// A sorter by name and settings; `None`: SRPIC with blocks of `block_size`. It is kept elsewhere, since
    /// it is as large as the rest and few results have one; flows in order share it.
    pub sorter: Option<Arc<SorterConfig>>,
    /// Largest sorting block of SRPIC, packets; 0 of a sorter by name.
    pub block_size: u32,
    /// Interrupt coalescing delay, nanoseconds.
    pub coalesce_ns: u64,
    /// Reordered packets left (RFC 4737 section 3).
    pub reordered: u64,
    /// Reordered packets left as a share of all packets.
    pub reordered_ratio: f64,
    /// Greatest extent left (RFC 4737 section 4.2), packets.
    pub max_extent: u32,
    /// Immediate duplicate acknowledgements that sorting would have saved, against the same
    /// packets unsorted.
    pub dupacks_saved: u64,
    /// Mean time a packet waited, for the end of its batch or for what was missing before it, nanoseconds.
    pub mean_added_delay_ns: u64,
    /// The time that half of the packets did not exceed, nanoseconds; `None` without packets. Of SRPIC by block size it is read
    /// off to a 32nd of the coalescing time.
    pub p50_added_delay_ns: Option<u64>,
    /// The time that 99 % of the packets did not exceed, nanoseconds; `None` without packets.
    pub p99_added_delay_ns: Option<u64>,
    /// Greatest such time, nanoseconds.
    pub max_added_delay_ns: u64,
    /// How long the sorter would hold a packet at the end of the flow, by what it had learnt, nanoseconds; `None` of
    /// sorters that hold nothing past the end of a batch.
    pub bound_ns: Option<u64>,
}

impl WhatIf {
    /// The sorter and its settings as one word.
    pub fn name(&self) -> String {
        match &self.sorter {
            Some(sorter) => sorter.to_string(),
            None => srpic::blocks_of(self.block_size as usize).to_string(),
        }
    }
}
