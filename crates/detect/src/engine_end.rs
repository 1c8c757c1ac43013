//! What an engine tells of one direction's data at its end.

use crate::collect::Collector;
use crate::result::{Recoveries, Retransmission, Retransmissions};

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
}
