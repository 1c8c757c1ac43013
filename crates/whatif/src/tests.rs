//! Traces, and the dumb twin: every packet through the real batcher and sorter, every count by
//! its definition.

use inorder_sort::srpic::{self, Config, Srpic};
use inorder_sort::{Batch, Batcher, Meta};
use proptest::prelude::*;

use crate::WhatIf;
use crate::named::NamedReceivers;
use crate::{DataArrival, SortingReceivers, what_if};

/// What the stack gets, and what it waited for it.
#[derive(Default)]
struct Twin {
    delivered: Vec<DataArrival>,
    delays: Vec<u64>,
    waiting: Vec<i64>,
}

impl Twin {
    fn end(&mut self, batch: Batch) {
        let fire_ns = batch.fire_ns;
        self.delays
            .extend(self.waiting.drain(..).map(|at| (fire_ns - at) as u64));
    }
}

fn sort(arrivals: &[DataArrival], block_size: u32, coalesce_ns: u64, ring: usize) -> Twin {
    let mut batcher = Batcher::new(coalesce_ns as i64, ring, 0);
    let mut sorter = Srpic::new(&Config::new(block_size as usize, ring)).unwrap();
    let (mut twin, mut now) = (Twin::default(), i64::MIN);
    for &arrival in arrivals {
        now = now.max(arrival.ts_ns);
        if let Some(batch) = batcher.arrive(now).ended {
            sorter.end_of_batch(&mut |a| twin.delivered.push(a));
            twin.end(batch);
        }
        twin.waiting.push(now);
        let meta = if arrival.suitable {
            Meta::data(7u32, arrival.offset as u32, arrival.len)
        } else {
            Meta::unsuitable(7)
        };
        sorter.push(&meta, arrival, &mut |a| twin.delivered.push(a));
    }
    sorter.end_of_batch(&mut |a| twin.delivered.push(a));
    if let Some(batch) = batcher.finish() {
        twin.end(batch);
    }
    twin
}

/// Reordered originals and their greatest extent (RFC 4737 sections 3 and 4.2).
fn reordering(order: &[DataArrival]) -> (u64, u32) {
    let originals: Vec<i64> = order
        .iter()
        .filter(|a| !a.retransmission)
        .map(|a| a.offset)
        .collect();
    let extents = originals.iter().enumerate().filter_map(|(i, s)| {
        let first_larger = originals[..i].iter().position(|o| o > s)?;
        Some((i - first_larger) as u32)
    });
    (extents.clone().count() as u64, extents.max().unwrap_or(0))
}

/// Segments above the left edge as they arrive, byte by byte.
fn dupacks(order: &[DataArrival]) -> u64 {
    let mut received = vec![false; 100_000];
    let mut above = 0;
    for a in order {
        let edge = received.iter().position(|r| !r).unwrap() as i64;
        above += u64::from(a.offset > edge);
        received[a.offset as usize..][..a.len as usize].fill(true);
    }
    above
}

fn by_definition(
    arrivals: &[DataArrival],
    block_size: u32,
    coalesce_ns: u64,
    ring: usize,
) -> WhatIf {
    let twin = sort(arrivals, block_size, coalesce_ns, ring);
    let (reordered, max_extent) = reordering(&twin.delivered);
    let originals = arrivals.iter().filter(|a| !a.retransmission).count();
    WhatIf {
        sorter: None,
        block_size,
        coalesce_ns,
        reordered,
        reordered_ratio: reordered as f64 / originals.max(1) as f64,
        max_extent,
        dupacks_saved: dupacks(arrivals) - dupacks(&twin.delivered),
        mean_added_delay_ns: twin.delays.iter().sum::<u64>() / twin.delays.len().max(1) as u64,
        p50_added_delay_ns: None,
        p99_added_delay_ns: None,
        max_added_delay_ns: twin.delays.into_iter().max().unwrap_or(0),
        bound_ns: None,
    }
}

