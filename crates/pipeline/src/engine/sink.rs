//! The receiver of packets, and how packets are spread over several of them.

use inorder_wire::{Aside, Dir, FlowKey, Numbered, Segment, StreamKey};

/// Number of shards over which TCP connections are spread; one more shard takes all other packets.
pub(crate) const TCP_SHARDS: usize = 8;
/// The shard of numbered packets other than TCP.
pub(crate) const NUMBERED_SHARD: usize = TCP_SHARDS;
/// Number of all shards.
pub(crate) const SHARDS: usize = TCP_SHARDS + 1;

/// Takes the packets of one shard, in the order of the capture.
///
/// All packets of a connection are in one shard for any number of threads, so a sink that keeps state per connection
/// gets the same result on one thread and on several.
pub trait Sink: Send {
    /// Takes a TCP segment, reassembled if it was fragmented.
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment);
    /// Takes a packet of another numbered service.
    fn numbered(&mut self, key: StreamKey, packet: &Numbered);
    /// Takes what a frame tells beside its packet: of a connection in its shard, of a stream in that of the streams. By
    /// default, only further numbers.
    fn aside(&mut self, aside: &Aside) {
        if let Aside::Numbered(key, packet) = aside {
            self.numbered(*key, packet);
        }
    }
    /// A point at which to drop connections that are over, the same in every shard: the next packets come from a
    /// block that begins at `now_ns` (nanoseconds since the epoch).
    fn tidy_up(&mut self, _now_ns: i64) {}
}

/// The shard of a connection.
#[inline]
pub(crate) fn shard_of(key: &FlowKey) -> usize {
    // Sinks use the highest bits of the hash for their tables, so the shard uses other bits.
    (key.rough_hash() >> 40) as usize % TCP_SHARDS
}

/// The shards of what a frame tells beside its packet: what is said of a connection goes where its segments go, and fragments
/// to every shard of TCP.
pub(crate) fn shards_of_aside(aside: &Aside) -> std::ops::Range<usize> {
    let one = |shard: usize| shard..shard + 1;
    match aside {
        Aside::Complaint(key, ..) => one(shard_of(key)),
        Aside::FirstPart(_) => 0..TCP_SHARDS,
        Aside::Numbered(..)
        | Aside::Report(..)
        | Aside::Subflow(..)
        | Aside::Expired(_)
        | Aside::Quic(..) => one(NUMBERED_SHARD),
    }
}
