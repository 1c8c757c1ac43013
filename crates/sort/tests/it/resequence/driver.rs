//! A driver with a timer, as the traces use it.

use inorder_sort::resequence::Resequencer;
use inorder_sort::{Kind, Meta, Sorter, SorterConfig, Surroundings};

pub(crate) const US: i64 = 1_000;
pub(crate) const MS: i64 = 1_000_000;

pub(crate) type Sorted = Resequencer<u32, u32>;

pub(crate) fn sorter(text: &str) -> Sorted {
    let config: SorterConfig = text.parse().unwrap();
    Sorted::build(&config, &Surroundings::default()).unwrap()
}

/// A driver with a timer: pushes packets of one number each and wakes when it is due.
pub(crate) struct Driver {
    pub sorter: Sorted,
    pub up: Vec<(i64, u32)>,
}

impl Driver {
    pub(crate) fn new(text: &str) -> Self {
        Driver {
            sorter: sorter(text),
            up: Vec::new(),
        }
    }

    /// A handshake that shows this round trip, ending at time 0.
    pub(crate) fn with_round_trip(text: &str, rtt_ns: i64) -> Self {
        let mut driver = Driver::new(text);
        driver.packet(-rtt_ns, Kind::Open, 0, 0);
        driver.packet(0, Kind::Ack, 1, 0);
        driver.up.clear();
        driver
    }

    pub(crate) fn packet(&mut self, at_ns: i64, kind: Kind, seq: u32, len: u32) {
        self.wake_until(at_ns);
        let meta = Meta {
            flow: 7,
            seq,
            len,
            kind,
        };
        let up = &mut self.up;
        self.sorter
            .push(&meta, seq, at_ns, &mut |seq| up.push((at_ns, seq)));
    }

    pub(crate) fn data(&mut self, at_ns: i64, seq: u32) {
        self.packet(at_ns, Kind::Data, seq, 1);
    }

    pub(crate) fn wake_until(&mut self, at_ns: i64) {
        while let Some(due_ns) = self.sorter.next_deadline_ns()
            && due_ns <= at_ns
        {
            let up = &mut self.up;
            self.sorter
                .on_deadline(due_ns, &mut |seq| up.push((due_ns, seq)));
        }
    }

    /// `gaps` times: packet n late by `late_ns`, with three behind it, 100 us apart; the next begins at the end.
    pub(crate) fn late_ones(
        &mut self,
        from_ns: i64,
        from_seq: u32,
        gaps: u32,
        late_ns: i64,
    ) -> (i64, u32) {
        let (mut at_ns, mut seq) = (from_ns, from_seq);
        for _ in 0..gaps {
            let due = [(at_ns + late_ns, seq)];
            let rest = (1..4).map(|i| (at_ns + i64::from(i) * 100 * US, seq + i));
            let mut all: Vec<(i64, u32)> = rest.chain(due).collect();
            all.sort_unstable();
            all.iter().for_each(|&(at_ns, seq)| self.data(at_ns, seq));
            at_ns += late_ns.max(400 * US);
            seq += 4;
        }
        (at_ns, seq)
    }

    pub(crate) fn order(&self) -> Vec<u32> {
        self.up.iter().map(|&(_, seq)| seq).collect()
    }
}
