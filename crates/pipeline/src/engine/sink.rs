//! Who takes the packets, and how they are spread over several of those.

use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};

/// Shards that TCP connections are spread over; one more takes all other packets.
pub(crate) const TCP_SHARDS: usize = 8;
/// The shard of numbered packets other than TCP.
#[cfg(feature = "threads")]
pub(crate) const NUMBERED_SHARD: usize = TCP_SHARDS;
/// All shards.
#[cfg(feature = "threads")]
pub(crate) const SHARDS: usize = TCP_SHARDS + 1;

/// Takes the packets of one shard, in the order of the capture.
///
/// A connection is in one shard, whatever the number of threads, so a sink that keeps what it
/// learns by connection finds the same on one thread and on several.
pub trait Sink: Send {
    /// A TCP segment, put together from its fragments where it came in some.
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment);
    /// A packet of another numbered service.
    fn numbered(&mut self, key: StreamKey, packet: &Numbered);
    /// A moment to drop what is over, the same in every shard: the next packets come from a
    /// block that begins at `now_ns` (nanoseconds since the epoch).
    fn tidy_up(&mut self, _now_ns: i64) {}
}

/// The shard of a connection.
#[inline]
pub(crate) fn shard_of(key: &FlowKey) -> usize {
    // Sinks look connections up by the highest bits of the hash; these are others.
    (key.rough_hash() >> 40) as usize % TCP_SHARDS
}
