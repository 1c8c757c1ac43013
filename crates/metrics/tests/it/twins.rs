//! Every streaming algorithm agrees with the naive evaluation of its definition, for streams with reordering, losses,
//! copies and wrapping numbers.

use std::collections::BTreeMap;

use inorder_metrics::{
    Arrival, BufferDensity, Config, Distribution, Metrics, NReordering, Order, ReorderDensity,
    Unwrapper,
};
use proptest::prelude::*;

use crate::naive::{self, Packet};

/// A numbered stream whose packets are delayed by up to `reach`, lost, copied, and sometimes skipped in bulk; times
/// and sizes vary.
fn streams() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0u32..100, 0u64..12, 0u32..100, 0i64..1000, 0u32..1500);
    let shape = (0u64..1_000, 0u64..100, 0u32..60, 0u32..30);
    (shape, prop::collection::vec(packet, 0..90)).prop_map(|(shape, packets)| {
        let (base, skip, disorder, copies) = shape;
        let (mut seq, mut sent) = (base, Vec::new());
        for (position, (chance, reach, fate, time, bytes)) in packets.into_iter().enumerate() {
            let delay = if chance < disorder { reach } else { 0 };
            if fate >= 5 {
                sent.push((position as u64 + delay, (seq, time, bytes)));
            }
            if fate >= 100 - copies {
                sent.push((position as u64 + 2 * delay + 1, (seq, time + 1, bytes)));
            }
            seq += if fate == 7 { skip } else { 1 };
        }
        sent.sort_by_key(|(due, _)| *due);
        sent.into_iter().map(|(_, packet)| packet).collect()
    })
}

/// Arbitrary numbers, close together or far apart.
fn noise() -> impl Strategy<Value = Vec<Packet>> {
    let seq = prop_oneof![4 => 0u64..24, 1 => 0u64..5_000];
    let packet = (seq, -1000i64..1000, 0u32..1500);
    prop::collection::vec(packet, 0..60)
}

fn any_stream() -> impl Strategy<Value = Vec<Packet>> {
    prop_oneof![3 => streams(), 1 => noise()]
}

fn seqs(stream: &[Packet]) -> Vec<u64> {
    stream.iter().map(|p| p.0).collect()
}

/// The start that a `BufferDensity` infers.
fn learned_start(arrivals: &[u64], bt: u16) -> u64 {
    let first = arrivals.iter().take(usize::from(bt) + 1);
    first.copied().min().unwrap_or(0)
}

fn distribution(values: impl IntoIterator<Item = u64>) -> Distribution {
    let mut d = Distribution::new();
    values.into_iter().for_each(|v| d.update(v));
    d
}

