//! What can be set, with the paper's defaults.

use core::fmt;

/// Most packets a ring, and flows a table, may be told to hold: indices are 32 bits wide and
/// memory is reserved in full at the start.
pub const MAX_CAPACITY: usize = 1 << 24;

/// Settings of a [`crate::Srpic`] sorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// BlockSize: most packets of one flow sorted together, 1 to 2^24. 32 in the paper.
    pub block_size: usize,
    /// Size of the receive ring in packets, 1 to 2^24: after so many suitable packets every flow
    /// is flushed, so no more are ever held. 512 in the paper's receiver.
    pub ring_size: usize,
    /// Flows followed at once, 1 to 2^24. At `ring_size` or above it is never the limit, since
    /// only flows with a packet in the ring are followed; below, a full table flushes every flow.
    pub flow_capacity: usize,
    /// Listing 1 to the letter, for reproduction; see [`crate::Srpic`] for what differs.
    pub literal: bool,
    /// Secret of the flow hash; any random number when senders may be hostile.
    pub hash_seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            block_size: 32,
            ring_size: 512,
            flow_capacity: 512,
            literal: false,
            hash_seed: 0,
        }
    }
}

impl Config {
    /// The default with another BlockSize and ring, and a flow table that is never the limit.
    pub fn new(block_size: usize, ring_size: usize) -> Self {
        Config {
            block_size,
            ring_size,
            flow_capacity: ring_size,
            ..Config::default()
        }
    }

    /// Says what is out of range, if anything.
    pub fn check(&self) -> Result<(), ConfigError> {
        let fits = |n: usize| (1..=MAX_CAPACITY).contains(&n);
        if !fits(self.block_size) {
            Err(ConfigError::BlockSize(self.block_size))
        } else if !fits(self.ring_size) {
            Err(ConfigError::RingSize(self.ring_size))
        } else if !fits(self.flow_capacity) {
            Err(ConfigError::FlowCapacity(self.flow_capacity))
        } else {
            Ok(())
        }
    }
}

/// Why a sorter could not be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// `block_size` is 0 or above [`MAX_CAPACITY`].
    BlockSize(usize),
    /// `ring_size` is 0 or above [`MAX_CAPACITY`].
    RingSize(usize),
    /// `flow_capacity` is 0 or above [`MAX_CAPACITY`].
    FlowCapacity(usize),
    /// Memory for the ring and the table could not be had; ask for less.
    OutOfMemory,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, given) = match self {
            ConfigError::BlockSize(n) => ("block size", n),
            ConfigError::RingSize(n) => ("ring size", n),
            ConfigError::FlowCapacity(n) => ("flow capacity", n),
            ConfigError::OutOfMemory => {
                return f.write_str("out of memory for ring and flow table");
            }
        };
        write!(f, "{what} must be 1 to {MAX_CAPACITY}, not {given}")
    }
}

impl core::error::Error for ConfigError {}
