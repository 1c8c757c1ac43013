//! Reassembles fragmented segments before a sink receives them.
//!
//! Later fragments contain no ports, so their shard is unknown. Fragments are rare: every TCP shard receives all of
//! them, keeps the same table, and takes only the segments that belong to it.

use std::collections::BTreeMap;

use inorder_wire::{Aside, Dir, FlowKey, Fragments, Numbered, Other, Packet, Segment, StreamKey};

use super::sink::{Sink, shard_of};
use crate::Selection;

/// A sink with a table of incomplete datagrams.
pub(crate) struct Reassembling<S> {
    sink: S,
    fragments: Fragments,
    selection: Selection,
}

impl<S> Reassembling<S> {
    /// Only reassembled segments are compared with the selection; whole ones were compared when they were parsed.
    pub(crate) fn new(sink: S, selection: &Selection) -> Self {
        Reassembling {
            sink,
            fragments: Fragments::new(),
            selection: selection.clone(),
        }
    }

    /// Fragments that did not become part of a segment.
    pub(crate) fn unused_fragments(&self) -> BTreeMap<Other, u64> {
        self.fragments.unused()
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

    pub(crate) fn aside(&mut self, aside: &Aside) {
        match aside {
            Aside::FirstPart(part) => self.fragments.first_part(part),
            aside => self.sink.aside(aside),
        }
    }

    pub(crate) fn tidy_up(&mut self, now_ns: i64) {
        self.sink.tidy_up(now_ns);
    }

    /// Takes a fragment that is not parsed by itself. `shard` is the number of this sink's shard, `None` if there is only one
    /// sink.
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
            && self.selection.connection(&key)
        {
            self.sink.tcp(&key, dir, &segment);
        }
    }
}
