//! Streams of every kind, packet by packet.

use super::*;
use inorder_metrics::Metrics;
use inorder_wire::{Endpoint, Sending, Service};
use proptest::prelude::*;

fn key(service: Service, id: u32) -> StreamKey {
    StreamKey {
        service,
        src: Endpoint::v4(0x0a00_0001, 0),
        dst: Endpoint::v4(0x0a00_0002, 0),
        id,
        overlay: 0,
    }
}

fn packet(ms: i64, seq: u64) -> Numbered {
    Numbered {
        ts_ns: ms * 1_000_000,
        frame: ms as u64 + 1,
        seq,
        stamp: (seq as u32).wrapping_mul(8),
        payload_len: 64,
        ..Numbered::default()
    }
}

/// Reports on one stream with these numbers, a millisecond apart.
fn reports(service: Service, seqs: &[u64]) -> Vec<StreamReport> {
    let mut streams = Streams::new();
    for (ms, &seq) in seqs.iter().enumerate() {
        streams.push(&key(service, 7), &packet(ms as i64, seq));
    }
    streams.finish()
}

#[test]
fn numbers_that_wrap_are_in_order() {
    let found = reports(Service::IcmpEcho, &[65_534, 65_535, 0, 1]);
    assert_eq!(
        (
            found[0].order.received,
            found[0].order.reordered,
            found[0].skipped.missing
        ),
        (4, 0, 0)
    );
    let found = reports(Service::Esp, &[u64::from(u32::MAX), 1, 0, 2]);
    assert_eq!((found[0].order.received, found[0].order.reordered), (4, 1));
}

#[test]
fn echoes_whose_numbers_have_their_bytes_in_the_other_order_are_in_order() {
    let order = |seqs: &[u64]| {
        let found = reports(Service::IcmpEcho, seqs);
        let r = &found[0];
        (
            r.order.received,
            r.order.reordered,
            r.skipped.missing,
            r.skipped.absent,
            r.skipped.pauses.numbers,
        )
    };
    let other = |seqs: &[u16]| {
        let swapped: Vec<u64> = seqs.iter().map(|seq| u64::from(seq.swap_bytes())).collect();
        order(&swapped)
    };
    assert_eq!(other(&[52, 53, 54, 55]), (4, 0, 0, 0, 0));
    assert_eq!(
        other(&[107, 108]),
        (2, 0, 0, 0, 0),
        "two packets, and no more"
    );
    assert_eq!(other(&[254, 255, 256, 257]), (4, 0, 0, 0, 0));
    // What is lost or late shows as that of any other stream.
    assert_eq!(other(&[1, 2, 3, 5, 6]), (5, 0, 1, 0, 0));
    assert_eq!(other(&[1, 2, 3, 5, 4, 6]), (6, 1, 0, 0, 0));
    // 256 were lost on the way: the next number is near again.
    assert_eq!(order(&[1, 2, 259, 260]).0, 4);
    assert!(order(&[1, 2, 259, 260]).2 + order(&[1, 2, 259, 260]).3 > 0);
}

#[test]
fn what_an_echo_stream_lacks_may_have_gone_to_another_host() {
    let missing = |to_another: &[u64], answers: bool| {
        let mut streams = Streams::new();
        for seq in 1..=9 {
            let dst = u32::from(to_another.contains(&seq)) + 2;
            let (one, other) = (Endpoint::v4(1, 0), Endpoint::v4(dst, 0));
            let (id, src, dst) = match answers {
                true => (7 | 1 << 16, other, one),
                false => (7, one, other),
            };
            let key = StreamKey {
                src,
                dst,
                ..key(Service::IcmpEcho, id)
            };
            if seq != 8 {
                streams.push(&key, &packet(seq as i64, seq));
            }
        }
        streams.finish()[0].skipped.missing
    };
    assert_eq!(
        missing(&[4, 5], false),
        1,
        "8 was lost, and 4 and 5 are elsewhere"
    );
    assert_eq!(missing(&[4, 5], true), 1);
    assert_eq!(missing(&[4], false), 2, "one packet makes no stream");
}

#[test]
fn a_late_packet_a_copy_and_a_loss() {
    let found = reports(Service::WireGuard, &[1, 2, 4, 5, 6, 3, 7, 7, 9]);
    let [r] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (r.order.received, r.order.reordered, r.order.extents.max()),
        (8, 1, Some(3))
    );
    assert_eq!(r.order.late_ns.max(), Some(3_000_000));
    assert_eq!((r.twice.duplicates, r.skipped.missing), (1, 1));
    assert_eq!((r.first_ns, r.last_ns), (0, 8_000_000));
}