/// The rows without the quantiles of the delays, which are read off a histogram: a test of their own compares them.
fn run(arrivals: &[DataArrival], blocks: &[u32], coalesce: &[u64], ring: usize) -> Vec<WhatIf> {
    let mut rows = with_quantiles(arrivals, blocks, coalesce, ring);
    for row in &mut rows {
        (row.p50_added_delay_ns, row.p99_added_delay_ns) = (None, None);
    }
    rows
}

fn with_quantiles(
    arrivals: &[DataArrival],
    blocks: &[u32],
    coalesce: &[u64],
    ring: usize,
) -> Vec<WhatIf> {
    let mut receivers = SortingReceivers::with_ring(blocks, coalesce, ring as u32);
    for arrival in arrivals {
        receivers.push(arrival, i64::MIN);
    }
    receivers.finish()
}

fn at(us: i64, offset: i64) -> DataArrival {
    DataArrival {
        ts_ns: us * 1_000,
        offset,
        len: 100,
        retransmission: false,
        suitable: true,
    }
}

#[test]
fn a_swap_within_the_batch_is_mended() {
    let arrivals = [at(0, 0), at(1, 200), at(2, 100), at(3, 300)];
    let [left] = &what_if(&arrivals, &[32], &[50_000])[..] else {
        panic!();
    };
    assert_eq!((left.reordered, left.max_extent), (0, 0));
    assert_eq!(left.dupacks_saved, 1);
    assert_eq!(left.mean_added_delay_ns, 48_500);
    assert_eq!(left.max_added_delay_ns, 50_000);
}

#[test]
fn a_swap_across_blocks_or_batches_is_not() {
    let arrivals = [at(0, 0), at(1, 200), at(2, 300), at(3, 100), at(4, 400)];
    let left = what_if(&arrivals, &[3, 4], &[2_000, 50_000]);
    let rows: Vec<_> = left
        .iter()
        .map(|w| (w.reordered, w.max_extent, w.dupacks_saved))
        .collect();
    assert_eq!(rows, [(1, 2, 0), (1, 2, 0), (1, 2, 0), (0, 0, 2)]);
}

#[test]
fn what_must_not_wait_flushes_its_flow() {
    let urgent = DataArrival {
        suitable: false,
        ..at(2, 300)
    };
    let arrivals = [at(0, 0), at(1, 200), urgent, at(3, 100)];
    let left = what_if(&arrivals, &[32], &[50_000]);
    assert_eq!((left[0].reordered, left[0].max_extent), (1, 2));
}

#[test]
fn a_retransmission_is_sorted_but_not_counted() {
    let again = DataArrival {
        retransmission: true,
        ..at(30, 100)
    };
    let arrivals = [at(0, 0), at(1, 200), at(2, 300), again, at(31, 400)];
    let left = what_if(&arrivals, &[32], &[10_000, 50_000]);
    assert!(left.iter().all(|w| w.reordered == 0));
    assert_eq!(
        left.iter().map(|w| w.dupacks_saved).collect::<Vec<_>>(),
        [0, 2]
    );
}

#[test]
fn a_hole_that_was_acknowledged_is_closed() {
    // Bytes 100-199 were not captured; the receiver has them. Later a swap is mended.
    let mut receivers = SortingReceivers::new(&[32], &[10_000]);
    receivers.push(&at(0, 0), 0);
    receivers.push(&at(1, 200), 0);
    for (us, offset) in [(100, 300), (200, 500), (201, 400), (300, 600)] {
        receivers.push(&at(us, offset), 300);
    }
    assert!(!receivers.follows());
    let left = receivers.finish();
    assert_eq!((left[0].reordered, left[0].dupacks_saved), (0, 1));
}

#[test]
fn data_in_order_is_not_followed_and_takes_no_memory() {
    let mut receivers = SortingReceivers::new(&[8, 32, 128], &[25_000, 75_000, 250_000]);
    for i in 0..100_000 {
        receivers.push(&at(i * 7, i * 100), i64::MIN);
    }
    assert_eq!(receivers.entries(), (1, false));
    assert!(receivers.finish().iter().all(|w| w.reordered == 0));
}

