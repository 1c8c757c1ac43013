//! One thread: a plain loop, nothing is stored between parsing and consuming.

use inorder_capture::Block;
use inorder_wire::{Other, Packet, parse_into};

use super::{NUMBERED_SHARD, Reader, Sink, Tally, shard_of};

/// Reads everything into `sinks`, one a shard.
pub fn run<S: Sink>(reader: &mut Reader<'_>, sinks: &mut [S]) -> Tally {
    let mut tally = Tally::default();
    let mut block = Block::default();
    // One place for all packets: what was parsed is large enough for a move to be felt.
    let mut packet = Packet::Other(Other::NotIp);
    while let Some(frames_before) = reader.read(&mut block) {
        for mut frame in block.frames() {
            tally.frame(&frame);
            frame.number += frames_before;
            parse_into(&frame, &mut packet);
            match &packet {
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
