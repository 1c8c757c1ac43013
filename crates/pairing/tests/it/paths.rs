//! Captures at both ends of a path whose fate is known, packet by packet.

use inorder_pairing::diff::{Basis, Difference, Fate, Keep, Layer, Settings, Trace};
use inorder_wire::{Frame, LinkType};
use proptest::prelude::*;

/// A UDP datagram of 32 bytes from one of two hosts; equal `id` and `body` make equal packets.
fn datagram(back: bool, ttl: u8, id: u8, body: u8) -> Vec<u8> {
    let (src, dst) = if back { (2, 1) } else { (1, 2) };
    let mut bytes = vec![0x45, 0, 0, 32, 0, id, 0, 0, ttl, 17, 0, 0];
    bytes.extend([10, 0, 0, src, 10, 0, 0, dst, 0, 9, 0, 7, 0, 12, 0, 0]);
    bytes.extend([body; 4]);
    bytes
}

/// A capture of packets with their times in milliseconds.
fn trace(packets: &[(i64, Vec<u8>)]) -> Trace {
    kept(packets, Keep::Bytes)
}

fn compare(a: Trace, b: Trace) -> Difference {
    let (mut a, mut b) = (a, b);
    inorder_pairing::diff::compare(&mut a, &mut b, Settings::default())
}

fn kept(packets: &[(i64, Vec<u8>)], keep: Keep) -> Trace {
    let mut trace = Trace::new(usize::MAX, keep);
    for (number, (ms, bytes)) in (1..).zip(packets) {
        trace.push(&Frame {
            ts_ns: ms * 1_000_000,
            number,
            link: LinkType::RAW,
            orig_len: bytes.len() as u32,
            data: bytes,
        });
    }
    trace
}

#[test]
fn lost_late_duplicated_and_appeared() {
    let to = |id: u8| datagram(false, 64, id, id);
    let there = |id: u8| datagram(false, 63, id, id);
    let a: Vec<_> = (1..=8).map(|id| (i64::from(id), to(id))).collect();
    let b: Vec<_> = [
        (11, 1),
        (13, 3),
        (14, 4),
        (15, 2),
        (16, 4),
        (17, 9),
        (18, 8),
    ]
    .map(|(ms, id)| (ms, there(id)))
    .to_vec();
    let found = compare(trace(&a), trace(&b));
    let [all] = found.directions.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (all.name.as_str(), all.a_first, all.basis),
        ("A to B", true, Basis::TimeToLive)
    );
    assert_eq!(
        (
            all.sent,
            all.lost,
            all.duplicated,
            all.appeared,
            all.outside
        ),
        (8, 3, 1, 1, 0)
    );
    assert_eq!((all.order.received, all.order.reordered), (5, 1));
    assert_eq!(all.least_ns, 10_000_000);
    assert_eq!(all.longer_ns.max(), Some(3_000_000));
    let late: Vec<_> = found
        .packets
        .iter()
        .filter(|p| p.fate == Fate::Late)
        .collect();
    assert_eq!(late.len(), 1);
    assert_eq!(
        (late[0].frame_a, late[0].frame_b, late[0].extent),
        (Some(2), Some(4), Some(2))
    );
}

/// Sent, lost and duplicated.
fn counts(found: &Difference) -> Vec<(u64, u64, u64)> {
    let of = found.directions.iter();
    of.map(|way| (way.sent, way.lost, way.duplicated)).collect()
}

