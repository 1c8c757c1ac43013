//! What an engine tells of one direction's data at its end.

use crate::collect::Collector;
use crate::result::{Confidence, Recoveries, Retransmission, Retransmissions};

/// What [`Arrival`](crate::arrival::Arrival) and [`Sender`](crate::sender::Sender) both tell.
#[derive(Debug)]
pub(crate) struct EngineEnd {
    pub(crate) collector: Box<Collector>,
    /// Originals, and their payload bytes.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) retransmissions: Retransmissions,
    /// Originals neither acknowledged nor known to be lost.
    pub(crate) undecided: u64,
    /// Of these, the ones below others that have arrived.
    pub(crate) unfilled: u64,
    /// Acknowledged segments that the capture lacks.
    pub(crate) missing: u64,
    pub(crate) recoveries: Recoveries,
    pub(crate) list: Vec<Retransmission>,
    /// Some of what was missing at once has been forgotten.
    pub(crate) forgot: bool,
    /// Originals that did not come by, though retransmissions of them did: of these alone arrivals tell.
    pub(crate) replaced: Replaced,
}

/// Originals in whose place retransmissions came: they are packets of the flow all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Of these, the ones told as lost.
    pub(crate) lost: u64,
    /// The retransmissions that came first in the place of those, where the capture was made on the path.
    pub(crate) by: Vec<Replacement>,
}

/// A retransmission that came first in the place of what was lost before the capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// Which of the retransmissions that came, from 1.
    pub(crate) number: u64,
    pub(crate) frame: u64,
    /// First byte of what was lost.
    pub(crate) start: i64,
    pub(crate) at_ns: i64,
    pub(crate) confidence: Confidence,
}

impl Replaced {
    /// Retransmissions that were needed for losses before the capture point.
    pub(crate) fn needed(&self) -> u64 {
        let mut numbers: Vec<u64> = self.by.iter().map(|one| one.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    }
}
