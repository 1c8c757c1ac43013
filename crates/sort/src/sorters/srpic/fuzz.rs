//! Turns any bytes into a sequence of packets and batches, and checks the guarantees of the sorter.
//!
//! For fuzzers and property tests: [`fuzz_one`] panics when a guarantee is violated.

use alloc::vec::Vec;

use super::Srpic;
use super::config::Config;
use super::naive::Naive;
use crate::checks::{Bytes, check_each_once, reordered};
use crate::key::Hashed;
use crate::meta::Meta;
use crate::sorter::Sorter as _;
use crate::sorters::config::ConfigError;

/// Two hashes for eight flows, so that collisions are frequent.
type Key = Hashed<u8>;

/// A packet that was pushed; its index is its number.
struct Came {
    flow: u8,
    /// Sequence number unwrapped, `None` for unsuitable packets.
    number: Option<i64>,
}

/// A step of the sequence.
enum Step {
    Packet(Meta<Key>, Came),
    EndOfBatch,
}

/// Four bytes as a number.
fn word(bytes: &mut Bytes<'_>) -> u32 {
    u32::from_le_bytes([bytes.next(), bytes.next(), bytes.next(), bytes.next()])
}

/// Interprets `data` as a configuration and a sequence of packets and batch ends, runs the sorter and its simple
/// twin, and checks the guarantees. With `wild` numbers (any 32 bits, any length) only completeness and agreement
/// with the twin are checked; the other guarantees require flows that move less than half of the sequence space
/// within a batch.
pub fn fuzz_one(data: &[u8]) {
    let mut bytes = Bytes(data);
    let config = Config {
        block_size: 1 + usize::from(bytes.next() % 40),
        ring_size: 1 + usize::from(bytes.next() % 80),
        flow_capacity: 1 + usize::from(bytes.next() % 10),
        literal: false,
        hash_seed: 0,
    };
    let mode = bytes.next();
    let config = Config {
        literal: mode & 1 != 0,
        ..config
    };
    let wild = mode & 2 != 0;
    let story = read_story(&mut bytes, wild);
    let (came, out) = run(&config, story);
    check_each_once(came.len(), &out);
    if !config.literal && !wild {
        for flow in 0..8 {
            check_flow(flow, &came, &out);
        }
    }
}

fn read_story(bytes: &mut Bytes<'_>, wild: bool) -> Vec<Step> {
    let mut story = Vec::new();
    while !bytes.0.is_empty() {
        let op = bytes.next();
        let flow = op & 7;
        story.push(match op >> 3 {
            0..=2 => Step::EndOfBatch,
            3..=5 => {
                let came = Came { flow, number: None };
                Step::Packet(Meta::unsuitable(key(flow)), came)
            }
            _ if wild => wild_packet(flow, bytes),
            _ => {
                // Each flow starts at a different number, the first just below the wrap.
                let base = 0xffff_ff80 + i64::from(flow) * 0x3000_0000;
                // Half of the packets are close together, for copies, overlaps and adjacent ranges.
                let spread = if op >= 128 { 12 } else { 255 };
                let number = base + i64::from(bytes.next() % spread);
                data_packet(flow, number, u32::from(op >> 3) % 4)
            }
        });
    }
    story
}

/// Any number and length; every other packet moves in steps of 2^30, so that packets meet.
fn wild_packet(flow: u8, bytes: &mut Bytes<'_>) -> Step {
    let (number, len) = match bytes.next() {
        coarse if coarse & 1 != 0 => (u32::from(coarse >> 6), u32::from(coarse >> 4 & 3)),
        _ => return data_packet(flow, i64::from(word(bytes)), word(bytes)),
    };
    data_packet(flow, i64::from(number << 30), len << 30)
}

fn key(flow: u8) -> Key {
    Hashed::new(flow, u64::from(flow & 1))
}

fn data_packet(flow: u8, number: i64, len: u32) -> Step {
    let came = Came {
        flow,
        number: Some(number),
    };
    Step::Packet(Meta::data(key(flow), number as u32, len), came)
}

