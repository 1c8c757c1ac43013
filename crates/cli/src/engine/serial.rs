//! One thread: a plain loop, nothing is stored between parsing and consuming.

use inorder_capture::Block;
use inorder_wire::{Other, Packet, parse_into};

use super::batch::tidy_time;
use super::tally::Frames;
use super::{Reader, Sink, Tally};

/// Reads everything into `sink`.
pub fn run<S: Sink>(reader: &mut Reader<'_>, sink: &mut S) -> Tally {
    let mut tally = Tally::default();
    let mut block = Block::default();
    // One place for all packets: what was parsed is large enough for a move to be felt.
    let mut packet = Packet::Other(Other::NotIp);
    while let Some(frames_before) = reader.read(&mut block) {
        if let Some(now_ns) = tidy_time(&block, frames_before) {
            sink.tidy_up(now_ns);
        }
        // Counts of their own, so that they may stay in registers.
        let mut of_block = Frames::default();
        for mut frame in block.frames() {
            of_block.push(&frame);
            frame.number += frames_before;
            parse_into(&frame, &mut packet);
            match &packet {
                Packet::Tcp(key, dir, segment) => sink.tcp(key, *dir, segment),
                Packet::Numbered(key, packet) => sink.numbered(*key, packet),
                Packet::FirstFragment(..) | Packet::LaterFragment(_) => {
                    sink.fragment(&packet, None);
                }
                Packet::Other(reason) => tally.skip(*reason),
            }
        }
        tally.all.add(&of_block);
    }
    tally
}