#[test]
fn packets_that_a_mirror_shows_twice_count_once() {
    let sent = |id: u8| (i64::from(id) * 20, datagram(false, 64, id, id));
    let twice = |apart_ms| {
        let all = (1..=20).flat_map(|id| [sent(id), (sent(id).0 + apart_ms, sent(id).1)]);
        trace(&all.collect::<Vec<_>>())
    };
    let once = || (1..=20).map(sent);
    let arrived = || trace(&once().filter(|(ms, _)| ms % 100 > 0).collect::<Vec<_>>());
    // Packets 5, 10, 15 were lost; nothing shows whether 20 was.
    let found = compare(twice(1), arrived());
    assert_eq!(
        (counts(&found), found.captured_twice),
        (vec![(19, 3, 0)], 20)
    );
    assert!(
        found.warnings.iter().any(|w| w.starts_with(
            "A has nearly every packet more than once within 1.00 ms, as when two mirror ports record the same packet: \
             20 further frames"
        )),
        "{:?}",
        found.warnings
    );
    let found = compare(trace(&once().collect::<Vec<_>>()), twice(1));
    assert_eq!(counts(&found), [(20, 0, 0)]);
    let found = compare(twice(1), twice(2));
    assert_eq!(
        (counts(&found), found.captured_twice),
        (vec![(20, 0, 0)], 40)
    );
    // Repetitions of a sender are further apart, and a path doubles some packets, not all.
    let found = compare(twice(300), trace(&once().collect::<Vec<_>>()));
    assert_eq!(found.captured_twice, 0);
    let some = once().chain([5, 9, 13].map(|id| (sent(id).0 + 1, sent(id).1)));
    let found = compare(
        trace(&once().collect::<Vec<_>>()),
        trace(&some.collect::<Vec<_>>()),
    );
    assert_eq!(
        (counts(&found), found.captured_twice),
        (vec![(20, 0, 3)], 0)
    );
}

#[test]
fn few_packets_back_count_once_where_the_whole_capture_has_each_twice() {
    let sent = |id: u8| (i64::from(id) * 20, datagram(false, 64, id, id));
    let answer = |ms| (ms, datagram(true, 61, 1, 0));
    let a = (1..=20)
        .flat_map(|id| [sent(id), sent(id)])
        .chain([answer(500), answer(500)]);
    let b = (1..=20).map(sent).chain([answer(480)]);
    let found = compare(trace(&a.collect::<Vec<_>>()), trace(&b.collect::<Vec<_>>()));
    assert_eq!(counts(&found), [(20, 0, 0), (1, 0, 0)]);
}

/// A datagram in VXLAN, network 42, or behind a label of MPLS.
fn tunnelled(vxlan: bool, datagram: &[u8]) -> Vec<u8> {
    let ethernet = [&[2; 12][..], &[8, 0], datagram].concat();
    let label = [&[0; 12][..], &[0x88, 0x47, 0, 1, 1, 64], datagram].concat();
    if !vxlan {
        return label;
    }
    let length = |header: usize| ((ethernet.len() + header) as u16).to_be_bytes();
    let mut bytes = vec![0; 12];
    bytes.extend([8, 0, 0x45, 0]);
    bytes.extend(length(36));
    bytes.extend([
        0, 7, 0, 0, 64, 17, 0, 0, 172, 16, 0, 1, 172, 16, 0, 2, 0xc0, 0, 0x12, 0xb5,
    ]);
    bytes.extend(length(16));
    bytes.extend([0, 0, 8, 0, 0, 0, 0, 0, 42, 0]);
    bytes.extend(ethernet);
    bytes
}

#[test]
fn packets_in_a_tunnel_are_those_that_the_other_capture_has_without_it() {
    let innermost = |packets: &[Vec<u8>], link| {
        let mut trace = Trace::of_layer(Layer::Innermost, usize::MAX, Keep::Bytes);
        for (number, bytes) in (1..).zip(packets) {
            trace.push(&Frame {
                ts_ns: number as i64 * 1_000_000,
                number,
                link,
                orig_len: bytes.len() as u32,
                data: bytes,
            });
        }
        trace
    };
    let plain: Vec<_> = (1..=9).map(|id| datagram(false, 64, id, id)).collect();
    for (vxlan, name) in [(true, "VXLAN VNI 42"), (false, "MPLS label 16")] {
        let inside = plain.iter().filter(|bytes| bytes[5] != 4);
        let inside: Vec<_> = inside.map(|bytes| tunnelled(vxlan, bytes)).collect();
        let found = compare(
            innermost(&plain, LinkType::RAW),
            innermost(&inside, LinkType::ETHERNET),
        );
        assert_eq!(counts(&found), [(9, 1, 0)], "{name}");
        assert_eq!(found.tunnels, [vec![], vec![name.to_owned()]]);
        let told =
            format!("8 packets of B are in a tunnel ({name}): the packets within were compared");
        assert!(found.warnings.contains(&told), "{:?}", found.warnings);
        assert_eq!(found.flows[0].name, "udp 10.0.0.1:9->10.0.0.2:7");
    }
}

