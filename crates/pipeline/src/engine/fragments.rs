//! Fragmented segments put together before a sink gets them.
//!
//! Later fragments hold no ports and so do not tell their shard. Fragments are rare: every shard of
//! TCP gets all, keeps the same table, and takes the segments that are its own.

use inorder_wire::{Dir, FlowKey, Fragments, Numbered, Packet, Segment, StreamKey};

use super::sink::{Sink, shard_of};

/// A sink with a table of what is not whole yet.
pub(crate) struct Reassembling<S> {
    sink: S,
    fragments: Fragments,
}

impl<S> Reassembling<S> {
    pub(crate) fn new(sink: S) -> Self {
        Reassembling {
            sink,
            fragments: Fragments::new(),
        }
    }

    /// Fragments that were of no use.
    pub(crate) fn unused_frames(&self) -> u64 {
        self.fragments.unused_frames()
    }

    pub(crate) fn into_sink(self) -> S {
        self.sink
    }
}

impl<S: Sink> Reassembling<S> {
    #[inline(always)]
    pub(crate) fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.sink.tcp(key, dir, segment);
    }

    pub(crate) fn numbered(&mut self, key: StreamKey, packet: &Numbered) {
        self.sink.numbered(key, packet);
    }

    pub(crate) fn tidy_up(&mut self, now_ns: i64) {
        self.sink.tidy_up(now_ns);
    }

    /// A fragment of a TCP segment; `shard` is this sink's, `None` if there is only one.
    #[cold]
    pub(crate) fn fragment(&mut self, packet: &Packet, shard: Option<usize>) {
        let whole = match *packet {
            Packet::FirstFragment(key, dir, segment, part) => {
                self.fragments.first(key, dir, segment, part)
            }
            Packet::LaterFragment(ref part) => self.fragments.later(part),
            _ => None,
        };
        if let Some((key, dir, segment)) = whole
            && shard.is_none_or(|shard| shard == shard_of(&key))
        {
            self.sink.tcp(&key, dir, &segment);
        }
    }
}