/// Runs both sorters side by side; returns the packets pushed and the order in which they came out.
fn run(config: &Config, story: Vec<Step>) -> (Vec<Came>, Vec<usize>) {
    let mut naive = Naive::new(config);
    let (Ok(mut sorter), Ok(mut in_bursts)) = (Srpic::new(config), InBursts::new(config)) else {
        return (Vec::new(), Vec::new());
    };
    let (mut came, mut out, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for step in story.into_iter().chain([Step::EndOfBatch]) {
        let ends = matches!(step, Step::EndOfBatch);
        match step {
            Step::Packet(meta, facts) => {
                let id = came.len();
                came.push(facts);
                sorter.push(&meta, id, &mut |p| out.push(p));
                naive.push(&meta, id, &mut expected);
                in_bursts.batch.push((meta, id));
            }
            Step::EndOfBatch => {
                sorter.end_of_batch(&mut |p| out.push(p));
                naive.end_of_batch(&mut expected);
                in_bursts.end_of_batch(&expected);
                assert_eq!(sorter.counters(), in_bursts.sorter.counters());
            }
        }
        assert_eq!(out, expected, "differs from the simple twin");
        assert_eq!(out.len() + sorter.held(), came.len(), "lost or duplicated");
        assert!(sorter.held() < config.ring_size, "held more than the ring");
        assert!(!ends || sorter.held() == 0, "held past the end of a batch");
        assert!(sorter.flows() <= config.flow_capacity);
    }
    (came, out)
}

/// Sorters that take whole batches; the result must be the same.
struct InBursts {
    sorter: Srpic<Key, usize>,
    into_places: Srpic<Key, usize>,
    batch: Vec<(Meta<Key>, usize)>,
    out: Vec<usize>,
}

impl InBursts {
    fn new(config: &Config) -> Result<Self, ConfigError> {
        Ok(InBursts {
            sorter: Srpic::new(config)?,
            into_places: Srpic::new(config)?,
            batch: Vec::new(),
            out: Vec::new(),
        })
    }

    fn end_of_batch(&mut self, expected: &[usize]) {
        let (sorter, out) = (&mut self.sorter, &mut self.out);
        sorter.push_burst(&self.batch, |t| t.0, |t| t.1, 0, &mut |p| out.push(p));
        sorter.end_of_batch(&mut |p| out.push(p));
        assert_eq!(out, expected, "push_burst differs");
        let mut places = alloc::vec![usize::MAX; self.batch.len()];
        let sorter = &mut self.into_places;
        let count = sorter.sort_batch(&self.batch, |t| t.0, |t| t.1, 0, &mut places);
        assert_eq!(count, Some(self.batch.len()));
        assert!(out.ends_with(&places), "sort_batch differs");
        assert_eq!(sorter.counters(), self.sorter.counters());
        self.batch.clear();
    }
}

/// Checks the order of one flow: no more reordering than before, equal numbers in arrival order, and nothing past an
/// unsuitable packet.
fn check_flow(flow: u8, came: &[Came], out: &[usize]) {
    let of_flow = |id: &usize| came.get(*id).is_some_and(|c| c.flow == flow);
    let before: Vec<usize> = (0..came.len()).filter(of_flow).collect();
    let after: Vec<usize> = out.iter().copied().filter(of_flow).collect();
    let number = |id: usize| came.get(id).and_then(|c| c.number);
    assert!(
        reordered(before.iter().filter_map(|&id| number(id)))
            >= reordered(after.iter().filter_map(|&id| number(id))),
        "more reordered than before"
    );
    for (place, id) in before.iter().enumerate() {
        if number(*id).is_none() {
            assert_eq!(after.get(place), Some(id), "an unsuitable packet moved");
        }
    }
    for (place, a) in after.iter().enumerate() {
        for b in after.iter().skip(place) {
            let equal = number(*a).is_some() && number(*a) == number(*b);
            assert!(!equal || a <= b, "equal numbers changed places");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_sequence_keeps_the_guarantees(data in prop::collection::vec(any::<u8>(), 0..600)) {
            fuzz_one(&data);
        }

        /// One flow, the default rule and blocks of up to 40 packets, where the lists become long.
        #[test]
        fn long_blocks_keep_the_guarantees(
            block_size in 1u8..40,
            packets in prop::collection::vec((6u8..32, any::<u8>()), 0..300),
        ) {
            let mut data = std::vec![block_size, 79, 9, 0];
            for (kind, number) in packets {
                data.extend([kind << 3 | 1, number]);
            }
            fuzz_one(&data);
        }
    }

    #[test]
    fn counts_reordered_packets_as_rfc_4737_does() {
        assert_eq!(reordered([1, 2, 3, 5, 4, 6].into_iter()), 1);
        assert_eq!(reordered([4, 1, 2, 3].into_iter()), 3);
    }
}