#[test]
fn rtp_is_followed_once_it_is_proved_and_from_the_start() {
    assert!(reports(Service::Rtp, &[1, 2, 900, 40_000, 7]).is_empty());
    let found = reports(Service::Rtp, &[1, 2, 4, 3, 5]);
    assert_eq!((found[0].order.received, found[0].order.reordered), (5, 1));
}

#[test]
fn numbers_beyond_all_bounds_do_no_harm() {
    let last = u64::MAX;
    let found = reports(
        Service::WireGuard,
        &[last - 1, last, 0, 1 << 63, (1 << 63) - 1],
    );
    assert_eq!(found.len(), 1);
    let found = reports(Service::WireGuard, &[(1 << 63) - 1, 1 << 63, 3]);
    assert_eq!((found[0].order.received, found[0].order.reordered), (2, 1));
}

#[test]
fn too_many_streams_are_counted_and_not_followed() {
    let mut streams = Streams::with_limit(10, Some(Settings::default()));
    for id in 0..30 {
        streams.push(
            &key(Service::Gre, id % 15),
            &packet(i64::from(id), u64::from(id)),
        );
    }
    assert_eq!(streams.left_out(), 10);
    assert_eq!(streams.finish().len(), 10);
}

#[test]
fn idle_streams_are_closed() {
    let mut streams = Streams::new();
    for (ms, seq) in [(0, 1), (1, 3), (2, 2)] {
        streams.push(&key(Service::Esp, 1), &packet(ms, seq));
    }
    streams.push(&key(Service::Esp, 2), &packet(3, 1));
    for i in 0..i64::from(PACKETS_BETWEEN_SWEEPS) {
        streams.push(&key(Service::Esp, 3), &packet(1_000_000 + i, i as u64));
    }
    assert_eq!((streams.streams.len(), streams.done.len()), (1, 1));
    let found = streams.finish();
    let reordered: Vec<_> = found
        .iter()
        .map(|r| (r.key.id, r.order.reordered))
        .collect();
    assert_eq!(reordered, [(1, 1), (3, 0)]);
}

/// No sorter leaves the late packet late, and the resequencer waits for it; what came before cost nothing.
#[test]
fn sorters_are_laid_over_a_stream_out_of_order() {
    let seqs = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 9, 12];
    let found = reports(Service::WireGuard, &seqs);
    let rows = &found[0].what_if;
    let [.., none, resequencer] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!((none.name().as_str(), none.reordered), ("none", 1));
    assert!(
        resequencer.name().starts_with("resequence:"),
        "{resequencer:?}"
    );
    // Among the first ten packets a gap is waited for long enough: 10 and 11 wait 2 ms and 1 ms for 9.
    assert_eq!(
        (resequencer.reordered, resequencer.max_added_delay_ns),
        (0, 2_000_000)
    );
    assert_eq!(resequencer.p50_added_delay_ns, Some(0));
    assert!(
        rows.iter().all(|row| row.p99_added_delay_ns.is_some()),
        "{rows:?}"
    );
    assert!(reports(Service::Gre, &[1, 2, 4, 5])[0].what_if.is_empty());
}

/// Number 2 was lost and sent again; 3 was late and sent again in vain; 6 was lost at the end.
#[test]
fn retransmissions_that_say_so_are_not_late() {
    let mut streams = Streams::new();
    let again = [2, 3, 6];
    for (ms, seq) in [1, 4, 3, 5, 2, 3, 6].into_iter().enumerate() {
        let sending = match ms >= 4 && again.contains(&seq) {
            true => Sending::Again,
            false => Sending::Once,
        };
        let packet = Numbered {
            sending,
            ..packet(ms as i64, seq)
        };
        streams.push(&key(Service::Uet, 7), &packet);
    }
    let [r] = streams.finish().try_into().unwrap();
    assert_eq!(
        (r.order.reordered, r.skipped.missing, r.twice.duplicates),
        (1, 0, 0)
    );
    let repeats = (
        r.twice.repeats.packets,
        r.twice.repeats.needed,
        r.twice.repeats.spurious,
    );
    assert_eq!(repeats, (3, 2, 1));
}

