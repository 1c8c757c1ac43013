//! Turns of queues packet by packet, and a single flow compared with CoDel.

use super::super::codel::Codel;
use super::*;
use crate::{AnyStage, Path, Probe, Timeline};
use inorder_scenario::config::{Framing, Line, QueueLimit};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

/// 1500 bytes in a millisecond.
fn line(limit: QueueLimit) -> Line {
    Line {
        buffer: limit.into(),
        framing: Framing::None,
        ..Line::new(12_000_000)
    }
}

/// The defaults of RFC 8290 section 5.2.
const FAIR: plain::FqCodel = plain::FqCodel {
    queues: 1024,
    quantum_bytes: 1514,
    target_ns: 5 * MS,
    interval_ns: 100 * MS,
    mark: true,
};

/// Seven flows are hashed into different queues with the seed of these tests.
fn stage(limit: QueueLimit, fair: &plain::FqCodel) -> AnyStage<Probe> {
    let line = line(limit);
    let queue = FqCodel::new(&line, fair, Random::new(1, "fq-codel"));
    ManagedLink::new(&line, queue).into()
}

/// Packets given by time, flow and bytes, numbered from 0; returns the arrivals as time, flow and number.
fn through(stage: AnyStage<Probe>, packets: &[(i64, u32, u32)]) -> Vec<(i64, u32, u64)> {
    let mut line = Timeline::new(Path::new(vec![stage]));
    for (number, &(at, flow, bytes)) in packets.iter().enumerate() {
        line.push(at, Probe::of_flow(flow, number as u64, bytes));
    }
    std::iter::from_fn(|| line.pop(i64::MAX))
        .map(|(at, packet)| (at, packet.flow, packet.number))
        .collect()
}

#[test]
fn flows_of_these_tests_do_not_share_a_queue() {
    let random = Random::new(1, "fq-codel");
    let queue = FqCodel::new(&line(QueueLimit::Unlimited), &FAIR, random);
    let mut places: Vec<usize> = (0..7)
        .map(|flow| queue.queue_of(&Probe::of_flow(flow, 0, 0)))
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 7);
}

#[test]
fn two_flows_take_turns_in_bytes() {
    let config = plain::FqCodel {
        quantum_bytes: 1500,
        ..FAIR
    };
    // Flow 0 sends packets of 1500 bytes, flow 1 of 750.
    let mut packets = vec![(0, 0, 1500); 4];
    packets.extend([(0, 1, 750); 8]);
    let order: Vec<u32> = through(stage(QueueLimit::Unlimited, &config), &packets)
        .iter()
        .map(|&(_, flow, _)| flow)
        .collect();
    assert_eq!(order, [0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]);
}

#[test]
fn a_packet_of_a_flow_that_sends_little_does_not_wait_behind_a_flow_that_sends_much() {
    let mut packets = vec![(0, 0, 1500); 50];
    packets.push((10 * MS + 1, 1, 1500));
    let arrived = through(stage(QueueLimit::Unlimited, &FAIR), &packets);
    let alone = arrived.iter().find(|&&(_, flow, _)| flow == 1);
    // At 10 ms the eleventh packet of flow 0 has started.
    assert_eq!(alone, Some(&(12 * MS, 1, 50)));
}

#[test]
fn a_queue_that_empties_is_not_new_again_at_once() {
    let config = plain::FqCodel {
        quantum_bytes: 1500,
        ..FAIR
    };
    // Flow 1 sends one packet, and the next one as soon as that is sent: flow 0 has its turn in between.
    let mut packets = vec![(0, 0, 1500); 6];
    packets.extend([(MS + 1, 1, 1500), (3 * MS + 1, 1, 1500)]);
    let order: Vec<u32> = through(stage(QueueLimit::Unlimited, &config), &packets)
        .iter()
        .map(|&(_, flow, _)| flow)
        .collect();
    assert_eq!(order, [0, 0, 1, 0, 1, 0, 0, 0]);
}

#[test]
fn an_overflow_drops_from_the_head_of_the_longest_queue() {
    // 0 is being sent; 1 to 10 fill the queue; 11, of another flow, makes flow 0 lose half of its packets.
    let mut packets = vec![(0, 0, 1500); 11];
    packets.push((1, 1, 1500));
    let mut numbers: Vec<u64> = through(stage(QueueLimit::Packets(10), &FAIR), &packets)
        .iter()
        .map(|&(_, _, number)| number)
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn at_most_64_packets_are_dropped_at_once() {
    let config = plain::FqCodel {
        target_ns: i64::MAX,
        ..FAIR
    };
    let packets = vec![(0, 0, 1500); 1002];
    assert_eq!(
        through(stage(QueueLimit::Packets(1000), &config), &packets).len(),
        1002 - 64
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A single flow shares with no other flow, so the result is that of CoDel.
    #[test]
    fn one_flow_alone_is_codel(
        phases in proptest::collection::vec((1i64..30, 1u32..5, 20usize..400), 1..6),
    ) {
        let mut now = 0;
        let mut packets = Vec::new();
        for (gap, size, count) in phases {
            for _ in 0..count {
                now += gap * 100_000;
                packets.push((now, 0, size * 300));
            }
        }
        let line = line(QueueLimit::Unlimited);
        let codel = plain::Codel { target_ns: 5 * MS, interval_ns: 100 * MS, mark: true };
        let codel = ManagedLink::new(&line, Codel::new(&line, &codel)).into();
        let fair = stage(QueueLimit::Unlimited, &FAIR);
        prop_assert_eq!(through(fair, &packets), through(codel, &packets));
    }

    /// While two flows both have waiting packets, neither is ahead of the other by more than one turn.
    #[test]
    fn no_flow_is_ahead_by_more_than_a_turn(
        quantum_bytes in 300u32..3000,
        sizes in proptest::collection::vec(60u32..1500, 2..7),
    ) {
        let config = plain::FqCodel {
            quantum_bytes,
            target_ns: i64::MAX,
            ..FAIR
        };
        let flows = sizes.len();
        // All flows send 60 kB at time 0; none is finished before 50 kB of each are sent.
        let mut packets = Vec::new();
        for (flow, &size) in sizes.iter().enumerate() {
            packets.extend(vec![(0, flow as u32, size); 60_000 / size as usize]);
        }
        let mut sent = vec![0u64; flows];
        for (_, flow, _) in through(stage(QueueLimit::Unlimited, &config), &packets) {
            let bytes = &mut sent[flow as usize];
            *bytes += u64::from(sizes[flow as usize]);
            if *bytes > 50_000 {
                break;
            }
            let (least, most) = (sent.iter().min(), sent.iter().max());
            // One turn, plus a packet by which each may exceed its turn, plus the packet that found the link idle.
            let ahead = most.zip(least).map_or(0, |(most, least)| most - least);
            prop_assert!(ahead <= u64::from(quantum_bytes) + 3 * 1500, "{sent:?}");
        }
    }
}
