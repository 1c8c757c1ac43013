//! Flows that behave beside those that attack.

use super::driver::US;
use inorder_sort::{AnySorter, Kind, Meta, Sorter, SorterConfig, Surroundings};

/// A million flows, each packet above a gap: the flows that behave pass as without a sorter.
#[test]
fn under_attack_it_passes_through_within_its_memory() {
    let config: SorterConfig = "resequence:start=1ms,window=64".parse().unwrap();
    let around = Surroundings {
        flows: 64,
        ..Surroundings::default()
    };
    let mut any: AnySorter<u32, u32> = config.build(&around).unwrap();
    let before = any.memory_footprint();
    let mut good = Vec::new();
    let mut pushed = 0;
    let mut came = 0;
    for i in 0..100_000u32 {
        let now_ns = i64::from(i) * US;
        let hostile = Meta::data(1 + i % 5000, i.wrapping_mul(2_654_435_761), 1);
        any.push(&hostile, u32::MAX, now_ns, &mut |p| {
            came += u32::from(p == u32::MAX);
        });
        if i % 10 == 0 {
            any.push(&Meta::data(0, pushed, 1), pushed, now_ns, &mut |p| {
                if p != u32::MAX {
                    good.push(p);
                } else {
                    came += 1;
                }
            });
            pushed += 1;
        }
    }
    assert_eq!(good, (0..pushed).collect::<Vec<u32>>());
    assert_eq!(before, any.memory_footprint());
    any.flush(i64::MAX, &mut |_| came += 1);
    assert_eq!(came, 100_000);
}

/// Twenty flows, of whose packets one in fifty is late by 300 us, alone or beside an attacker.
struct Town {
    any: AnySorter<u32, u64>,
    now_ns: i64,
    delay_ns: i64,
    late: u32,
    top: [u32; 20],
    hostile: u32,
}

/// A packet as it is delivered: whose it is, and its number. The attacker's are of flow 20.
fn ticket(flow: u32, seq: u32) -> u64 {
    u64::from(flow) << 32 | u64::from(seq)
}

impl Town {
    fn new(sorter: &str) -> Self {
        let config: SorterConfig = sorter.parse().unwrap();
        let around = Surroundings {
            flows: 1024,
            ..Surroundings::default()
        };
        Town {
            any: config.build(&around).unwrap(),
            now_ns: 0,
            delay_ns: 0,
            late: 0,
            top: [0; 20],
            hostile: 0,
        }
    }

    /// Something goes up: the delay of a good flow's packet, whose time of arrival its number tells, and its order.
    fn up(&mut self, ticket: u64) {
        let (flow, seq) = ((ticket >> 32) as usize, ticket as u32);
        let Some(top) = self.top.get_mut(flow) else {
            return;
        };
        self.delay_ns += self.now_ns - Self::arrival_ns(seq);
        self.late += u32::from(seq < *top);
        *top = seq.max(*top);
    }

    /// Packet `seq` of every good flow is sent each 20 us.
    fn arrival_ns(seq: u32) -> i64 {
        let late = if seq % 50 == 13 { 300 * US } else { 0 };
        i64::from(seq) * 20 * US + late
    }

    fn push(&mut self, meta: &Meta<u32>, ticket: u64) {
        let mut out = Vec::new();
        while let Some(due_ns) = self.any.next_deadline_ns()
            && due_ns <= self.now_ns
        {
            self.any.on_deadline(due_ns, &mut |p| out.push(p));
        }
        self.any
            .push(meta, ticket, self.now_ns, &mut |p| out.push(p));
        // The driver's contract: what is due is delivered, so that no deadline lies in the past.
        assert!(
            self.any
                .next_deadline_ns()
                .is_none_or(|due_ns| due_ns > self.now_ns)
        );
        out.into_iter().for_each(|p| self.up(p));
    }

    /// One packet of the attacker: any of a million flows, a number far from the last, every tenth a SYN, FIN or RST.
    fn attack(&mut self) {
        self.hostile += 1;
        let random = self.hostile.wrapping_mul(2_654_435_761);
        let meta = Meta {
            flow: 100 + random % 1_000_000,
            seq: random.rotate_left(13),
            len: 1,
            kind: match random >> 8 & 31 {
                0 => Kind::Open,
                1 | 2 => Kind::Close,
                _ => Kind::Data,
            },
        };
        self.push(&meta, ticket(20, 0));
    }

    /// This number of packets of each good flow, `attacks` packets of the attacker for each of them.
    fn run(mut self, packets: u32, attacks: u32) -> (f64, f64) {
        let before = self.any.memory_footprint();
        let mut arrivals: Vec<(i64, u32)> =
            (1..packets).map(|s| (Self::arrival_ns(s), s)).collect();
        arrivals.sort_unstable();
        for &(at_ns, seq) in &arrivals {
            self.now_ns = at_ns;
            for flow in 0..20 {
                self.push(&Meta::data(flow, seq, 1), ticket(flow, seq));
                (0..attacks).for_each(|_| self.attack());
            }
        }
        assert_eq!(before, self.any.memory_footprint());
        let all = 20.0 * f64::from(packets - 1);
        (self.delay_ns as f64 / all, f64::from(self.late) / all)
    }
}

/// Beside the attacker a good flow's packets are delayed by no more than alone, up to 5 % of their spacing, and are
/// no more out of order than without a sorter.
#[test]
fn flows_that_behave_are_not_harmed_by_an_attacker() {
    let (_, unsorted) = Town::new("none").run(2000, 0);
    let (alone_ns, alone) = Town::new("resequence").run(2000, 0);
    assert!(alone < unsorted / 10.0, "{alone} of {unsorted}");
    for attacks in [1, 3] {
        let (delay_ns, late) = Town::new("resequence").run(2000, attacks);
        println!(
            "{attacks} for each: {delay_ns:.0} ns and {late:.4} late, alone {alone_ns:.0} ns and {alone:.4}"
        );
        assert!(
            delay_ns <= alone_ns + 1_000.0,
            "{delay_ns} ns, alone {alone_ns} ns"
        );
        assert!(late <= unsorted, "{late} of {unsorted}");
    }
}
