//! One thread: a plain loop, nothing is stored between parsing and consuming.

use inorder_capture::Block;
use inorder_wire::Packet;

use super::{NUMBERED_SHARD, Reader, Sink, Tally, shard_of};

/// Reads everything into `sinks`, one a shard.
pub fn run<S: Sink>(reader: &mut Reader<'_>, sinks: &mut [S]) -> Tally {
    let mut tally = Tally::default();
    let mut block = Block::default();
    while let Some(frames_before) = reader.read(&mut block) {
        for mut frame in block.frames() {
            tally.frame(&frame);
            frame.number += frames_before;
            // By reference: what was parsed is large enough for a copy to be felt.
            match &inorder_wire::parse(&frame) {
                Packet::Tcp(key, dir, segment) => {
                    if let Some(sink) = sinks.get_mut(shard_of(key)) {
                        sink.tcp(key, *dir, segment);
                    }
                }
                Packet::Numbered(key, packet) => {
                    if let Some(sink) = sinks.get_mut(NUMBERED_SHARD) {
                        sink.numbered(*key, packet);
                    }
                }
                Packet::Other(reason) => tally.skip(*reason),
            }
        }
    }
    tally
}
