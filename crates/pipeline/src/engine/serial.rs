//! One thread: a plain loop that hands each packet on as soon as it is parsed.

use inorder_capture::Block;
use inorder_wire::{Other, Packet, parse_into};

use super::fragments::Reassembling;
use super::sink::Sink;
use super::tally::{Frames, Tally};
use super::tidy::tidy_time;

/// Parses blocks in their order and hands every packet to one sink.
pub(crate) struct Serial<S> {
    sink: Reassembling<S>,
    tally: Tally,
    /// One buffer for all packets: a packet is so large that moving it would cost measurable time.
    packet: Packet,
}

impl<S: Sink> Serial<S> {
    pub(crate) fn new(sink: S) -> Self {
        Serial {
            sink: Reassembling::new(sink),
            tally: Tally::default(),
            packet: Packet::Other(Other::NotIp),
        }
    }

    /// Consumes the packets of the next block; `frames_before` is added to frame numbers.
    pub(crate) fn consume(&mut self, block: &Block, frames_before: u64) {
        let Serial {
            sink,
            tally,
            packet,
        } = self;
        if let Some(now_ns) = tidy_time(block, frames_before) {
            sink.tidy_up(now_ns);
        }
        // Local counters, so that the compiler can keep them in registers.
        let mut of_block = Frames::default();
        for mut frame in block.frames() {
            of_block.push(&frame);
            frame.number += frames_before;
            parse_into(&frame, packet);
            match &*packet {
                Packet::Tcp(key, dir, segment) => sink.tcp(key, *dir, segment),
                Packet::Numbered(key, packet) => sink.numbered(*key, packet),
                Packet::FirstFragment(..) | Packet::LaterFragment(_) => {
                    sink.fragment(packet, None);
                }
                Packet::Other(reason) => tally.skip(*reason),
            }
        }
        tally.all.add(&of_block);
    }

    /// Frames consumed so far.
    pub(crate) fn frames(&self) -> u64 {
        self.tally.all.count
    }

    /// The sink, and the counts over all frames.
    pub(crate) fn finish(mut self) -> (S, Tally) {
        let unused = self.sink.unused_frames();
        self.tally.skip_more(Other::Fragment, unused);
        (self.sink.into_sink(), self.tally)
    }
}
