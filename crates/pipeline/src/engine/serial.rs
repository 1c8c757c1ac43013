//! One thread: a plain loop that hands each packet on as soon as it is parsed.

use inorder_capture::Block;
use inorder_wire::{Aside, Packet, parse_into};

use super::fragments::Reassembling;
use super::place::Place;
use super::sink::Sink;
use super::tally::{Frames, Tally};
use super::tidy::tidy_time;
use crate::Selection;
use crate::selection::Chosen;

/// Parses blocks in their order and hands every packet to one sink.
pub(crate) struct Serial<S> {
    sink: Reassembling<S>,
    tally: Tally,
    /// One buffer for all packets: a packet is so large that moving it would cost measurable time.
    packet: Place,
    /// What the frame told beside its packet; empty between frames.
    asides: Vec<Aside>,
    selection: Selection,
    /// The selection for this capture, from its first frame on; `None` if everything is selected.
    chosen: Option<Chosen>,
}

impl<S: Sink> Serial<S> {
    pub(crate) fn new(sink: S, selection: Selection) -> Self {
        Serial {
            sink: Reassembling::new(sink, &selection),
            selection,
            chosen: None,
            tally: Tally::default(),
            packet: Place::default(),
            asides: Vec::new(),
        }
    }

    /// Consumes the packets of the next block; `frames_before` is added to frame numbers.
    pub(crate) fn consume(&mut self, block: &Block, frames_before: u64) {
        if self.chosen.is_none() {
            self.chosen = Chosen::of(&self.selection, block);
        }
        match self.chosen.take() {
            None => self.consume_all(block, frames_before),
            Some(chosen) => {
                self.consume_chosen(block, frames_before, &chosen);
                self.chosen = Some(chosen);
            }
        }
    }

    fn consume_all(&mut self, block: &Block, frames_before: u64) {
        let Serial {
            sink,
            tally,
            packet: Place(packet),
            asides,
            ..
        } = self;
        if let Some(now_ns) = tidy_time(block, frames_before) {
            sink.tidy_up(now_ns);
        }
        // Local counters, so that the compiler can keep them in registers.
        let mut of_block = Frames::default();
        for mut frame in block.frames() {
            of_block.push(&frame);
            frame.number += frames_before;
            let more = parse_into(&frame, packet, asides);
            hand_on(packet, sink, tally);
            if more {
                asides.drain(..).for_each(|aside| sink.aside(&aside));
            }
        }
        tally.all.add(&of_block);
    }

    /// As [`consume_all`](Self::consume_all), for the frames that were chosen. A function of its own, so that nothing
    /// is asked where everything is.
    fn consume_chosen(&mut self, block: &Block, frames_before: u64, chosen: &Chosen) {
        let Serial {
            sink,
            tally,
            packet: Place(packet),
            asides,
            ..
        } = self;
        if let Some(now_ns) = tidy_time(block, frames_before) {
            sink.tidy_up(now_ns);
        }
        for mut frame in block.frames() {
            frame.number += frames_before;
            if chosen.parse(&frame, packet, asides) {
                tally.all.push(&frame);
                hand_on(packet, sink, tally);
                asides.drain(..).for_each(|aside| sink.aside(&aside));
            } else {
                tally.left_out += 1;
            }
        }
    }

    /// The sink, and the counts over all frames.
    pub(crate) fn finish(mut self) -> (S, Tally) {
        let tally = &mut self.tally;
        for (reason, frames) in self.sink.unused_fragments() {
            tally.skip_more(reason, frames);
        }
        (self.sink.into_sink(), self.tally)
    }
}

/// Gives a packet to the sink, or counts why it cannot.
#[inline(always)]
fn hand_on(packet: &Packet, sink: &mut Reassembling<impl Sink>, tally: &mut Tally) {
    match packet {
        Packet::Tcp(key, dir, segment) => sink.tcp(key, *dir, segment),
        Packet::Numbered(key, packet) => {
            tally.numbered += 1;
            sink.numbered(*key, packet);
        }
        Packet::FirstFragment(..) | Packet::LaterFragment(_) => sink.fragment(packet, None),
        Packet::Other(reason) => tally.skip(*reason),
    }
}
