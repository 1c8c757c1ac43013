//! Captures of drawn transfers with the defects that captures have.

use inorder_analysis::Analysis;
use inorder_detect::{Config, Tracker, Vantage};
use inorder_tcp::Side;
use inorder_wire::{Endpoint, FlowKey, Has, Segment};
use proptest::prelude::*;
use proptest::sample::Index;

use super::model::{Path, Trace};
use super::reader::Reader;

/// What the capture did to the packets.
#[derive(Clone, Debug)]
pub(crate) struct Defects {
    /// Captured next to the client, which sends the data.
    at_client: bool,
    /// The analysis is told so.
    is_known: bool,
    missing: Vec<Index>,
    twice: Vec<Index>,
    /// Swapped with the packet behind them.
    swapped: Vec<Index>,
    /// The snap length cuts the options off.
    cut: bool,
    /// The capture lacks the beginning: this number of every hundred packets.
    begins: usize,
    /// Only these were captured.
    only: Option<Side>,
}

impl Defects {
    fn any() -> impl Strategy<Value = Defects> {
        let some = || proptest::collection::vec(any::<Index>(), 0..5);
        let few = || prop_oneof![2 => Just(Vec::new()), 1 => some()];
        let begins = prop_oneof![3 => Just(0usize), 1 => 1usize..90];
        let only = prop_oneof![6 => Just(None), 1 => Just(Some(Side::Client)), 1 => Just(Some(Side::Server))];
        let lists = (few(), few(), few());
        (
            any::<(bool, bool)>(),
            lists,
            proptest::bool::weighted(0.1),
            begins,
            only,
        )
            .prop_map(
                |((at_client, is_known), (missing, twice, swapped), cut, begins, only)| Defects {
                    at_client,
                    is_known,
                    missing,
                    twice,
                    swapped,
                    cut,
                    begins,
                    only,
                },
            )
    }

    fn spoil(&self, mut packets: Vec<(Side, Segment)>) -> Vec<(Side, Segment)> {
        packets.drain(..packets.len() * self.begins / 100);
        if let Some(only) = self.only {
            packets.retain(|(from, _)| *from == only);
        }
        for at in &self.missing {
            if !packets.is_empty() {
                packets.remove(at.index(packets.len()));
            }
        }
        for at in &self.twice {
            if !packets.is_empty() {
                let at = at.index(packets.len());
                packets.insert(at, packets[at]);
            }
        }
        for at in &self.swapped {
            if packets.len() > 1 {
                let at = at.index(packets.len() - 1);
                let times = (packets[at].1.ts_ns, packets[at + 1].1.ts_ns);
                packets.swap(at, at + 1);
                (packets[at].1.ts_ns, packets[at + 1].1.ts_ns) = times;
            }
        }
        for (frame, (_, seg)) in (1..).zip(&mut packets) {
            seg.frame = frame;
            if self.cut {
                seg.has = seg.has & !Has::TIMESTAMPS | Has::OPTIONS_CUT;
                seg.sack_len = 0;
            }
        }
        packets
    }
}

pub(crate) fn captures() -> impl Strategy<Value = (Path, Defects)> {
    (Path::any(), Defects::any())
}

/// What is said of a drawn capture, and what it shows.
pub(crate) fn analyse(path: &Path, defects: &Defects) -> (Analysis, Reader) {
    let trace = Trace::of(path);
    let packets = match defects.at_client {
        true => trace.at_sender,
        false => trace.at_receiver,
    };
    let client = Endpoint::v4(0x0a00_0001, 40_000);
    let server = Endpoint::v4(0x0a00_0002, 443);
    let there = match defects.at_client {
        true => Vantage::Sender,
        false => Vantage::Receiver,
    };
    let config = Config::default()
        .vantage(Some(there).filter(|_| defects.is_known))
        .keep_events(true)
        .what_if(false);
    let mut tracker = Tracker::new(config);
    let mut reader = Reader::default();
    for (from, seg) in &defects.spoil(packets) {
        let (src, dst) = match from {
            Side::Client => (client, server),
            Side::Server => (server, client),
        };
        let (key, dir) = FlowKey::new(src, dst, 0);
        tracker.push(&key, dir, seg);
        reader.read(&key, dir, seg);
    }
    let analysis = Analysis {
        flows: tracker.finish(),
        ..Analysis::default()
    };
    (analysis, reader)
}
