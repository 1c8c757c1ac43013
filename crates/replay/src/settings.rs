//! The card, its sorter, and what it sorts.

use std::hash::{BuildHasher, Hasher, RandomState};

use inorder_filter::Filter;
use inorder_sort::{ConfigError, SorterConfig, Surroundings, srpic};

/// How a capture is replayed. The default is SRPIC behind a card of 75 us and a ring of 512, for TCP.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The sorter.
    pub sorter: SorterConfig,
    /// Time from the first packet at an idle ring to the interrupt, nanoseconds.
    pub coalesce_ns: i64,
    /// Packets the receive ring holds; a full ring fires the interrupt at once.
    pub ring_packets: usize,
    /// Whether other numbered services are sorted as well: RTP, ESP, WireGuard, ICMP echo, GRE.
    pub services: bool,
    /// Which flows and streams are sorted, all if `None`; all other frames pass at once.
    pub filter: Option<Filter>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sorter: SorterConfig::of(&srpic::ENTRY),
            coalesce_ns: 75_000,
            ring_packets: 512,
            services: false,
            filter: None,
        }
    }
}

impl Settings {
    /// SRPIC finds every flow of a batch, so its result does not depend on the hash, whose key is secret: flows of a capture
    /// may be chosen to collide. The other sorters look at a few places only, whatever collides; which flows share them
    /// decides what they follow, so there the key stays the same, and so does the result.
    pub(crate) fn around(&self) -> Surroundings {
        let around = Surroundings::ring(self.ring_packets);
        match self.sorter.entry().name == srpic::ENTRY.name {
            true => Surroundings {
                hash_seed: RandomState::new().build_hasher().finish(),
                ..around
            },
            false => around,
        }
    }

    /// Checks the sorter's settings against the ring without replaying anything.
    ///
    /// # Errors
    /// If they contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.sorter.build::<u32, ()>(&self.around()).map(drop)
    }
}
