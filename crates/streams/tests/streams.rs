//! Streams whose numbers are not what they seem: constants, swapped bytes, parts, pauses, frames captured twice, new
//! numbers. And drawn streams with loss, which must stay loss.

use inorder_streams::{Numbers, StreamDoubt, StreamReport, Streams};
use inorder_wire::{Endpoint, Numbered, Service, StreamKey};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

fn key(service: Service) -> StreamKey {
    StreamKey {
        service,
        src: Endpoint::v4(0x0a00_0001, 4000),
        dst: Endpoint::v4(0x0a00_0002, 4002),
        id: 7,
        overlay: 0,
    }
}

/// A packet that is sent every 20 ms: voice with a clock of 8 kHz.
fn packet(at_ns: i64, number: u64) -> Numbered {
    Numbered {
        ts_ns: at_ns,
        seq: number & 0xffff,
        stamp: (number as u32).wrapping_mul(160),
        payload_len: 160,
        ip_id: number as u16 | 1,
        ..Numbered::default()
    }
}

fn reports(service: Service, packets: impl IntoIterator<Item = Numbered>) -> Vec<StreamReport> {
    let mut streams = Streams::new();
    for (frame, packet) in (1..).zip(packets) {
        streams.push(&key(service), &Numbered { frame, ..packet });
    }
    streams.finish()
}

