//! Which settings of SRPIC are tried.

/// Block sizes and coalescing times of SRPIC; each is tried with each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Largest sorting blocks, packets.
    pub block_sizes: Vec<u32>,
    /// Coalescing times of the card, nanoseconds.
    pub coalesce_ns: Vec<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            block_sizes: vec![8, 32, 128],
            coalesce_ns: vec![25_000, 75_000, 250_000],
        }
    }
}
