//! The worked examples of RFC 4737 section 7, RFC 5236 section 8 and of Torres and Ribeiro (2020).

use inorder_metrics::{
    Arrival, BufferDensity, Config, Metrics, Order, ReorderDensity, Reordered, Summary,
};

use crate::naive;

const MS: i64 = 1_000_000;

/// Feeds 100-byte packets to all metrics; arrival times are in ms if given, otherwise 0.
fn measure(arrivals: &[(u64, i64)]) -> (Summary, Vec<(u64, Reordered)>) {
    let (mut metrics, mut late) = (Metrics::default(), Vec::new());
    for (seq, ms) in arrivals {
        if let Arrival::Reordered(packet) = metrics.update(*seq, ms * MS, 100) {
            late.push((*seq, packet));
        }
    }
    (metrics.finish(), late)
}

fn late(extent: u64, late_ms: i64, byte_offset: u64) -> Reordered {
    Reordered {
        extent,
        late_ns: late_ms * MS,
        byte_offset,
    }
}

/// RFC 4737 section 7.1: one packet late by four positions.
#[test]
fn one_late_packet() {
    let arrivals = [
        (1, 68),
        (2, 88),
        (3, 108),
        (5, 148),
        (6, 168),
        (7, 188),
        (8, 208),
        (4, 210),
        (9, 228),
        (10, 248),
    ];
    let (summary, packets) = measure(&arrivals);
    assert_eq!(packets, [(4, late(4, 62, 400))]);
    assert_eq!(summary.counts.reordered_ratio(), 0.1);
    assert_eq!(summary.order.n_reordering.cumulative(), [1, 1, 1, 1]);
    assert_eq!(summary.order.n_reordering.largest(), [0, 0, 0, 1]);
    assert_eq!(summary.gaps.count(), 1);
}

/// RFC 4737 section 7.2: one packet early by two positions makes two late.
#[test]
fn one_early_packet() {
    let ms = [0, 0, 0, 0, 188, 189, 190, 200, 201, 202];
    let arrivals = [1, 2, 3, 4, 7, 5, 6, 8, 9, 10].into_iter().zip(ms);
    let (summary, packets) = measure(&arrivals.collect::<Vec<_>>());
    assert_eq!(packets, [(5, late(1, 1, 100)), (6, late(2, 2, 100))]);
    assert_eq!(summary.order.n_reordering.cumulative(), [1]);
    // Packets 5 and 6 share the discontinuity at packet 7.
    assert_eq!(summary.gaps.count(), 1);
    assert_eq!(summary.order.n_reordering.overtaking(), 1);
}

/// RFC 4737 section 7.3: a block of three late by four positions and more.
#[test]
fn a_late_block() {
    let ms = [0, 20, 40, 120, 140, 160, 180, 182, 184, 188, 220];
    let arrivals = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].into_iter().zip(ms);
    let (summary, packets) = measure(&arrivals.collect::<Vec<_>>());
    let expected = [
        (4, late(4, 62, 400)),
        (5, late(5, 64, 400)),
        (6, late(6, 68, 400)),
    ];
    assert_eq!(packets, expected);
    assert_eq!(summary.order.n_reordering.cumulative(), [1, 1, 1, 1]);
}

/// RFC 4737 section 7.4: two discontinuities, three runs.
#[test]
fn two_discontinuities() {
    let arrivals = [1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 12, 13, 11, 14, 15, 16];
    let (summary, packets) = measure(&arrivals.map(|seq| (seq, 0)));
    let extents: Vec<_> = packets
        .iter()
        .map(|(seq, late)| (*seq, late.extent))
        .collect();
    assert_eq!(extents, [(4, 2), (5, 3), (11, 2)]);
    assert_eq!((summary.gaps.count(), summary.gaps.packets().sum()), (2, 7));
    let runs: Vec<_> = summary.order.runs.lengths().buckets().collect();
    assert_eq!(runs, [(0, 1), (5, 2)]);
    // All 13 in-order packets, including those of the unfinished run, divided by three runs.
    assert_eq!(summary.order.runs.mean(), Some(13.0 / 3.0));
}

fn density(arrivals: &[u64], dt: u16) -> Vec<(i64, f64)> {
    let mut rd = ReorderDensity::new(dt);
    arrivals.iter().for_each(|seq| rd.update(*seq));
    rd.finish().density().collect()
}

