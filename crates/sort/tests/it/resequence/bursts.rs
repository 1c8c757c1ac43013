//! A burst is its packets, one after another.

use super::driver::{Sorted, US, sorter};
use inorder_sort::{Kind, Meta, Sorter};

/// Two sorters, one of which is given bursts and the other their packets one after another.
struct Twins {
    one: Sorted,
    whole: Sorted,
    up_one: Vec<u32>,
    up_whole: Vec<u32>,
}

impl Twins {
    fn new(text: &str) -> Self {
        Twins {
            one: sorter(text),
            whole: sorter(text),
            up_one: Vec::new(),
            up_whole: Vec::new(),
        }
    }

    /// The same goes up, the same is held, the same is counted.
    fn burst(&mut self, burst: &[Meta<u32>], now_ns: i64) {
        let (up_one, up_whole) = (&mut self.up_one, &mut self.up_whole);
        for meta in burst {
            self.one
                .push(meta, meta.seq, now_ns, &mut |seq| up_one.push(seq));
        }
        self.whole
            .push_burst(burst, |m| *m, |m| m.seq, now_ns, &mut |seq| {
                up_whole.push(seq);
            });
        self.one.end_of_batch(now_ns, &mut |seq| up_one.push(seq));
        self.whole
            .end_of_batch(now_ns, &mut |seq| up_whole.push(seq));
        assert_eq!(self.up_one, self.up_whole);
        assert_eq!(self.one.next_deadline_ns(), self.whole.next_deadline_ns());
        assert_eq!(
            (self.one.gaps(), self.one.counters()),
            (self.whole.gaps(), self.whole.counters())
        );
        for flow in 0..3 {
            assert_eq!(self.one.hold_ns(flow), self.whole.hold_ns(flow));
        }
    }
}

/// Whole numbers below a limit, one after another.
fn randoms(mut random: u32) -> impl FnMut(u32) -> u32 {
    move |limit| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % limit
    }
}

#[test]
fn a_burst_is_its_packets_one_after_another() {
    let mut below = randoms(1);
    let mut twins = Twins::new("resequence");
    let mut next = [0u32; 3];
    for batch in 0..2000i64 {
        let mut burst = Vec::new();
        for _ in 0..1 + below(12) {
            let flow = below(3);
            let at = &mut next[flow as usize];
            let kind = match below(200) {
                0 => Kind::Open,
                1 => Kind::Close,
                2 => Kind::Ack,
                _ => Kind::Data,
            };
            // Trains in order, and now and then a hole or a step back.
            for _ in 0..1 + below(6) {
                let seq = at
                    .wrapping_add(below(40) / 38)
                    .wrapping_sub(below(40) / 38 * 2);
                burst.push(Meta {
                    flow,
                    seq,
                    len: u32::from(kind == Kind::Data),
                    kind,
                });
                *at = seq.wrapping_add(1);
            }
        }
        twins.burst(&burst, batch * 50 * US);
    }
    assert!(twins.one.gaps().opened > 100, "{:?}", twins.one.gaps());
}

/// Packets that are late by a few places, within a burst and across its end, also twice and never, in bursts of all sizes.
#[test]
fn a_burst_that_is_out_of_order_is_its_packets_one_after_another() {
    for seed in 0..40 {
        let mut below = randoms(seed);
        let mut twins = Twins::new(["resequence", "resequence:window=40"][seed as usize % 2]);
        let late_in = 2 + below(30);
        // Half a place more than the packet that each comes behind.
        let mut places: Vec<(u32, u32)> = (0..4000)
            .map(|i| match below(late_in) {
                0 => (2 * (i + 1 + below(9)) + 1, i),
                _ => (2 * i, i),
            })
            .collect();
        places.sort_unstable();
        let mut numbers = places
            .into_iter()
            .map(|(_, i)| i)
            .filter(|_| below(500) > 0);
        let mut sizes = randoms(seed + 100);
        let mut now_ns = 0;
        loop {
            let size = 1 + sizes(90) as usize;
            let burst: Vec<Meta<u32>> = numbers
                .by_ref()
                .take(size)
                .map(|i| Meta::data(1, (u32::MAX - 7000).wrapping_add(i * 3), 3))
                .collect();
            if burst.is_empty() {
                break;
            }
            now_ns += i64::from(sizes(200)) * US;
            twins.burst(&burst, now_ns);
        }
        assert!(twins.one.gaps().filled > 10, "{:?}", twins.one.gaps());
    }
}