#[track_caller]
fn report(service: Service, packets: impl IntoIterator<Item = Numbered>) -> StreamReport {
    let mut found = reports(service, packets);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Packets with these numbers, 20 ms apart.
fn numbers(numbers: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Numbered> {
    (0..).zip(numbers).map(|(n, number)| Numbered {
        ip_id: n as u16 + 1,
        ..packet(n * 20 * MS, number)
    })
}

fn verdicts(r: &StreamReport) -> (u64, u64, u64, u64) {
    (
        r.order.reordered,
        r.skipped.missing,
        r.twice.duplicates,
        r.skipped.absent,
    )
}

#[test]
fn numbers_that_do_not_count_tell_nothing() {
    let all = |of: &mut dyn FnMut(u64) -> u64| {
        let r = report(Service::GtpU, numbers((0..40).map(of)));
        assert_eq!(
            (r.order.received, verdicts(&r)),
            (40, (0, 0, 0, 0)),
            "{r:?}"
        );
        (r.numbering.numbers, r.numbering.value)
    };
    assert_eq!(all(&mut |_| 0), (Numbers::Constant, Some(0)));
    assert_eq!(all(&mut |_| 9), (Numbers::Constant, Some(9)));
    let swapped = |n: u64| u64::from((n as u16 + 240).swap_bytes());
    assert_eq!(all(&mut |n| swapped(n)), (Numbers::SwappedBytes, None));
    assert_eq!(
        all(&mut |n| swapped(n * 3 + n % 2)),
        (Numbers::SwappedBytes, None)
    );
    assert_eq!(all(&mut |n| 65_520 + 2 * n), (Numbers::Steps, Some(2)));
    let mut word = 1u64;
    let mut random = |_| {
        word = word
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        word >> 48
    };
    assert_eq!(all(&mut random), (Numbers::Random, None));
}

/// A monitor probes every second with the numbers 1, 2, 0, 1, ... Each packet has its own identification.
#[test]
fn numbers_that_are_used_again_and_again_tell_nothing() {
    let probe = |n: i64| Numbered {
        ip_id: 0x4000 + n as u16,
        ..packet(n * 1_000 * MS, (n as u64 + 1) % 3)
    };
    let r = report(Service::IcmpEcho, (0..40).map(probe));
    assert_eq!(
        (r.numbering.numbers, r.numbering.value),
        (Numbers::Again, Some(3))
    );
    assert_eq!((r.order.received, verdicts(&r)), (40, (0, 0, 0, 0)));
    assert_eq!((r.order.reordered, r.twice.duplicates), (0, 0));
    // A loop in a network repeats the frames themselves.
    let looped = |n: i64| Numbered {
        ip_id: n as u16 % 3 + 1,
        ..packet(n * MS, n as u64 % 3)
    };
    let r = report(Service::IcmpEcho, (0..40).map(looped));
    assert_eq!(
        (r.numbering.numbers, r.twice.duplicates),
        (Numbers::Count, 37)
    );
}

#[test]
fn a_pause_for_which_numbers_ran_on_is_one_gap() {
    let sent = (0..120)
        .chain(1_820..1_880)
        .map(|n| packet(n * 20 * MS, n as u64));
    let r = report(Service::Rtp, sent);
    assert_eq!((r.order.received, verdicts(&r)), (180, (0, 0, 0, 0)));
    let p = r.skipped.pauses;
    assert_eq!(
        (p.pauses, p.numbers, p.max_ns),
        (1, 1_700, 34_020 * MS as u64)
    );
    // A burst at the start hides the pace; the clock shows it.
    let burst = |n: i64| if n < 30 { n * MS / 10 } else { n * 20 * MS };
    let sent = (0..30)
        .chain(1_000..1_030)
        .map(|n| packet(burst(n), n as u64));
    assert_eq!(report(Service::Rtp, sent).skipped.pauses.numbers, 970);
    // A tunnel that is dead for 3 s, and 2 packets that come late after all.
    let sent = (0..500).chain(2_000..2_100).chain([1_998, 1_999]);
    let sent = sent.map(|n: i64| packet(n.max(2_000 * i64::from(n > 1_000)) * 2 * MS, n as u64));
    let r = report(Service::Esp, sent);
    assert_eq!(
        (
            r.skipped.pauses.pauses,
            r.skipped.pauses.numbers,
            r.skipped.missing
        ),
        (1, 1_498, 0)
    );
    assert_eq!(r.order.reordered, 2);
}

#[test]
fn a_silence_with_few_lost_numbers_and_a_burst_of_loss_are_loss() {
    // 5 s of silence in which 20 numbers went by, where 250 would have fitted.
    let sent = (0..100).chain(120..200).map(|n: i64| Numbered {
        stamp: n as u32 * 160,
        ..packet((n * 20 + if n > 100 { 4_600 } else { 0 }) * MS, n as u64)
    });
    let r = report(Service::Esp, sent);
    assert_eq!((r.skipped.missing, r.skipped.pauses.pauses), (20, 0));
    let burst = (0..100)
        .chain(130..200)
        .map(|n: i64| packet(n * 20 * MS, n as u64));
    let r = report(Service::Rtp, burst);
    assert_eq!(
        (r.skipped.missing, r.skipped.pauses.pauses, r.skipped.absent),
        (30, 0, 0)
    );
}

/// Packets in order, each a second time `after_ns` later with this identification.
fn twice(n: i64, after_ns: i64, ip_id: fn(i64) -> u16) -> Vec<Numbered> {
    let each = |n: i64| {
        let first = Numbered {
            ip_id: ip_id(n),
            ..packet(n * 20 * MS, n as u64)
        };
        let second = Numbered {
            ts_ns: first.ts_ns + after_ns,
            ..first
        };
        [first, second]
    };
    let mut all: Vec<_> = (0..n).flat_map(each).collect();
    all.sort_by_key(|p| p.ts_ns);
    all
}

#[test]
fn frames_captured_twice_are_counted_once() {
    let counts = |packets: Vec<Numbered>| {
        let r = report(Service::Rtp, packets);
        (r.order.received, r.twice.captured_twice, r.twice.duplicates)
    };
    assert_eq!(counts(twice(60, 9_000, |n| n as u16 + 1)), (60, 60, 0));
    // Without identifications, and at two places 3 ms apart.
    assert_eq!(counts(twice(60, 9_000, |_| 0)), (60, 60, 0));
    assert_eq!(counts(twice(60, 3 * MS, |n| n as u16 + 1)), (60, 60, 0));
    // The network delivers every fifth packet twice, 1.3 ms apart, bit by bit alike.
    let all = twice(60, 1_300_000, |n| n as u16 + 1);
    let fifth = all.into_iter().enumerate();
    let fifth = fifth.filter(|(i, p)| i % 2 == 0 || p.seq % 5 == 0);
    let fifth = fifth.map(|(_, p)| p).collect();
    assert_eq!(counts(fifth), (60, 0, 12));
}

/// The sender sends each packet twice: its identifications differ.
#[test]
fn packets_sent_twice_are_duplicates() {
    let mut all = twice(60, 9_000, |n| n as u16 + 1);
    for (n, packet) in all.iter_mut().enumerate() {
        packet.ip_id = n as u16 + 1;
    }
    let r = report(Service::Rtp, all);
    assert_eq!((r.twice.captured_twice, r.twice.duplicates), (0, 60));
}

#[test]
fn new_numbers_are_neither_loss_nor_late() {
    for second in [50_000u64, 100, 40_000] {
        let first = (0..300).map(|n: i64| packet(n * 20 * MS, 10_000 + n as u64));
        let anew = (0..300).map(|n: i64| Numbered {
            stamp: (10_300 + n as u32) * 160,
            ..packet((300 + n) * 20 * MS, second + n as u64)
        });
        let r = report(Service::Rtp, first.chain(anew));
        assert_eq!(
            (r.order.received, verdicts(&r)),
            (600, (0, 0, 0, 0)),
            "{second}"
        );
        assert_eq!(r.renumbered, 1);
    }
    // A packet 150 behind is late: its timestamp says so.
    let order = (0..200).filter(|n| *n != 40).chain([40]).chain(200..220);
    let late = (0..).zip(order).map(|(at, n)| packet(at * 20 * MS, n));
    let r = report(Service::Rtp, late);
    assert_eq!(
        (r.order.reordered, r.renumbered, r.skipped.missing),
        (1, 0, 0)
    );
}

#[test]
fn a_part_of_a_tunnel_is_a_doubt() {
    let part = (0..40).map(|n| 37 * n + n * n % 11);
    let r = report(Service::GtpU, numbers(part));
    assert_eq!(r.skipped.doubt, Some(StreamDoubt::LostOrElsewhere));
    assert_eq!(
        (r.skipped.missing, r.skipped.absent),
        (0, 39 * 37 + 39 * 39 % 11 + 1 - 40)
    );
}

proptest! {
    /// Up to a fifth of the packets is lost, some are overtaken, some come twice: each is what it is.
    #[test]
    fn loss_stays_loss(
        start in any::<u16>(),
        fates in prop::collection::vec(prop_oneof![
            70 => Just((true, 0i64, false)),
            12 => Just((false, 0, false)),
            10 => (Just(true), 1i64..90, Just(false)),
            5 => Just((true, 0, true)),
        ], 60..400),
    ) {
        let (mut sent, mut lost, mut twice) = (Vec::new(), 0, 0);
        for (n, &(arrives, delay_ms, again)) in fates.iter().enumerate() {
            // What is lost at the ends cannot be seen; the first packets prove the stream.
            let inner = n >= 8 && n + 1 < fates.len();
            let number = u64::from(start) + n as u64;
            let at = n as i64 * 20 * MS;
            if !arrives && inner {
                lost += 1;
                continue;
            }
            sent.push(packet(at + if inner { delay_ms * MS } else { 0 }, number));
            if again && inner {
                twice += 1;
                sent.push(Numbered { ip_id: 0x8000, ..packet(at + 2 * MS, number) });
            }
        }
        sent.sort_by_key(|p| p.ts_ns);
        let mut order: Vec<i64> = Vec::new();
        for p in &sent {
            let at = i64::from(p.seq as u16) - i64::from(start);
            order.push(at.rem_euclid(1 << 16));
        }
        let mut highest = -1;
        let mut seen = std::collections::HashSet::new();
        let late = order.iter().filter(|&&at| {
            let is_late = at < highest && !seen.contains(&at);
            seen.insert(at);
            highest = highest.max(at);
            is_late
        }).count() as u64;
        // What is lost behind the last packet that came is not seen; nothing is drawn so.
        for service in [Service::Rtp, Service::GtpU] {
            let found = reports(service, sent.iter().copied());
            prop_assert_eq!(found.len(), 1);
            let r = &found[0];
            prop_assert_eq!((r.skipped.missing, r.twice.duplicates, r.order.reordered), (lost, twice, late));
            prop_assert_eq!((r.skipped.absent, r.skipped.pauses.pauses, r.renumbered, r.twice.captured_twice), (0, 0, 0, 0));
            prop_assert_eq!(r.numbering.numbers, Numbers::Count);
        }
    }

    /// Of a tunnel the capture has a few packets, drawn: never loss.
    #[test]
    fn a_drawn_part_is_absent(steps in prop::collection::vec(1u64..60, 30..300)) {
        prop_assume!(steps.iter().sum::<u64>() > 4 * steps.len() as u64);
        let mut at = 0;
        let part = steps.iter().map(|step| { at += step; at });
        let r = report(Service::Gre, numbers(part));
        prop_assert_eq!(r.skipped.missing, 0);
        prop_assert!(r.skipped.doubt.is_some() || r.numbering.numbers == Numbers::Steps);
    }

    /// Nothing drawn panics, and nothing is counted twice.
    #[test]
    fn hostile_numbers_do_no_harm(
        packets in prop::collection::vec((any::<u64>(), any::<i64>(), any::<u32>(), any::<u16>()), 0..200),
        near in any::<bool>(),
    ) {
        for service in Service::ALL.iter().copied().filter(|s| *s != Service::Mptcp) {
            let mask = u64::MAX >> (64 - service.bits());
            let drawn = packets.iter().map(|&(seq, ts_ns, stamp, ip_id)| Numbered {
                ts_ns,
                seq: (if near { seq % 300 } else { seq }) & mask,
                stamp,
                ip_id,
                ..Numbered::default()
            });
            for r in reports(service, drawn) {
                let all = r.order.received + r.order.ambiguous + r.twice.duplicates + r.twice.captured_twice;
                prop_assert!(all <= packets.len() as u64, "{:?}", r);
            }
        }
    }
}