#[test]
fn packets_that_are_all_alike_tell_their_direction() {
    // Each host sends the same keepalive again and again; the third from 10.0.0.1 is lost. No router, clocks an hour apart.
    let hour = 3_600_000;
    let to = |n: i64| (n * 1_000, datagram(false, 64, 0, 9));
    let back = |n: i64| (n * 1_500 + 200, datagram(true, 64, 0, 9));
    let later = |(ms, bytes): (i64, Vec<u8>), by: i64| (ms + by, bytes);
    let sorted = |mut all: Vec<(i64, Vec<u8>)>| {
        all.sort_by_key(|(ms, _)| *ms);
        trace(&all)
    };
    let a = (0..80).map(to).chain((0..50).map(|n| later(back(n), 10)));
    let there = (0..80).filter(|n| *n != 2).map(|n| later(to(n), 10 - hour));
    let b = there.chain((0..50).map(|n| later(back(n), -hour)));
    let found = compare(sorted(a.collect()), sorted(b.collect()));
    assert_eq!(counts(&found), [(80, 1, 0), (50, 0, 0)]);
    assert!(found.directions.iter().all(|way| way.order.reordered == 0));
    assert_eq!(found.directions[0].basis, Basis::BothDirections);
    let lost = found.packets.iter().find(|p| p.fate == Fate::Lost);
    assert_eq!(lost.and_then(|p| p.frame_a), Some(5));
}

#[test]
fn what_a_host_echoes_is_not_taken_for_what_was_sent_to_it() {
    // 10.0.0.1 is 192.0.2.1 behind a device; 10.0.0.2 sends everything back as it came.
    let outside = |mut bytes: Vec<u8>, at: usize| {
        bytes[at..at + 4].copy_from_slice(&[192, 0, 2, 1]);
        bytes
    };
    let to = |n: u8| datagram(false, 64, 0, n);
    let back = |n: u8| datagram(true, 64, 0, n);
    let at = |n: u8, ms: i64| i64::from(n) * 100 + ms;
    let a = (1..=9).flat_map(|n| [(at(n, 0), to(n)), (at(n, 20), back(n))]);
    let b = (1..=9).flat_map(|n| {
        let (there, again) = (outside(to(n), 12), outside(back(n), 16));
        [(at(n, 10), there), (at(n, 11), again)]
    });
    // The fifth answer is lost.
    let a = a.filter(|(ms, _)| *ms != at(5, 20));
    let found = compare(
        kept(&a.collect::<Vec<_>>(), Keep::Translated),
        kept(&b.collect::<Vec<_>>(), Keep::Translated),
    );
    assert_eq!(counts(&found), [(9, 0, 0), (9, 1, 0)]);
    assert!(found.directions.iter().all(|way| way.order.reordered == 0));
}

#[test]
fn the_way_back_begins_at_b_whatever_the_clocks_say() {
    // B's clock is an hour behind; the delay is 5 ms each way. No router.
    let hour = 3_600_000;
    let (to, back) = (
        |id| datagram(false, 64, id, id),
        |id| datagram(true, 64, id, id),
    );
    let a: Vec<_> = vec![
        (0, to(1)),
        (10, back(1)),
        (11, to(2)),
        (20, back(3)),
        (21, to(3)),
    ];
    let b: Vec<_> = vec![
        (5 - hour, to(1)),
        (5 - hour, back(1)),
        (10 - hour, back(2)),
        (15 - hour, back(3)),
        (16 - hour, to(2)),
        (26 - hour, to(3)),
    ];
    let found = compare(trace(&a), trace(&b));
    let ways: Vec<_> = found
        .directions
        .iter()
        .map(|way| (way.a_first, way.sent, way.lost))
        .collect();
    assert_eq!(ways, [(true, 3, 0), (false, 3, 1)]);
    assert!(
        found
            .directions
            .iter()
            .all(|way| way.basis == Basis::BothDirections)
    );
}