#[test]
fn numbers_that_a_read_request_reserves_are_not_missing() {
    let mut streams = Streams::new();
    for (ms, seq) in [(0, 1), (1, 2), (2, 10), (3, 12), (4, 13)] {
        let sending = match seq {
            2 => Sending::Reserving,
            _ => Sending::Once,
        };
        let packet = Numbered {
            sending,
            ..packet(ms, seq)
        };
        streams.push(&key(Service::RoceV2, 7), &packet);
    }
    let [r] = streams.finish().try_into().unwrap();
    assert_eq!((r.order.received, r.skipped.missing), (5, 1));
}

#[test]
fn a_file_that_holds_its_packets_twice_in_sequence_has_no_duplicates() {
    let late = [1, 2, 4, 3, 5, 6];
    for seqs in [&[1, 2, 3, 4, 5, 6], &late] {
        let mut streams = Streams::new();
        let timed = || (10..).zip(seqs).map(|(ms, &seq)| packet(ms, seq));
        let next = packet(99, 7);
        for packet in timed().chain(timed()).chain([next]) {
            streams.push(&key(Service::Esp, 7), &packet);
        }
        let [r] = streams.finish().try_into().unwrap();
        assert_eq!((r.order.received, r.twice.duplicates), (7, 0));
        assert_eq!(r.twice.captured_twice, 6);
        assert_eq!(r.order.reordered, u64::from(seqs == &late));
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_packet_a_copy() {
    let mut streams = Streams::new();
    for (ms, seq) in [(10, 1), (20, 2), (30, 3), (10, 4), (20, 5)] {
        streams.push(&key(Service::Esp, 7), &packet(ms, seq));
    }
    let [r] = streams.finish().try_into().unwrap();
    assert_eq!((r.order.received, r.twice.captured_twice), (5, 0));
}

/// A capture on all interfaces of a host, or before and behind a router, has each packet twice, with identifications or without.
#[test]
fn of_few_packets_too_each_may_have_been_captured_twice() {
    for (apart_us, lone, captured_twice) in [
        (0, false, 2),
        (9, false, 2),
        (9, true, 0),
        (500, false, 2),
        (500, true, 0),
        (20_000, false, 0),
    ] {
        let mut streams = Streams::new();
        for seq in 1..=2 {
            let first = packet(seq as i64, seq);
            let second = Numbered {
                ts_ns: first.ts_ns + apart_us * 1_000,
                ..first
            };
            streams.push(&key(Service::Sctp, 7), &first);
            streams.push(&key(Service::Sctp, 7), &second);
        }
        if lone {
            streams.push(&key(Service::Sctp, 7), &packet(9, 3));
        }
        let [r] = streams.finish().try_into().unwrap();
        let all = (r.twice.captured_twice, r.twice.duplicates);
        assert_eq!(all, (captured_twice, 2 - captured_twice), "{apart_us} us");
    }
}

/// Packet 3 arrived, since the receiver acknowledges it, and packet 5 perhaps not.
#[test]
fn what_the_receiver_acknowledged_is_not_missing() {
    let mut streams = Streams::new();
    for seq in [1, 2, 4, 6] {
        streams.push(&key(Service::Sctp, 0xabcd), &packet(seq as i64, seq));
        let report = Report {
            ts_ns: 0,
            cumulative: seq.min(4),
            ranges: Vec::new(),
            duplicates: 0,
        };
        streams.aside(&Aside::Report(key(Service::Sctp, 0), report));
    }
    let skipped = streams.finish()[0].skipped;
    assert_eq!((skipped.missing, skipped.absent), (1, 1));
    assert_eq!(skipped.doubt, Some(StreamDoubt::NotCaptured));
}

#[test]
fn reports_of_the_receiver_find_their_stream() {
    let mut streams = Streams::new();
    for seq in 1..=4 {
        streams.push(&key(Service::Sctp, 0xabcd), &packet(seq as i64, seq));
    }
    for (cumulative, ranges) in [(1, vec![(3, 3)]), (4, vec![])] {
        let report = Report {
            ts_ns: 0,
            cumulative,
            ranges,
            duplicates: 0,
        };
        streams.aside(&Aside::Report(key(Service::Sctp, 0), report));
    }
    let reported = streams.finish()[0].reported.unwrap();
    assert_eq!((reported.with_gaps, reported.late), (1, 1));
}

/// Of two associations between the same ends a report is on that which began last, as long as it lives.
#[test]
fn a_report_is_on_the_stream_that_began_last_and_is_followed() {
    let report = || Report {
        ts_ns: 0,
        cumulative: 1,
        ranges: Vec::new(),
        duplicates: 0,
    };
    let mut streams = Streams::new();
    for (ms, id) in [(0, 7), (1, 9), (2, 8)] {
        streams.push(&key(Service::Sctp, id), &packet(ms, 1));
        streams.push(&key(Service::Sctp, id), &packet(ms, 2));
    }
    streams.aside(&Aside::Report(key(Service::Sctp, 0), report()));
    assert_eq!(streams.reported.len(), 3);
    // Ten minutes later only the first goes on.
    streams.push(&key(Service::Sctp, 7), &packet(700_000, 3));
    streams.sweep(700_000_000_000);
    streams.aside(&Aside::Report(key(Service::Sctp, 0), report()));
    assert_eq!(streams.reported.len(), 1);
    let found = streams.finish();
    let told = found
        .iter()
        .map(|r| (r.key.id, r.reported.map(|r| r.reports)));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [(7, Some(1)), (9, None), (8, Some(1))]
    );
}

#[test]
fn a_window_that_refuses_nothing_is_one_more_than_the_greatest_distance() {
    let found = reports(Service::MacSec, &[1, 2, 3, 7, 8, 4, 9, 5]);
    let replay = found[0].replay.as_ref().unwrap();
    assert_eq!(replay.needed, 5);
    let refused: Vec<_> = replay
        .windows
        .iter()
        .map(|w| (w.window, w.refused))
        .collect();
    assert!(
        refused.contains(&(1, 2)) && refused.contains(&(5, 0)),
        "{refused:?}"
    );
}

proptest! {
    /// Counting the consecutive start changes nothing.
    #[test]
    fn agrees_with_the_metrics_alone(
        start in any::<u16>(),
        delays in prop::collection::vec(prop_oneof![5 => Just(0u64), 1 => 0u64..20], 2..200),
        calm in 0usize..200,
    ) {
        let mut sent: Vec<(u64, u64)> = delays
            .iter()
            .enumerate()
            .map(|(i, delay)| (i as u64 + if i < calm { 0 } else { *delay }, i as u64))
            .collect();
        sent.sort_unstable();
        let seqs: Vec<u64> = sent
            .iter()
            .map(|&(_, i)| u64::from(start.wrapping_add(i as u16)))
            .collect();
        let found = reports(Service::IcmpEcho, &seqs);
        let mut metrics = Metrics::default();
        for (ms, &(_, i)) in sent.iter().enumerate() {
            metrics.update((1 << 20) + i, ms as i64 * 1_000_000, 64);
        }
        let expected = metrics.finish();
        let r = &found[0];
        let (found, expected) = (&r.order, &expected.order);
        prop_assert_eq!((found.received, found.reordered), (expected.received, expected.reordered));
        prop_assert_eq!(&found.extents, &expected.extents);
        prop_assert_eq!(&found.late_ns, &expected.late_ns);
        prop_assert_eq!(&found.runs, &expected.runs);
        prop_assert_eq!(found.n_reordering.largest(), expected.n_reordering.largest());
        prop_assert_eq!(&found.displacements, &expected.displacements);
    }
}

/// A router that was restarted counts from 0 again: at once, far below the first number, or over numbers that came before.
#[test]
fn counters_that_start_over_lack_and_repeat_nothing() {
    let run = |service, first: u64, pause_ms: i64, again: u64| {
        let mut streams = Streams::new();
        let numbers = (first..first + 300).chain(again..again + 300);
        for (n, seq) in (0..).zip(numbers) {
            let pause_ms = if n < 300 { 0 } else { pause_ms };
            streams.push(&key(service, 7), &packet(n + pause_ms, seq));
        }
        let found = streams.finish();
        let r = &found[0];
        let late = r.order.reordered;
        (
            r.renumbered,
            r.order.received,
            late,
            r.twice.duplicates,
            r.skipped.missing,
        )
    };
    for service in [
        Service::Gre,
        Service::GtpU,
        Service::IcmpEcho,
        Service::RTag,
    ] {
        let name = service.name();
        assert_eq!(run(service, 20_000, 0, 0), (1, 600, 0, 0, 0), "{name}");
        assert_eq!(run(service, 50_000, 0, 1), (1, 600, 0, 0, 0), "{name}");
        assert_eq!(run(service, 0, 3_000, 0), (1, 600, 0, 0, 0), "{name}");
        // Copies that come at once are copies.
        assert_eq!(run(service, 0, 0, 0), (0, 300, 0, 300, 0), "{name}");
    }
    // A receiver of ESP would refuse them.
    assert_eq!(run(Service::Esp, 1, 3_000, 1), (0, 300, 0, 300, 0));
}

/// Two pings of one packet, to different hosts, and one of two packets.
#[test]
fn pings_of_one_packet_are_counted() {
    let mut streams = Streams::new();
    for (id, seq) in [(1, 1), (2, 1), (3, 1), (3, 2)] {
        streams.push(&key(Service::IcmpEcho, id), &packet(seq as i64, seq));
    }
    streams.push(&key(Service::Sctp, 4), &packet(9, 1));
    assert_eq!(streams.lone_echoes(), 2);
    assert_eq!(streams.finish().len(), 1);
}

/// A hundred pings of one host, and what answers them: nothing, all of them by another host, or one.
#[test]
fn echo_requests_that_nothing_answers_are_counted() {
    let unanswered = |replies: u64| {
        let mut streams = Streams::new();
        let request = key(Service::IcmpEcho, 3);
        let reply = StreamKey {
            src: Endpoint::v4(0x0a00_0009, 0),
            ..request.echo_back().unwrap()
        };
        for seq in 1..=100 {
            streams.push(&request, &packet(seq as i64 * 10, seq));
            if seq <= replies {
                streams.push(&reply, &packet(seq as i64 * 10 + 5, seq));
            }
        }
        let found = streams.finish();
        let requests = found.iter().find(|r| r.key == request);
        requests.map(|r| r.unanswered)
    };
    assert_eq!(unanswered(0), Some(100));
    assert_eq!(unanswered(100), Some(0));
    assert_eq!(unanswered(1), Some(0), "the others may not be captured");
}

/// A route traced to a host 17 hops away, with up to 21 hops each time: routers answer the first 16 requests.
#[test]
fn replies_to_a_traced_route_are_not_missing() {
    let found = |tells: bool, replies: bool| {
        let mut streams = Streams::new();
        let request = key(Service::IcmpEcho, 1);
        let reply = request.echo_back().unwrap();
        for seq in 1..=210 {
            streams.push(&request, &packet(seq as i64 * 100, seq));
            let hops = (seq - 1) % 21 + 1;
            if hops < 17 && tells {
                streams.aside(&Aside::Expired(request));
            } else if hops >= 17 && replies {
                streams.push(&reply, &packet(seq as i64 * 100 + 5, seq));
            }
        }
        streams.finish()
    };
    let skipped = |tells| {
        let found = found(tells, true);
        let replies = found.iter().find(|r| r.key.is_reply()).unwrap();
        (
            replies.skipped.doubt,
            replies.skipped.absent,
            replies.skipped.pauses.numbers,
        )
    };
    assert_eq!(skipped(true), (Some(StreamDoubt::RouteTraced), 144, 0));
    assert_ne!(skipped(false).0, Some(StreamDoubt::RouteTraced));
    let unanswered = |tells| found(tells, false)[0].unanswered;
    assert_eq!((unanswered(true), unanswered(false)), (0, 210));
}

/// Replies that are not followed, because there are too many streams, answer nonetheless.
#[test]
fn replies_that_are_not_followed_answer() {
    let mut streams = Streams::with_limit(1, None);
    let request = key(Service::IcmpEcho, 3);
    for seq in 1..=10 {
        streams.push(&request, &packet(seq as i64 * 10, seq));
        let reply = request.echo_back().unwrap();
        streams.push(&reply, &packet(seq as i64 * 10 + 5, seq));
    }
    assert_eq!(streams.left_out(), 10);
    let found = streams.finish();
    assert_eq!((found.len(), found[0].unanswered), (1, 0));
}

/// The acknowledgements of a tunnel whose other way carries other traffic, too; more of its numbers are absent than loss leaves.
#[test]
fn the_way_back_of_a_shared_tunnel_is_shared() {
    let mut report = StreamReport::new(key(Service::Gre, 0), (0, 1), Default::default());
    report.skipped = Skipped {
        absent: 130,
        skips: 60,
        doubt: Some(StreamDoubt::LostOrElsewhere),
        ..Skipped::default()
    };
    report.share_with_others();
    let skipped = report.skipped;
    assert_eq!(skipped.doubt, Some(StreamDoubt::OtherTraffic));
    assert_eq!((skipped.missing, skipped.absent), (0, 130));
}
