//! The settings, with the paper's defaults.

use crate::sorters::config::{
    ConfigError, Entry, MAX_CAPACITY, Setting, SorterConfig, Surroundings,
};

/// The registry's description of this sorter.
pub const ENTRY: Entry = Entry::new(
    "srpic",
    "sorts each flow within the batch of an interrupt, holds nothing past its end",
    "Wu, Demar, Crawford, Sorting Reordered Packets with Interrupt Coalescing, 2009",
    &[BLOCK_SIZE, LITERAL],
);

/// [`Config::block_size`].
pub const BLOCK_SIZE: Setting = Setting::packets(
    "block_size",
    "Packets of a flow sorted together at most.",
    (1, MAX_CAPACITY as u64),
    32,
);

/// [`Config::literal`].
pub const LITERAL: Setting = Setting::flag(
    "literal",
    "The paper's listing to the letter: what passes at once may overtake held data.",
);

/// Settings of a [`super::Srpic`] sorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// BlockSize: the largest number of packets of a flow that are sorted together, 1 to 2^24. The paper uses 32.
    pub block_size: usize,
    /// Size of the receive ring in packets, 1 to 2^24. After this number of suitable packets every flow is flushed,
    /// so no more are ever held. The paper's receiver uses 512.
    pub ring_size: usize,
    /// Number of flows followed at once, 1 to 2^24. It is never the limit at `ring_size` or above, because only flows
    /// with a packet in the ring are followed; below that, a full table flushes every flow.
    pub flow_capacity: usize,
    /// Follows Listing 1 exactly, for reproduction; see [`super::Srpic`] for the differences.
    pub literal: bool,
    /// Secret key of the flow hash. Use a random number if senders may be hostile.
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
    /// The default with another BlockSize and ring size, and a flow table that is never the limit.
    pub fn new(block_size: usize, ring_size: usize) -> Self {
        Config {
            block_size,
            ring_size,
            flow_capacity: ring_size,
            ..Config::default()
        }
    }

    /// The configuration for `config`, which must name this sorter. The flow table is never the limit unless fewer
    /// flows are requested than the ring has places.
    pub(crate) fn from_settings(config: &SorterConfig, around: &Surroundings) -> Self {
        let packets = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Config {
            block_size: packets(config.value(&BLOCK_SIZE)),
            ring_size: around.ring_packets,
            flow_capacity: around.flows.min(around.ring_packets),
            literal: config.value(&LITERAL) != 0,
            hash_seed: around.hash_seed,
        }
    }

    /// Reports a value that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let check = |what, given: usize| {
            let fits = (1..=MAX_CAPACITY).contains(&given);
            fits.then_some(()).ok_or(ConfigError::OutOfRange {
                what,
                given: given as u64,
                min: 1,
                max: MAX_CAPACITY as u64,
            })
        };
        check("block size", self.block_size)?;
        check("ring size", self.ring_size)?;
        check("flow capacity", self.flow_capacity)
    }
}

/// The sorter with this BlockSize and otherwise default settings.
pub fn blocks_of(block_size: usize) -> SorterConfig {
    SorterConfig::of(&ENTRY).with(&BLOCK_SIZE, block_size as u64)
}
