//! Turns any bytes into a sequence of packets, batches and times, runs it through any sorter of the registry, and
//! checks the guarantees that every sorter gives.
//!
//! For fuzzers and property tests: [`fuzz_one`] panics when a guarantee is violated. Every sorter in the registry is
//! checked here.

use alloc::vec::Vec;

use crate::checks::{Bytes, check_each_once, reordered};
use crate::key::Hashed;
use crate::meta::{Kind, Meta};
use crate::sorter::Sorter;
use crate::sorters::{AnySorter, SORTERS, SorterConfig, Surroundings};

/// Two hashes for eight flows, so that collisions are frequent.
type Key = Hashed<u8>;

/// Number of flows.
const FLOWS: u8 = 8;

/// A packet that was pushed; its index is its number.
struct Came {
    flow: u8,
    /// Unwrapped sequence number, `None` for a packet that must pass at once.
    number: Option<i64>,
    /// True when data of the flow that was pushed earlier must not come out after it.
    is_barrier: bool,
}

/// Interprets `data` as a sorter, its settings and a sequence of steps, and checks the guarantees.
pub fn fuzz_one(data: &[u8]) {
    let mut bytes = Bytes(data);
    let chosen = usize::from(bytes.next()) % SORTERS.len();
    let Some(entry) = SORTERS.get(chosen) else {
        return;
    };
    let mut config = SorterConfig::of(entry);
    for setting in entry.settings {
        // Either a small value near the lower limit (minimum + 0 to 63), or the default.
        let small = setting.min.saturating_add(u64::from(bytes.next() % 64));
        let value = if bytes.next() % 4 == 0 {
            setting.default
        } else {
            small
        };
        config = config.with(setting, value.min(setting.max));
    }
    let around = Surroundings {
        ring_packets: 1 + usize::from(bytes.next() % 80),
        flows: 1 + usize::from(bytes.next() % 10),
        hash_seed: 0,
    };
    let Ok(sorter) = config.build(&around) else {
        return;
    };
    // A sorter set to the literal rule may let packets overtake; that is the purpose of the setting.
    let literal = config.values().any(|(s, v)| s.name == "literal" && v != 0);
    let (came, out) = Teller::new(sorter).tell(&mut bytes);
    check_each_once(came.len(), &out);
    for flow in (0..FLOWS).filter(|_| !literal) {
        check_flow(flow, &came, &out);
    }
}

/// Runs the steps and records what comes out.
struct Teller {
    sorter: AnySorter<Key, usize>,
    footprint: usize,
    came: Vec<Came>,
    out: Vec<usize>,
    now_ns: i64,
}

impl Teller {
    fn new(sorter: AnySorter<Key, usize>) -> Self {
        Teller {
            footprint: sorter.memory_footprint(),
            sorter,
            came: Vec::new(),
            out: Vec::new(),
            now_ns: 0,
        }
    }

    fn tell(mut self, bytes: &mut Bytes<'_>) -> (Vec<Came>, Vec<usize>) {
        while !bytes.0.is_empty() {
            let op = bytes.next();
            match op >> 3 {
                0..=2 => self.end_of_batch(),
                3..=5 => self.wait(bytes.next()),
                6..=8 => self.packet(op & 7, None, op),
                _ => {
                    // Half of the packets are close together, for copies, overlaps and adjacent ranges.
                    let spread = if op >= 128 { 12 } else { 255 };
                    let number = i64::from(bytes.next() % spread);
                    self.packet(op & 7, Some(number), op);
                }
            }
            self.check();
        }
        let out = &mut self.out;
        self.sorter.flush(self.now_ns, &mut |p| out.push(p));
        assert_eq!(self.sorter.held(), 0, "held after a flush");
        assert_eq!(
            self.sorter.next_deadline_ns(),
            None,
            "a deadline although nothing is held"
        );
        (self.came, self.out)
    }

    fn packet(&mut self, flow: u8, number: Option<i64>, op: u8) {
        let key = Hashed::new(flow, u64::from(flow & 1));
        // Each flow starts at a different number, the first just below the wrap.
        let number = number.map(|n| 0xffff_ff80 + i64::from(flow) * 0x3000_0000 + n);
        let meta = match number {
            Some(number) => Meta::data(key, number as u32, u32::from(op >> 3) % 4),
            None => Meta {
                kind: [Kind::Ack, Kind::Open, Kind::Close, Kind::Other][usize::from(op >> 3) % 4],
                ..Meta::unsuitable(key)
            },
        };
        let id = self.came.len();
        self.came.push(Came {
            flow,
            number,
            is_barrier: !matches!(meta.kind, Kind::Data | Kind::Ack),
        });
        let out = &mut self.out;
        self.sorter
            .push(&meta, id, self.now_ns, &mut |p| out.push(p));
        let suitable = number.is_some();
        assert!(
            suitable || self.out.last() == Some(&id),
            "held although it must pass at once"
        );
    }

    fn end_of_batch(&mut self) {
        let out = &mut self.out;
        self.sorter.end_of_batch(self.now_ns, &mut |p| out.push(p));
        if self.sorter.next_deadline_ns().is_none() {
            assert_eq!(
                self.sorter.held(),
                0,
                "held past the batch without a deadline"
            );
        }
    }

    /// Advances time, and calls the sorter at each deadline on the way, as its driver must.
    fn wait(&mut self, ns: u8) {
        let until_ns = self.now_ns + i64::from(ns);
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|d| *d <= until_ns) {
            assert!(due_ns >= self.now_ns, "a deadline in the past");
            self.now_ns = due_ns;
            let out = &mut self.out;
            self.sorter.on_deadline(due_ns, &mut |p| out.push(p));
            let next = self.sorter.next_deadline_ns();
            assert!(next.is_none_or(|next| next > due_ns), "not honoured");
        }
        self.now_ns = until_ns;
    }

    fn check(&self) {
        let delivered = self.out.len() + self.sorter.held();
        assert_eq!(delivered, self.came.len(), "lost or duplicated");
        assert_eq!(
            self.sorter.memory_footprint(),
            self.footprint,
            "memory grew"
        );
        let counters = self.sorter.counters();
        let counted = counters.suitable + counters.unsuitable;
        assert_eq!(counted, self.came.len() as u64);
    }
}

/// Checks the order of one flow: no more reordering than before, equal numbers in their order of arrival, and no FIN
/// before its data.
fn check_flow(flow: u8, came: &[Came], out: &[usize]) {
    let of_flow = |id: &usize| came.get(*id).is_some_and(|c| c.flow == flow);
    let number = |id: usize| came.get(id).and_then(|c| c.number);
    let after: Vec<usize> = out.iter().copied().filter(of_flow).collect();
    let before = (0..came.len()).filter(of_flow);
    assert!(
        reordered(before.filter_map(number)) >= reordered(after.iter().copied().filter_map(number)),
        "more reordered than before"
    );
    for (place, a) in after.iter().enumerate() {
        for b in after.iter().skip(place) {
            let equal = number(*a).is_some() && number(*a) == number(*b);
            assert!(!equal || a <= b, "equal numbers changed places");
            let is_barrier = came.get(*a).is_some_and(|c| c.is_barrier);
            assert!(!is_barrier || a <= b, "overtook data of its flow");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn every_sorter_keeps_its_guarantees(data in prop::collection::vec(any::<u8>(), 0..600)) {
            for chosen in 0..SORTERS.len() as u8 {
                let mut story = std::vec![chosen];
                story.extend(&data);
                fuzz_one(&story);
            }
        }
    }
}