/// A packet discarded as too late leaves its index to the next packet, which leaves its own to the next, and so on.
#[test]
fn a_run_after_a_discarded_packet() {
    let mut rd = ReorderDensity::new(2);
    [0, 4, 6, 2, 7, 8].iter().for_each(|seq| rd.update(*seq));
    let mut one = rd.clone();
    rd.update_run(9, 1 << 50);
    (9..20).for_each(|seq| one.update(seq));
    let (counts, beyond) =
        naive::reorder_density(&[vec![0, 4, 6, 2], (7..20).collect()].concat(), 2);
    assert_eq!(one.finish().counts().collect::<BTreeMap<_, _>>(), counts);
    assert_eq!((counts.get(&-1), beyond), (Some(&13), (0, 1)));
    let many = rd.finish();
    assert_eq!(many.beyond(), (0, 1));
    let counts: Vec<_> = many.counts().collect();
    assert_eq!(counts, [(-2, 2), (-1, 2 + (1 << 50)), (0, 1)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn order_extents_late_times_byte_offsets(stream in any_stream()) {
        let mut order = Order::new();
        let mut found = Vec::new();
        for &(seq, time, bytes) in &stream {
            if let Arrival::Reordered(r) = order.update(seq, time, bytes) {
                found.push((seq, r.extent, r.late_ns, r.byte_offset));
            }
        }
        let expected = naive::late_packets(&stream);
        let expected: Vec<_> =
            expected.iter().map(|l| (l.seq, l.extent, l.late_ns, l.byte_offset)).collect();
        prop_assert_eq!(&found, &expected);
        let unique = naive::first_copies(&stream).len() as u64;
        let counts = *order.counts();
        prop_assert_eq!(counts.received, unique);
        prop_assert_eq!(counts.duplicates, stream.len() as u64 - unique);
        prop_assert_eq!(counts.reordered, expected.len() as u64);
        let lowest_in_order = stream.first().map_or(0, |p| p.0);
        let highest = stream.iter().map(|p| p.0).max().unwrap_or(0);
        let present = naive::first_copies(&stream);
        let present = present.iter().filter(|p| p.0 >= lowest_in_order).count() as u64;
        if !stream.is_empty() {
            prop_assert_eq!(counts.missing, highest - lowest_in_order + 1 - present);
        }
    }

    #[test]
    fn gaps_between_discontinuities(stream in any_stream()) {
        let mut order = Order::new();
        for &(seq, time, bytes) in &stream {
            order.update(seq, time, bytes);
        }
        let (_, gaps) = order.finish();
        let expected = naive::gaps(&stream);
        let late = naive::late_packets(&stream);
        prop_assert_eq!(gaps.count(), expected.len() as u64 + u64::from(!late.is_empty()));
        prop_assert_eq!(gaps.packets(), &distribution(expected.iter().map(|g| g.0)));
        prop_assert_eq!(gaps.time_ns(), &distribution(expected.iter().map(|g| g.1.max(0) as u64)));
    }

    #[test]
    fn n_reordering_and_involvement(stream in any_stream(), n_max in 1usize..40) {
        let mut n = NReordering::new(n_max, 1 << 20);
        let mut counts = vec![0u64; n_max];
        let late = naive::late_packets(&stream);
        let mut expected = late.iter();
        for (seq, ..) in naive::first_copies(&stream) {
            let found = n.update(seq);
            if let Some(late) = expected.as_slice().first().filter(|l| l.seq == seq) {
                prop_assert_eq!(found, late.n);
                expected.next();
            } else {
                prop_assert_eq!(found, 0);
            }
            for k in 1..=found.min(n_max as u64) {
                counts[k as usize - 1] += 1;
            }
        }
        counts.truncate(n.cumulative().len());
        prop_assert_eq!(n.cumulative(), counts);
        prop_assert_eq!(n.involved(), naive::involved(&stream));
        prop_assert_eq!(n.truncated(), 0);
    }

    /// With little memory n is a lower bound, and packets whose n is inexact are counted as such.
    #[test]
    fn n_reordering_in_little_memory(stream in any_stream()) {
        let mut n = NReordering::new(1000, 2);
        let mut expected = naive::late_packets(&stream).into_iter().peekable();
        for (seq, ..) in naive::first_copies(&stream) {
            let before = n.truncated();
            let found = n.update(seq);
            let exact = expected.next_if(|l| l.seq == seq).map_or(0, |l| l.n);
            prop_assert!(found <= exact);
            prop_assert!(found == exact || n.truncated() > before);
        }
    }

    #[test]
    fn reorder_density(stream in any_stream(), dt in 0u16..60, start in 0u64..20) {
        let arrivals = seqs(&stream);
        let least = arrivals.iter().copied().min().unwrap_or(0);
        for start in [0, (least + start).saturating_sub(10)] {
            let sent: Vec<u64> = arrivals.iter().copied().filter(|seq| *seq >= start).collect();
            let (counts, beyond) = naive::reorder_density(&sent, i64::from(dt));
            let mut rd = ReorderDensity::with_start(dt, start);
            arrivals.iter().for_each(|seq| rd.update(*seq));
            let ignored = rd.ignored();
            let found = rd.finish();
            prop_assert_eq!(found.counts().collect::<BTreeMap<_, _>>(), counts);
            prop_assert_eq!(found.beyond(), beyond);
            prop_assert_eq!(found.total() + beyond.0 + beyond.1 + ignored, arrivals.len() as u64);
        }
    }

    /// Numbers that jump back and forth by large distances.
    #[test]
    fn reorder_density_far_apart(
        arrivals in prop::collection::vec((0u64..4, 0u64..40).prop_map(|(a, b)| 400 * a + b), 0..120),
        dt in 0u16..70,
    ) {
        let (counts, beyond) = naive::reorder_density(&arrivals, i64::from(dt));
        let mut rd = ReorderDensity::new(dt);
        arrivals.iter().for_each(|seq| rd.update(*seq));
        let found = rd.finish();
        prop_assert_eq!(found.counts().collect::<BTreeMap<_, _>>(), counts);
        prop_assert_eq!(found.beyond(), beyond);
    }

    #[test]
    fn buffer_density(stream in any_stream(), bt in 0u16..12) {
        let arrivals = seqs(&stream);
        let start = learned_start(&arrivals, bt);
        let counts = naive::buffer_density(&arrivals, usize::from(bt), start);
        let (mut learned, mut known) =
            (BufferDensity::new(bt), BufferDensity::with_start(bt, start));
        for seq in &arrivals {
            learned.update(*seq);
            known.update(*seq);
        }
        let found = learned.finish();
        prop_assert_eq!(found.counts().collect::<BTreeMap<_, _>>(), counts);
        prop_assert_eq!(found.total() + found.ignored(), arrivals.len() as u64);
        prop_assert_eq!(found, known.finish());
    }

    /// Runs of consecutive numbers may be fed at once, split anywhere.
    #[test]
    fn runs_fed_at_once(
        runs in prop::collection::vec((0u64..60, 0u64..30), 0..25), dt in 0u16..12,
    ) {
        let (mut one, mut many) = (ReorderDensity::new(dt), ReorderDensity::new(dt));
        let (mut one_rbd, mut many_rbd) = (BufferDensity::new(dt), BufferDensity::new(dt));
        for (first, n) in runs {
            many.update_run(first, n);
            many_rbd.update_run(first, n);
            for seq in first..first + n {
                one.update(seq);
                one_rbd.update(seq);
            }
        }
        prop_assert_eq!(one.finish(), many.finish());
        prop_assert_eq!(one_rbd.finish(), many_rbd.finish());
    }

    /// All metrics together give what each one alone gives, also for numbers that wrap at 16 bits.
    #[test]
    fn everything_at_once_and_wrapped(
        stream in streams(), offset in 60_000u64..70_000, dt in 0u16..12, bt in 0u16..12,
    ) {
        let config = Config {
            displacement_threshold: dt,
            buffer_threshold: bt,
            ..Config::default()
        };
        let mut metrics = Metrics::new(config);
        let mut unwrapper = Unwrapper::new(16).unwrap();
        let (mut late, mut extended) = (Vec::new(), Vec::new());
        for &(seq, time, bytes) in &stream {
            let seq = unwrapper.extend((seq + offset) & 0xffff);
            extended.push(seq);
            if let Arrival::Reordered(r) = metrics.update(seq, time, bytes) {
                late.push(r);
            }
        }
        let summary = metrics.finish();
        let expected = naive::late_packets(&stream);
        prop_assert_eq!(
            late.iter().map(|r| (r.extent, r.late_ns, r.byte_offset)).collect::<Vec<_>>(),
            expected.iter().map(|l| (l.extent, l.late_ns, l.byte_offset)).collect::<Vec<_>>()
        );
        prop_assert_eq!(summary.counts.received, naive::first_copies(&stream).len() as u64);
        prop_assert_eq!(summary.gaps.packets().count(), naive::gaps(&stream).len() as u64);
        let exact = expected.iter().filter(|l| l.n > 0).count() as u64;
        prop_assert_eq!(summary.order.n_reordering.largest().iter().sum::<u64>(), exact);
        prop_assert_eq!(summary.order.n_reordering.involved(), naive::involved(&stream));
        let (rd, _) = naive::reorder_density(&extended, i64::from(dt));
        prop_assert_eq!(summary.order.displacements.counts().collect::<BTreeMap<_, _>>(), rd);
        let start = learned_start(&extended, bt);
        let rbd = naive::buffer_density(&extended, usize::from(bt), start);
        prop_assert_eq!(summary.occupancy.counts().collect::<BTreeMap<_, _>>(), rbd);
        check_runs(&summary.order.runs, &stream)?;
    }

    /// A caller that counts packets in order itself and feeds the others one by one.
    #[test]
    fn everything_with_runs_counted_by_the_caller(
        parts in prop::collection::vec((0u64..40, 1u64..6), 1..12),
    ) {
        let (mut one, mut many) = (Metrics::default(), Metrics::default());
        let mut seq = 0;
        for (n, late) in parts {
            many.in_order_run(n, 0, 100 * n);
            for _ in 0..n {
                seq += 1;
                one.update(seq, 0, 100);
            }
            // A skipped packet arrives after `late` other packets.
            for next in (seq + 2..seq + 2 + late).chain([seq + 1]) {
                one.update(next, 0, 100);
                many.update(next, 0, 100);
            }
            seq += 1 + late;
        }
        let (one, many) = (one.finish(), many.finish());
        prop_assert_eq!(one.counts, many.counts);
        prop_assert_eq!(one.order.extent_bytes, many.order.extent_bytes);
        prop_assert_eq!(one.order.displacements, many.order.displacements);
        prop_assert_eq!(one.occupancy, many.occupancy);
        prop_assert_eq!(one.order.runs.mean_bytes(), many.order.runs.mean_bytes());
        prop_assert_eq!(one.order.n_reordering.largest(), many.order.n_reordering.largest());
    }
}

fn check_runs(found: &inorder_metrics::Runs, stream: &[Packet]) -> Result<(), TestCaseError> {
    let runs = naive::runs(stream);
    prop_assert_eq!(found.lengths(), &distribution(runs.iter().map(|r| r.0)));
    let squares: u128 = runs.iter().map(|r| u128::from(r.0 * r.0)).sum();
    prop_assert_eq!(found.squares(), squares);
    let unique = naive::first_copies(stream);
    let late = naive::late_packets(stream);
    let all: u64 = unique.iter().map(|p| u64::from(p.2)).sum();
    let in_order_bytes = |p: &&Packet| late.iter().all(|l| l.seq != p.0);
    let bytes: u64 = unique
        .iter()
        .filter(in_order_bytes)
        .map(|p| u64::from(p.2))
        .sum();
    prop_assert!(bytes <= all);
    if !late.is_empty() {
        prop_assert_eq!(found.mean_bytes(), Some(bytes as f64 / late.len() as f64));
    }
    Ok(())
}