#[test]
fn following_ends_when_the_holes_are_closed() {
    let mut receivers = SortingReceivers::new(&[8], &[25_000, 75_000]);
    for (us, offset) in [
        (0, 100),
        (1, 0),
        (50, 200),
        (51, 300),
        (90, 400),
        (200, 500),
    ] {
        receivers.push(&at(us, offset), i64::MIN);
    }
    assert!(!receivers.follows());
}

#[test]
fn a_sorter_that_holds_across_batches_mends_what_one_within_them_cannot() {
    // The second segment comes 300 us late, long after the batch of the third.
    let arrivals = [
        at(0, 0),
        at(10, 200),
        at(20, 300),
        at(310, 100),
        at(900, 400),
    ];
    let sorters = ["none", "srpic", "window:hold=1ms", "window:hold=100us"];
    let sorters = sorters.map(|name| name.parse().unwrap());
    let mut receivers = NamedReceivers::new(&sorters, &[50_000]);
    for arrival in &arrivals {
        receivers.push(arrival, i64::MIN);
    }
    let rows = receivers.finish();
    let told: Vec<_> = rows
        .iter()
        .map(|w| (w.reordered, w.dupacks_saved))
        .collect();
    assert_eq!(told, [(1, 0), (1, 0), (0, 2), (1, 0)]);
    // Two wait from their interrupt at 50 us to the one at 360 us.
    assert_eq!(rows[2].max_added_delay_ns, 350_000);
    assert_eq!(rows[3].max_added_delay_ns, 140_000);
    assert_eq!(rows[0].mean_added_delay_ns, rows[1].mean_added_delay_ns);
}

#[test]
fn odd_input_does_no_harm() {
    let odd = [i64::MIN, i64::MAX, 0, -1, 1 << 40];
    let mut receivers = SortingReceivers::new(&[0, u32::MAX], &[0, u64::MAX]);
    for ts_ns in odd {
        for offset in odd {
            for len in [0, 1, u32::MAX] {
                let arrival = DataArrival {
                    ts_ns,
                    offset,
                    len,
                    ..at(0, 0)
                };
                receivers.push(&arrival, offset);
            }
        }
    }
    assert_eq!(receivers.finish().len(), 4);
    assert_eq!(what_if(&[], &[32], &[1_000]).len(), 1);
    assert!(what_if(&[at(0, 0)], &[], &[]).is_empty());
}

#[derive(Clone, Copy, Debug)]
struct Fate {
    len: u32,
    gap_ns: i64,
    delay_ns: i64,
    lost: bool,
    copy_after_ns: Option<i64>,
    suitable: bool,
}

fn fate() -> impl Strategy<Value = Fate> {
    (
        prop_oneof![9 => Just(4u32), 1 => 1u32..6],
        prop_oneof![4 => 0i64..4, 1 => 0i64..60],
        prop_oneof![8 => Just(0i64), 2 => 0i64..80],
        prop::bool::weighted(0.05),
        prop::option::weighted(0.07, 0i64..200),
        prop::bool::weighted(0.97),
    )
        .prop_map(|(len, gap_ns, delay_ns, lost, copy, suitable)| Fate {
            len,
            gap_ns,
            delay_ns,
            lost,
            copy_after_ns: copy,
            suitable,
        })
}