#[test]
fn a_capture_that_began_later_lost_nothing() {
    let to = |id: u8| datagram(false, 64, id, id);
    let a: Vec<_> = (1..=9).map(|id| (i64::from(id), to(id))).collect();
    let b: Vec<_> = (4..=6)
        .map(|id| (i64::from(id) + 1, datagram(false, 60, id, id)))
        .collect();
    let found = compare(trace(&a), trace(&b));
    assert_eq!(
        (found.directions[0].lost, found.directions[0].outside),
        (0, 6)
    );
}

#[test]
fn equal_packets_are_paired_by_their_times() {
    let same = |ttl| datagram(false, ttl, 0, 7);
    let a: Vec<_> = [0, 100, 200, 300].map(|ms| (ms, same(64))).to_vec();
    let mut a = a;
    a.insert(0, (-10, datagram(false, 64, 1, 1)));
    a.push((400, datagram(false, 64, 2, 1)));
    let b = [
        (-5, datagram(false, 63, 1, 1)),
        (5, same(63)),
        (206, same(63)),
        (305, same(63)),
        (405, datagram(false, 63, 2, 1)),
    ];
    let found = compare(trace(&a), trace(&b));
    let lost: Vec<_> = found
        .packets
        .iter()
        .filter(|p| p.fate == Fate::Lost)
        .map(|p| p.frame_a)
        .collect();
    assert_eq!(lost, [Some(3)]);
    assert_eq!(found.directions[0].order.reordered, 0);
}

/// A queue grows: packets leave 1.4 ms apart that were sent 0.2 ms apart. The path doubles one of them, and its copy takes
/// the usual time better than itself.
#[test]
fn the_first_of_two_copies_arrived() {
    let us = |us: i64, bytes: Vec<u8>| (us, bytes);
    let capture = |packets: &[(i64, Vec<u8>)]| {
        let mut trace = Trace::new(usize::MAX, Keep::Bytes);
        for (number, (us, bytes)) in (1..).zip(packets) {
            trace.push(&Frame {
                ts_ns: us * 1_000,
                number,
                link: LinkType::RAW,
                orig_len: bytes.len() as u32,
                data: bytes,
            });
        }
        trace
    };
    for doubled in [3u8, 9, 29, 45] {
        let to = |id: u8, ttl| datagram(false, ttl, id, id);
        let a: Vec<_> = (0..60)
            .map(|id| us(200 * i64::from(id), to(id, 64)))
            .collect();
        let leaves = |id: u8| 12_000 + 1_400 * i64::from(id);
        let mut b: Vec<_> = (0..60).map(|id| us(leaves(id), to(id, 63))).collect();
        b.push(us(leaves(doubled) + 2_100, to(doubled, 63)));
        b.sort_by_key(|(at, _)| *at);
        // The captures may be given in either order.
        for (a, b) in [(&a, &b), (&b, &a)] {
            let found = compare(capture(a), capture(b));
            let all = &found.directions[0];
            assert_eq!(
                (all.order.reordered, all.duplicated, all.lost),
                (0, 1, 0),
                "{doubled}"
            );
        }
    }
}

