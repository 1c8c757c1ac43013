//! What a sorting receiver would have left of the reordering of a flow.
//!
//! The arrivals of one flow are simulated with SRPIC (crate `inorder_sort`) for several block sizes and
//! coalescing times at once. The model of a NIC: the flow's data is alone on its queue; the
//! first packet at an idle ring starts the coalescing delay; when it is over, what has arrived is
//! one batch and is delivered, each block of it sorted. The softirq itself takes no time.
//! Retransmissions are sorted like originals, for the card cannot tell them; what must not wait
//! (see `inorder_sort::classify`) passes after the flow's block has been flushed.
//!
//! Sorting changes the order within a block only, so most traffic needs no simulation:
//! - arrivals are kept as runs of equal segments, delays as the difference of two sums: the times
//!   of arrival, which all settings share, and those of the interrupts;
//! - of data in order only the times are noted; the cards go over many of them at once;
//! - the order a card delivers is followed only from a break in the order until the batch with it
//!   is delivered. Data that goes on where the highest ended means the same to every setting,
//!   holes below or not;
//! - the sorter itself runs only for stretches that are not in order as they came.
//!
//! Other sorters are laid over the arrivals packet by packet (`named`); so is the resequencer, from the first
//! break in the order on (`usual`). Streams of numbered packets have all of these from their first break on (`numbered`).

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;

mod card;
mod columns;
mod delays;
mod delivered;
mod named;
mod numbered;
mod pending;
mod receiver;
mod receivers;
mod result;
mod runs;
mod settings;
mod sorters;
mod stack;
#[cfg(test)]
mod tests;
mod usual;

use inorder_sort::Kind;
use inorder_sort::classify::TcpFacts;
use inorder_wire::{Has, Segment};

pub use columns::WHAT_IF;
pub use named::NamedReceivers;
pub use numbered::NumberedReceivers;
pub use receivers::SortingReceivers;
pub use result::WhatIf;
pub use settings::Settings;
pub use usual::UsualReceivers;

/// Packets the receive ring holds, as in the receiver of the SRPIC paper: a ring that fills interrupts at once.
const PACKETS_IN_RECEIVE_RING: u32 = 512;
/// Coalescing times are taken to be at most this, nanoseconds (18 minutes): sums stay in 64 bits.
const MAX_COALESCE_NS: u64 = 1 << 40;
/// Latest time that counts as a time: what comes a coalescing time later is a number still.
const MAX_TIME_NS: i64 = i64::MAX >> 1;

/// A data segment of a flow as it arrives at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataArrival {
    /// When, nanoseconds since the epoch.
    pub ts_ns: i64,
    /// Bytes from the flow's first data byte; what lies before it is ignored.
    pub offset: i64,
    /// Payload bytes; what has none is ignored.
    pub len: u32,
    /// Not the first transmission of this data: sorted like all, but not counted as reordered.
    pub retransmission: bool,
    /// May be held and sorted (see `inorder_sort::classify`).
    pub suitable: bool,
}

/// Lays SRPIC over the arrivals of one flow: a result for every block size (packets) and, within
/// it, every coalescing time (nanoseconds), in the orders given.
///
/// ```
/// use inorder_whatif::{DataArrival, what_if};
///
/// // The third segment comes 30 us after the fourth.
/// let arrivals = [(0, 0), (10, 100), (20, 300), (50, 200)].map(|(us, offset)| DataArrival {
///     ts_ns: us * 1_000,
///     offset,
///     len: 100,
///     retransmission: false,
///     suitable: true,
/// });
/// let results = what_if(&arrivals, &[32], &[25_000, 75_000]);
/// assert_eq!(results[0].reordered, 1); // an interrupt in between: too late
/// assert_eq!(results[1].reordered, 0);
/// assert_eq!(results[1].dupacks_saved, 1);
/// assert_eq!(results[1].mean_added_delay_ns, 55_000);
/// ```
pub fn what_if(arrivals: &[DataArrival], block_sizes: &[u32], coalesce_ns: &[u64]) -> Vec<WhatIf> {
    let mut receivers = SortingReceivers::new(block_sizes, coalesce_ns);
    for arrival in arrivals.iter().filter(|a| a.len > 0 && a.offset >= 0) {
        receivers.push(arrival, i64::MIN);
    }
    receivers.finish()
}

/// What a sorter must know of a captured segment to tell whether it may be held.
///
/// [`Has::UNSUITABLE`] stands for fragments and both kinds of options at once. Options that were
/// cut from the capture set it too, since nobody can say that only timestamps were there.
#[inline]
pub fn sorting_facts(seg: &Segment) -> TcpFacts {
    TcpFacts {
        flags: seg.flags.0,
        payload_len: seg.payload_len,
        other_tcp_options: seg.has(Has::UNSUITABLE),
        ..TcpFacts::default()
    }
}

/// Whether a card may hold `seg`.
#[inline]
pub fn may_be_sorted(seg: &Segment) -> bool {
    sorting_facts(seg).kind() == Kind::Data
}