fn occupancy(arrivals: &[u64], bt: u16) -> Vec<(u64, f64)> {
    let mut rbd = BufferDensity::new(bt);
    arrivals.iter().for_each(|seq| rbd.update(*seq));
    rbd.finish().density().collect()
}

/// RFC 5236 section 8: reordering without losses and copies.
#[test]
fn density_of_a_reordered_stream() {
    let arrivals = [1, 4, 2, 5, 3, 6, 7, 8];
    let expected = [(-2, 0.125), (-1, 0.125), (0, 0.5), (1, 0.125), (2, 0.125)];
    assert_eq!(density(&arrivals, 4), expected);
    assert_eq!(occupancy(&arrivals, 4), [(0, 0.625), (1, 0.25), (2, 0.125)]);
}

/// RFC 5236 section 8: a loss displaces no packet, but fills the buffer until it is given up.
#[test]
fn density_with_a_loss() {
    let arrivals = [1, 2, 4, 5, 6, 7];
    assert_eq!(density(&arrivals, 3), [(0, 1.0)]);
    let sixth = 1.0 / 6.0;
    let expected = [(0, 0.5), (1, sixth), (2, sixth), (3, sixth)];
    assert_eq!(occupancy(&arrivals, 3), expected);
}

/// RFC 5236 section 8: a copy is not counted.
#[test]
fn density_with_a_duplicate() {
    let arrivals = [1, 3, 2, 3, 4, 5];
    assert_eq!(density(&arrivals, 2), [(-1, 0.2), (0, 0.6), (1, 0.2)]);
    assert_eq!(occupancy(&arrivals, 2), [(0, 0.8), (1, 0.2)]);
}

/// RFC 5236 sections 3.1 and 3.3: receive indices 1 3 4 5 - 6 7 8 for 1 4 3 5 3 8 7 6.
#[test]
fn receive_indices_skip_losses_and_copies() {
    let expected = [(-2, 1), (-1, 1), (0, 3), (1, 1), (2, 1)];
    let mut rd = ReorderDensity::new(3);
    for seq in [1, 4, 3, 5, 3, 8, 7, 6] {
        rd.update(seq);
    }
    assert_eq!(rd.ignored(), 1);
    // 1-1, 3-4, 4-3, 5-5, 6-8, 7-7, 8-6.
    assert_eq!(rd.finish().counts().collect::<Vec<_>>(), expected);
}

/// Torres and Ribeiro (2020), tables 1 and 2, equations 3, 4, 6 and 7.
#[test]
fn mean_displacement_and_entropy() {
    let (summary, _) = measure(&[1, 6, 7, 2, 3, 4, 5, 8].map(|seq| (seq, 0)));
    let d = &summary.order.displacements;
    assert_eq!(d.counts().collect::<Vec<_>>(), [(-4, 2), (0, 2), (2, 4)]);
    assert_eq!(
        d.density().collect::<Vec<_>>(),
        [(-4, 0.25), (0, 0.25), (2, 0.5)]
    );
    assert_eq!(d.mean_displacement(), 2.0);
    assert_eq!((d.entropy() * 100.0).round(), 104.0);
    assert_eq!(d.density().map(|(k, p)| k as f64 * p).sum::<f64>(), 0.0);
    assert_eq!(
        (d.mean_lateness(), d.mean_earliness()),
        (Some(2.0), Some(4.0))
    );
    assert_eq!(
        (d.late_ratio(), d.early_ratio(), d.displaced_ratio()),
        (0.5, 0.25, 0.75)
    );
    assert_eq!(d.variance(), 6.0);
}

/// Torres and Ribeiro (2020), section 2: the two meanings of "percentage out of order".
#[test]
fn percentages_of_both_readings() {
    let (one, _) = measure(&[1, 2, 4, 5, 3, 6].map(|seq| (seq, 0)));
    let (two, _) = measure(&[1, 2, 5, 4, 3, 6].map(|seq| (seq, 0)));
    assert_eq!(
        (one.order.involved_ratio(), two.order.involved_ratio()),
        (0.5, 0.5)
    );
    assert_eq!(one.counts.reordered_ratio(), 1.0 / 6.0);
    assert_eq!(two.counts.reordered_ratio(), 1.0 / 3.0);
}