/// A segment of TCP from port `port` of a host, with a payload of `len` bytes from `seq` on.
fn segment(host: u8, port: u16, id: u8, seq: u32, len: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((40 + len).to_be_bytes());
    bytes.extend([0, id, 0, 0, 64, 6, 0, 0, 10, 0, 0, host, 10, 0, 9, 9]);
    bytes.extend(port.to_be_bytes());
    bytes.extend([0, 80]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    bytes.extend((0..len).map(|i| (seq.wrapping_add(i.into()) / 10) as u8));
    bytes
}

/// Host 1 behind the device is port 700 of its host 5, and some packets are late or lost.
#[test]
fn translated_addresses_and_ports() {
    let a: Vec<_> = (0u8..6)
        .map(|n| (i64::from(n), segment(1, 4000, n, u32::from(n) * 100, 100)))
        .collect();
    let order = [0u8, 2, 1, 4, 5];
    let behind: Vec<_> = (10..)
        .zip(order)
        .map(|(ms, n)| (ms, segment(5, 700, n, u32::from(n) * 100, 100)))
        .collect();
    let none = compare(trace(&a), trace(&behind));
    assert!(none.directions.iter().all(|way| way.order.received == 0));
    assert!(inorder_pairing::diff::in_common(&trace(&a), &trace(&behind)) == 0.0);
    let found = compare(kept(&a, Keep::Translated), kept(&behind, Keep::Translated));
    let [all] = found.directions.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (all.sent, all.lost, all.order.reordered, all.appeared),
        (6, 1, 1, 0)
    );
    let [flow] = found.flows.as_slice() else {
        panic!("{:?}", found.flows);
    };
    assert_eq!(flow.name, "tcp 10.0.0.1:4000->10.0.9.9:80");
    assert_eq!(flow.in_b.as_deref(), Some("tcp 10.0.0.5:700->10.0.9.9:80"));
}

/// The device also counts identifications and bytes anew.
#[test]
fn translated_sequence_numbers() {
    let a: Vec<_> = (0u8..6)
        .map(|n| (i64::from(n), segment(1, 4000, n, u32::from(n) * 100, 100)))
        .collect();
    let anew = |n: u8| {
        let mut bytes = segment(1, 4000, n, u32::from(n) * 100, 100);
        bytes[5] ^= 0x80;
        bytes[24] ^= 0x80;
        bytes
    };
    let b: Vec<_> = (10..)
        .zip([0u8, 2, 1, 4, 5])
        .map(|(ms, n)| (ms, anew(n)))
        .collect();
    assert_eq!(
        inorder_pairing::diff::in_common(&kept(&a, Keep::Translated), &kept(&b, Keep::Translated)),
        0.0
    );
    let found = compare(kept(&a, Keep::Payload), kept(&b, Keep::Payload));
    let all = &found.directions[0];
    assert_eq!((all.sent, all.lost, all.order.reordered), (6, 1, 1));
}

/// The sender has three super-packets, the receiver single segments, one of them late and one lost, and a merged one.
#[test]
fn super_packets_are_cut() {
    let start = u32::MAX - 450;
    let at = |n: u32| start.wrapping_add(n * 100);
    let a = [
        (0, segment(1, 4000, 1, at(0), 400)),
        (1, segment(1, 4000, 2, at(4), 400)),
        (2, segment(1, 4000, 3, at(8), 300)),
    ];
    let b = [
        (10, segment(1, 4000, 1, at(0), 100)),
        (11, segment(1, 4000, 1, at(2), 100)),
        (12, segment(1, 4000, 1, at(1), 100)),
        (13, segment(1, 4000, 1, at(3), 100)),
        (14, segment(1, 4000, 2, at(5), 300)),
        (15, segment(1, 4000, 3, at(8), 300)),
    ];
    let found = compare(trace(&a), trace(&b));
    let all = &found.directions[0];
    assert_eq!((found.cut, all.sent, all.lost, all.appeared), (2, 7, 1, 0));
    assert_eq!((all.order.received, all.order.reordered), (6, 1));
    let (mut a, mut b) = (trace(&a), trace(&b));
    let whole = Settings {
        whole: true,
        ..Settings::default()
    };
    let found = inorder_pairing::diff::compare(&mut a, &mut b, whole);
    assert_eq!((found.cut, found.directions[0].order.received), (0, 1));
}

#[test]
fn selected_flows_only() {
    let a = [
        (0, segment(1, 4000, 1, 0, 10)),
        (1, segment(1, 5000, 2, 0, 10)),
        (2, segment(1, 4000, 3, 10, 10)),
    ];
    let (mut a, mut b) = (trace(&a), trace(&a));
    let select = |flow: &inorder_pairing::diff::Flow| flow.src.port == 4000;
    let settings = Settings {
        select: Some(&select),
        ..Settings::default()
    };
    let found = inorder_pairing::diff::compare(&mut a, &mut b, settings);
    assert_eq!((found.directions[0].sent, found.flows.len()), (2, 1));
}

