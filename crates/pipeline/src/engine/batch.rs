//! The packets of one block, parsed once and sorted by shard.

use inorder_capture::{Block, soon};
use inorder_wire::{Aside, Packet, parse_into};

use super::fragments::Reassembling;
use super::place::Place;
use super::sink::{NUMBERED_SHARD, SHARDS, Sink, TCP_SHARDS, shard_of, shards_of_aside};
use super::tally::{Frames, Tally};
use super::tidy::tidy_time;
use crate::selection::Chosen;

/// How many packets ahead the cache line of a packet is prefetched; another processor's cache may hold it.
const AHEAD: usize = 8;

/// Marks an index of a shard that is one of the asides.
const ASIDE: u32 = 1 << 31;

/// The parsed frames of a block. Buffers are reused, so that no memory is allocated after the first blocks.
///
/// Packets stay where they were parsed, in the order of the capture, because moving them would cost as much as
/// parsing them. A shard is a list of indices.
#[derive(Clone, Default)]
pub(crate) struct Parsed {
    /// Never shortened; old packets are overwritten.
    packets: Vec<Place>,
    /// What frames told beside their packets, in the order of the capture.
    asides: Vec<Aside>,
    /// Time of the first frame, if sinks must tidy up before this block.
    pub(crate) tidy_ns: Option<i64>,
    shards: [Vec<u32>; SHARDS],
}

impl Parsed {
    /// Parses the frames of `block`, all of them or those that were chosen; `frames_before` is added to frame numbers.
    pub(crate) fn read(
        &mut self,
        block: &Block,
        frames_before: u64,
        chosen: Option<&Chosen>,
    ) -> Tally {
        let (mut tally, mut all) = (Tally::default(), Frames::default());
        self.tidy_ns = tidy_time(block, frames_before);
        self.shards.iter_mut().for_each(Vec::clear);
        self.asides.clear();
        if self.packets.len() < block.len() {
            self.packets.resize_with(block.len(), Place::default);
        }
        for (mut frame, place) in block.frames().zip(0..) {
            if let Some(later) = self.packets.get(place as usize + AHEAD) {
                soon::<_, true>(later);
            }
            let Some(Place(packet)) = self.packets.get_mut(place as usize) else {
                break;
            };
            frame.number += frames_before;
            let asides_before = self.asides.len();
            match chosen {
                None => {
                    parse_into(&frame, packet, &mut self.asides);
                }
                Some(chosen) if chosen.parse(&frame, packet, &mut self.asides) => {}
                Some(_) => {
                    tally.left_out += 1;
                    continue;
                }
            }
            all.push(&frame);
            match packet {
                Packet::Tcp(key, ..) => self.shards[shard_of(key)].push(place),
                Packet::Numbered(..) => {
                    tally.numbered += 1;
                    self.shards[NUMBERED_SHARD].push(place);
                }
                Packet::FirstFragment(..) | Packet::LaterFragment(_) => {
                    self.shards[..TCP_SHARDS]
                        .iter_mut()
                        .for_each(|shard| shard.push(place));
                }
                Packet::Other(reason) => tally.skip(*reason),
            }
            for (aside, i) in self.asides.iter().zip(0..).skip(asides_before) {
                for shard in &mut self.shards[shards_of_aside(aside)] {
                    shard.push(i | ASIDE);
                }
            }
        }
        tally.all = all;
        tally
    }

    /// Hands the packets of a shard to `sink`.
    pub(crate) fn hand_over(&self, shard: usize, sink: &mut Reassembling<impl Sink>) {
        if let Some(now_ns) = self.tidy_ns {
            sink.tidy_up(now_ns);
        }
        let places = self.shards.get(shard).map_or(&[][..], Vec::as_slice);
        for (i, &place) in places.iter().enumerate() {
            if place & ASIDE != 0 {
                if let Some(aside) = self.asides.get((place & !ASIDE) as usize) {
                    sink.aside(aside);
                }
                continue;
            }
            if let Some(Some(later)) = places.get(i + AHEAD).map(|&p| self.packets.get(p as usize))
            {
                soon::<_, false>(later);
            }
            match self.packets.get(place as usize) {
                Some(Place(Packet::Tcp(key, dir, segment))) => sink.tcp(key, *dir, segment),
                Some(Place(Packet::Numbered(key, packet))) => sink.numbered(*key, packet),
                Some(Place(packet @ (Packet::FirstFragment(..) | Packet::LaterFragment(_)))) => {
                    sink.fragment(packet, Some(shard));
                }
                _ => {}
            }
        }
    }

    /// True if the block has no packets for the shard and needs no tidying.
    pub(crate) fn is_empty(&self, shard: usize) -> bool {
        self.tidy_ns.is_none() && self.shards.get(shard).is_none_or(Vec::is_empty)
    }
}