/// Segments sent in order, each delayed, some lost, some sent again.
fn travel(fates: &[Fate]) -> Vec<DataArrival> {
    let (mut sent_ns, mut offset) = (0, 0);
    let mut arrivals = Vec::new();
    for fate in fates {
        sent_ns += fate.gap_ns;
        let original = DataArrival {
            ts_ns: sent_ns + fate.delay_ns,
            offset,
            len: fate.len,
            retransmission: false,
            suitable: fate.suitable,
        };
        let copy = fate.copy_after_ns.map(|after| DataArrival {
            ts_ns: sent_ns + after,
            retransmission: true,
            ..original
        });
        offset += i64::from(fate.len);
        arrivals.extend((!fate.lost).then_some(original));
        arrivals.extend(copy);
    }
    arrivals.sort_by_key(|a| a.ts_ns);
    arrivals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_with_the_sorter_and_the_definitions(
        fates in prop::collection::vec(fate(), 0..400),
        blocks in prop::collection::vec(1u32..40, 1..4),
        coalesce in prop::collection::vec(0u64..120, 1..6),
        ring in 1usize..70,
        calm in 0usize..400,
    ) {
        // Only what comes after `calm` is delayed or lost.
        let mut fates = fates;
        for fate in fates.iter_mut().take(calm) {
            *fate = Fate { delay_ns: 0, lost: false, copy_after_ns: None, ..*fate };
        }
        let arrivals = travel(&fates);
        let expected: Vec<WhatIf> = blocks
            .iter()
            .flat_map(|&b| coalesce.iter().map(move |&c| (b, c)))
            .map(|(b, c)| by_definition(&arrivals, b, c, ring))
            .collect();
        prop_assert_eq!(run(&arrivals, &blocks, &coalesce, ring), expected);
    }

    /// Where no ring is full, they are those of the delays but for the width of a bin.
    #[test]
    fn quantiles_are_those_of_the_delays(
        fates in prop::collection::vec(fate(), 1..300),
        coalesce in 0u64..2_000,
    ) {
        let arrivals = travel(&fates);
        prop_assume!(!arrivals.is_empty());
        let mut delays = sort(&arrivals, 8, coalesce, 1_000).delays;
        delays.sort_unstable();
        let row = with_quantiles(&arrivals, &[8], &[coalesce], 1_000).remove(0);
        for (share, read) in [(0.5, row.p50_added_delay_ns), (0.99, row.p99_added_delay_ns)] {
            let rank = (share * delays.len() as f64).ceil().max(1.0) as usize;
            let (exact, read) = (delays[rank - 1], read.unwrap());
            prop_assert!((exact..=exact + coalesce / 32 + 2).contains(&read), "{read} for {exact}");
        }
    }

    #[test]
    fn the_general_way_agrees_for_srpic(
        fates in prop::collection::vec(fate(), 0..300),
        blocks in prop::collection::vec(1u32..40, 1..3),
        coalesce in prop::collection::vec(0u64..120, 1..4),
        ring in 1usize..70,
    ) {
        let arrivals = travel(&fates);
        let sorters: Vec<_> = blocks.iter().map(|&b| srpic::blocks_of(b as usize)).collect();
        let mut named = NamedReceivers::with_ring(&sorters, &coalesce, ring);
        for arrival in &arrivals {
            named.push(arrival, i64::MIN);
        }
        let mut fast = run(&arrivals, &blocks, &coalesce, ring);
        let general = named.finish();
        for (fast, general) in fast.iter_mut().zip(&general) {
            // They differ only in how the setting is given, and in the quantiles, which the quick way reads off a histogram.
            (fast.sorter, fast.block_size) = (general.sorter.clone(), general.block_size);
            fast.p50_added_delay_ns = general.p50_added_delay_ns;
            fast.p99_added_delay_ns = general.p99_added_delay_ns;
        }
        prop_assert_eq!(fast, general);
    }

    #[test]
    fn order_of_the_whole_stream_does_not_matter_to_it(
        arrivals in prop::collection::vec((0i64..300, 0i64..60), 0..200),
        block in 1u32..40,
        coalesce in 0u64..120,
    ) {
        // Any order of any segments, times that run backwards included; each once.
        let mut seen = std::collections::HashSet::new();
        let arrivals: Vec<DataArrival> = arrivals
            .into_iter()
            .map(|(ts_ns, n)| DataArrival {
                ts_ns,
                offset: n * 4,
                len: 4,
                retransmission: !seen.insert(n),
                suitable: true,
            })
            .collect();
        prop_assert_eq!(
            run(&arrivals, &[block], &[coalesce], 64),
            [by_definition(&arrivals, block, coalesce, 64)]
        );
    }
}