proptest! {
    /// The straightforward twin: with packets that all differ, positions tell everything.
    #[test]
    fn agrees_with_the_definition(
        delays in prop::collection::vec(prop_oneof![6 => Just(Some(0u16)), 2 => (0u16..9).prop_map(Some), 1 => Just(None)], 1..60),
    ) {
        let a: Vec<_> = (0u8..).zip(&delays).map(|(id, _)| (i64::from(id), datagram(false, 64, id, id))).collect();
        let mut arrivals: Vec<(i64, u8)> = (0u8..)
            .zip(&delays)
            .filter_map(|(id, delay)| Some((i64::from(id) + i64::from((*delay)?), id)))
            .collect();
        arrivals.sort();
        let b: Vec<_> = arrivals.iter().map(|&(ms, id)| (ms, datagram(false, 63, id, id))).collect();
        let found = compare(trace(&a), trace(&b));
        let late = arrivals.iter().enumerate().filter(|(i, (_, id))| arrivals[..*i].iter().any(|(_, other)| other > id)).count() as u64;
        let running = arrivals.iter().map(|(_, id)| *id).min().zip(arrivals.iter().map(|(_, id)| *id).max());
        let lost = (0u8..).zip(&delays).filter(|(id, delay)| {
            delay.is_none() && running.is_some_and(|(first, last)| (first..=last).contains(id))
        }).count() as u64;
        let all = &found.directions[0];
        prop_assert_eq!((all.order.received, all.order.reordered), (arrivals.len() as u64, late));
        prop_assert_eq!(all.lost, lost);
        prop_assert_eq!(all.order.extents.count(), late);
        prop_assert_eq!(found.packets.len(), delays.len());
    }
}

/// A datagram of two hosts with 48 bytes behind its header, or the part of it from `from` to `to`.
fn part(ttl: u8, id: u8, from: u8, to: u8) -> Vec<u8> {
    let more = if to < 48 { 0x20 } else { 0 };
    let mut bytes = vec![
        0x45,
        0,
        0,
        20 + to - from,
        0,
        id,
        more,
        from / 8,
        ttl,
        17,
        0,
        0,
    ];
    bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    let whole: Vec<u8> = [0, 9, 0, 7, 0, 48, 0, 0]
        .into_iter()
        .chain([id; 40])
        .collect();
    bytes.extend(&whole[usize::from(from)..usize::from(to)]);
    bytes
}

/// A router cuts datagrams into two fragments: one whole datagram and one fragment are lost, and one datagram is overtaken.
#[test]
fn datagrams_that_are_fragmented_on_the_way() {
    let a: Vec<_> = (1..=6)
        .map(|id| (i64::from(id), part(64, id, 0, 48)))
        .collect();
    let b: Vec<_> = [
        (11, 1, 0, 24),
        (11, 1, 24, 48),
        (13, 3, 0, 24),
        (14, 4, 0, 24),
        (14, 4, 24, 48),
        (16, 6, 0, 24),
        (16, 6, 24, 48),
        (17, 5, 0, 24),
        (17, 5, 24, 48),
    ]
    .map(|(ms, id, from, to)| (ms, part(63, id, from, to)))
    .to_vec();
    assert_eq!(
        inorder_pairing::diff::in_common(&trace(&a), &trace(&b)),
        5.0 / 6.0
    );
    let found = compare(trace(&a), trace(&b));
    let fates: Vec<(u64, Fate)> = found
        .packets
        .iter()
        .filter(|packet| packet.fate != Fate::InOrder)
        .map(|packet| (packet.frame_a.unwrap_or(0), packet.fate))
        .collect();
    let expected = [
        (2, Fate::Lost),
        (3, Fate::Lost),
        (5, Fate::Late),
        (5, Fate::Late),
    ];
    assert_eq!(fates, expected);
    assert_eq!((found.cut, found.directions.len()), (5, 1));
}