#[test]
fn losses_and_copies_alone_are_not_reordering() {
    let (summary, packets) = measure(&[3, 3, 5, 9, 5, 9, 20].map(|seq| (seq, 0)));
    assert_eq!(packets, []);
    assert_eq!((summary.counts.received, summary.counts.duplicates), (4, 3));
    assert_eq!(
        (
            summary.counts.missing,
            summary.counts.sequence_discontinuities
        ),
        (14, 3)
    );
    assert_eq!(
        summary.order.displacements.counts().collect::<Vec<_>>(),
        [(0, 4)]
    );
    assert_eq!(summary.order.displacements.entropy(), 0.0);
}

/// With two holes remembered, the oldest is given up, and packets that fall into it are counted separately.
#[test]
fn packets_beyond_the_bounds_are_counted() {
    let mut order = Order::with_limits(2, None);
    for seq in [1, 3, 5, 7] {
        assert!(matches!(order.update(seq, 0, 1), Arrival::InOrder { .. }));
    }
    assert_eq!(order.update(2, 0, 1), Arrival::Unclassified);
    assert_eq!(order.update(1, 0, 1), Arrival::Unclassified);
    assert_eq!(order.update(5, 0, 1), Arrival::Duplicate);
    assert!(matches!(order.update(4, 0, 1), Arrival::Reordered(r) if r.extent == 2));
    let counts = order.counts();
    assert_eq!((counts.holes_given_up, counts.unclassified), (1, 2));
}

/// A discontinuity whose missing numbers never arrive is not one of section 4.5, whether given up or not.
#[test]
fn gaps_when_holes_are_given_up() {
    let mut order = Order::with_limits(2, None);
    // 3 skips 2, 5 skips 4 and 7 skips 6; of these only 4 and 6 arrive, after 2 was given up.
    for seq in [1, 3, 5, 7, 4, 6, 8] {
        order.update(seq, 10 * seq as i64, 1);
    }
    let (counts, gaps) = order.finish();
    assert_eq!((counts.holes_given_up, counts.missing), (1, 1));
    assert_eq!((gaps.count(), gaps.packets().sum()), (2, 1));
    assert_eq!(gaps.time_ns().sum(), 20);
}

/// Discontinuities whose numbers have all arrived take no memory.
#[test]
fn filled_holes_are_forgotten() {
    let mut order = Order::with_limits(2, None);
    for late in (1..1000).map(|k| 3 * k) {
        for seq in [late + 2, late + 1, late] {
            assert_ne!(order.update(seq, 0, 1), Arrival::Unclassified);
        }
    }
    let (counts, gaps) = order.finish();
    assert_eq!((counts.holes_given_up, counts.reordered), (0, 2 * 999));
    assert_eq!((gaps.count(), gaps.packets().max()), (999, Some(3)));
}

/// Numbers and times at the limits of their ranges: nothing overflows.
#[test]
fn extreme_values() {
    let config = Config {
        displacement_threshold: 0,
        buffer_threshold: 0,
        n_max: 0,
        max_holes: 0,
        start: None,
    };
    for config in [config, Config::default()] {
        let mut metrics = Metrics::new(config);
        let top = inorder_metrics::MAX_SEQ;
        for seq in [top, 0, u64::MAX, top - 1, top + 1, top, 1, 0] {
            metrics.update(seq, i64::MIN, u32::MAX);
            metrics.update(seq, i64::MAX, u32::MAX);
        }
        metrics.in_order_run(u64::MAX, 0, 0);
        metrics.finish();
    }
}

/// Checks the naive definitions against the examples.
#[test]
fn the_naive_definitions_agree_with_the_examples() {
    let stream: Vec<_> = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]
        .map(|s| (s, 0, 100))
        .into();
    let found = naive::late_packets(&stream);
    let found: Vec<_> = found
        .iter()
        .map(|l| (l.extent, l.n, l.byte_offset))
        .collect();
    assert_eq!(found, [(4, 4, 400), (5, 0, 400), (6, 0, 400)]);
    let (rd, _) = naive::reorder_density(&[1, 4, 2, 5, 3, 6, 7, 8], 4);
    assert_eq!(
        rd.into_iter().collect::<Vec<_>>(),
        [(-2, 1), (-1, 1), (0, 4), (1, 1), (2, 1)]
    );
    let rbd = naive::buffer_density(&[1, 2, 4, 5, 6, 7], 3, 1);
    assert_eq!(
        rbd.into_iter().collect::<Vec<_>>(),
        [(0, 3), (1, 1), (2, 1), (3, 1)]
    );
}
