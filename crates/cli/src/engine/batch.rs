//! The packets of one block, parsed and sorted into shards.

use inorder_capture::Block;
use inorder_wire::{Dir, FlowKey, Numbered, Packet, Segment, StreamKey};

use super::{NUMBERED_SHARD, SHARDS, Sink, Tally, shard_of};

/// What one shard gets from one block; reused, so that nothing is allocated in the long run.
#[derive(Default)]
pub struct Batch {
    tcp: Vec<(FlowKey, Dir, Segment)>,
    numbered: Vec<(StreamKey, Numbered)>,
}

impl Batch {
    /// Hands everything to `sink` and empties the batch.
    pub fn drain(&mut self, sink: &mut impl Sink) {
        for (key, dir, segment) in &self.tcp {
            sink.tcp(key, *dir, segment);
        }
        for (key, packet) in &self.numbered {
            sink.numbered(*key, packet);
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.tcp.clear();
        self.numbered.clear();
    }

    /// True without packets.
    pub fn is_empty(&self) -> bool {
        self.tcp.is_empty() && self.numbered.is_empty()
    }
}

/// A batch for each shard.
pub type Batches = [Batch; SHARDS];

/// Parses the frames of `block` into `batches`; `frames_before` is added to frame numbers.
pub fn parse(block: &Block, frames_before: u64, batches: &mut Batches) -> Tally {
    let mut tally = Tally::default();
    for mut frame in block.frames() {
        tally.frame(&frame);
        frame.number += frames_before;
        match &inorder_wire::parse(&frame) {
            Packet::Tcp(key, dir, segment) => {
                let shard = shard_of(key);
                batches[shard].tcp.push((*key, *dir, *segment));
            }
            Packet::Numbered(key, packet) => {
                batches[NUMBERED_SHARD].numbered.push((*key, *packet));
            }
            Packet::Other(reason) => tally.skip(*reason),
        }
    }
    tally
}
