use std::collections::HashSet;

use inorder_wire::Endpoint;

use super::*;

fn ends(n: u32) -> (FlowKey, Dir) {
    let client = Endpoint::v4(0x0a00_0000 + n / 50_000, 1_024 + (n % 50_000) as u16);
    FlowKey::new(client, Endpoint::v4(0xc000_0201, 443), 0)
}

fn segment(ts_ns: i64, flags: u8, seq: u32, payload_len: u32) -> Segment {
    segment!(ts_ns, seq, payload_len, flags: TcpFlags(flags))
}

/// Addresses whose halves cancel the constant of a hash that multiplies: its product is 0, whatever the other address is.
#[test]
fn addresses_chosen_for_a_hash_without_a_key_are_spread() {
    let low = 0x243f_6a88_85a3_08d3 & (u128::MAX >> 64);
    let keys = (0..5_000u128).map(|n| FlowKey {
        low: Endpoint::v6(low, 7),
        high: Endpoint::v6(1 << 127 | n << 64 | (n * n), 7),
        overlay: 0,
    });
    let keys: Vec<FlowKey> = keys.collect();
    let connections = Connections::new();
    let distinct = |hash: &dyn Fn(&FlowKey) -> u64| {
        let all: HashSet<u64> = keys.iter().map(hash).collect();
        all.len()
    };
    let multiplied = |key: &FlowKey| {
        let [low, high, low_upper, high_upper, _] = key.words(Dir::LowToHigh);
        let low = low ^ low_upper.rotate_left(32) ^ 0x243f_6a88_85a3_08d3;
        let high = high ^ high_upper.rotate_left(32) ^ 0x1319_8a2e_0370_7344;
        let wide = u128::from(low) * u128::from(high);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    assert_eq!(distinct(&multiplied), 1);
    assert_eq!(distinct(&|key| connections.hash_of(key)), keys.len());
    // Another table has another key.
    let other = Connections::new();
    assert_ne!(connections.hash_of(&keys[0]), other.hash_of(&keys[0]));
}

#[test]
fn a_flood_of_syns_takes_no_more_memory_than_a_part_of_it() {
    let mut tracker = Tracker::new(Config::default());
    for n in 0..600_000 {
        let (key, dir) = ends(n);
        tracker.push(&key, dir, &segment(i64::from(n), TcpFlags::SYN, 7, 0));
    }
    assert!(tracker.connections.all.is_empty());
    assert!(
        tracker.embryos.len() <= 1 << 19,
        "{}",
        tracker.embryos.len()
    );
    assert!(size_of::<Embryo>() <= 144, "{}", size_of::<Embryo>());
    let mut table = tracker.finish_table();
    let attempts = table.take_attempts();
    // Sent in less than a second: none has waited for its answer.
    assert_eq!((attempts.failed(), attempts.packets), (0, 600_000));
    assert_eq!(attempts.of(Outcome::Open) + attempts.forgotten, 600_000);
    assert_eq!(table.finish().0, []);
}

/// All that are open send one packet each in turn, so that the first one of each has given way to others' when the next one comes.
#[test]
fn more_connections_at_once_than_first_packets_are_kept_are_followed_from_their_second_one_on() {
    let open = 100_000;
    let mut tracker = Tracker::new(Config::default().memory(Some(64 << 20)));
    for (at, flags, seq, payload_len) in [
        (0, TcpFlags::SYN, 7, 0),
        (1, TcpFlags::ACK, 8, 100),
        (2, TcpFlags::ACK, 108, 100),
    ] {
        for n in 0..open {
            let (key, dir) = ends(n);
            tracker.push(&key, dir, &segment(at, flags, seq, payload_len));
        }
    }
    let (flows, summed) = tracker.finish_table().finish();
    let all = flows.len() as u64 + summed.flows;
    // A set of names may be full: a few begin later.
    assert!(all.abs_diff(u64::from(open)) < 1_000, "{all}");
}

#[test]
fn of_very_many_flows_of_one_packet_the_first_are_reported_and_the_others_summed() {
    let mut tracker = Tracker::new(Config::default().max_flows(1_000));
    for n in 0..300_000 {
        let (key, dir) = ends(n);
        tracker.push(&key, dir, &segment(i64::from(n), TcpFlags::ACK, 7, 100));
    }
    assert!(tracker.connections.all.is_empty());
    let (flows, summed) = tracker.finish_table().finish();
    assert_eq!(flows.len(), 1_000);
    assert!(flows.iter().zip(0..).all(|(flow, n)| flow.first_ns == n));
    assert_eq!(
        (summed.flows, summed.originals.bytes),
        (299_000, 29_900_000)
    );
}

#[test]
fn a_connection_begins_with_its_syn_however_many_others_open_in_between() {
    let mut tracker = Tracker::new(Config::default());
    let (key, dir) = ends(0);
    tracker.push(&key, dir, &segment(10, TcpFlags::SYN, 99, 0));
    for n in 1..1_000 {
        let (other, dir) = ends(n);
        tracker.push(&other, dir, &segment(11, TcpFlags::SYN, 7, 0));
    }
    let both = TcpFlags::SYN | TcpFlags::ACK;
    tracker.push(&key, dir.reverse(), &segment(20, both, 500, 0));
    for (at, seq) in [(30, 100), (31, 200)] {
        tracker.push(&key, dir, &segment(at, TcpFlags::ACK, seq, 100));
    }
    let flows = tracker.finish();
    assert_eq!(flows.len(), 1);
    assert!(flows[0].endpoints.syn_seen);
    assert_eq!((flows[0].first_ns, flows[0].originals.packets), (10, 2));
}

/// A recording is played three times, every second: its SYN has the same number each time.
#[test]
fn a_connection_that_is_played_again_once_it_is_over_is_another_one() {
    let mut tracker = Tracker::new(Config::default());
    let (key, dir) = ends(0);
    let (syn, ack, fin) = (TcpFlags::SYN, TcpFlags::ACK, TcpFlags::FIN | TcpFlags::ACK);
    for at in [0, 1_000_000_000, 2_000_000_000] {
        tracker.push(&key, dir, &segment(at, syn, 99, 0));
        tracker.push(&key, dir.reverse(), &segment(at + 1, syn | ack, 499, 0));
        tracker.push(&key, dir, &segment(at + 2, ack, 100, 100));
        tracker.push(&key, dir, &segment(at + 3, fin, 200, 0));
        tracker.push(&key, dir.reverse(), &segment(at + 4, fin, 500, 0));
    }
    let flows = tracker.finish();
    let reused: Vec<u32> = flows.iter().map(|flow| flow.flow.reuse).collect();
    assert_eq!(reused, [0, 1, 2]);
    for flow in &flows {
        assert_eq!((flow.originals.packets, flow.retransmissions.total), (1, 0));
        assert_eq!(flow.endpoints.handshake.syns_again, 0);
    }
}

#[test]
fn a_finished_connection_is_let_go_though_its_vantage_point_is_not_certain() {
    let mut tracker = Tracker::new(Config::default());
    let (key, dir) = ends(0);
    let (fin, ack) = (TcpFlags::FIN | TcpFlags::ACK, TcpFlags::ACK);
    tracker.push(&key, dir, &segment(0, ack, 100, 100));
    tracker.push(&key, dir, &segment(1, fin, 200, 0));
    tracker.push(&key, dir.reverse(), &segment(2, fin, 500, 0));
    assert!(!tracker.connections.all[0].as_ref().unwrap().is_settled());
    tracker.close_idle(CLOSED_KEPT_NS + 3);
    assert!(tracker.connections.all.iter().all(Option::is_none));
    assert_eq!(tracker.finish()[0].originals.packets, 1);
}

#[test]
fn what_is_refused_is_counted_and_leaves_no_more_than_its_first_packet() {
    let mut tracker = Tracker::new(Config::default());
    for n in 0..1_000 {
        let (key, dir) = ends(n);
        // Some hosts send the SYN again after a reset.
        for at in 0..1 + i64::from(n == 0) {
            tracker.push(&key, dir, &segment(2 * at, TcpFlags::SYN, 7, 0));
            let reset = segment(2 * at + 1, TcpFlags::RST, 0, 0);
            tracker.push(&key, dir.reverse(), &reset);
        }
    }
    assert!(tracker.connections.all.is_empty());
    let attempts = tracker.finish_table().take_attempts();
    assert_eq!(attempts.of(Outcome::Refused), 1_000);
    assert_eq!((attempts.failed(), attempts.syns_again), (1_000, 1));
}

/// The labels of MPLS: 16 and 17 are the directions of one network, 26 and 27 those of another one.
fn label(n: u32) -> u32 {
    let overlay = 0xf800_0000 | n;
    assert!(Overlay::is_one_way(overlay));
    overlay
}

/// A connection that sends ten packets, from its SYN or from behind its handshake on: direction, overlay network and segment.
fn transfer(at_ms: i64, isn: [u32; 2], labels: [u32; 2]) -> Vec<(bool, u32, Segment)> {
    let segment = |ms: i64, flags, seq, ack, payload_len| {
        let ts_ns = (at_ms + ms) * 1_000_000;
        segment!(ts_ns, seq, ack, payload_len, flags: TcpFlags(flags))
    };
    let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
    let [own, other] = isn;
    let mut all = vec![
        (true, labels[0], segment(0, syn, own, 0, 0)),
        (false, labels[1], segment(10, syn | ack, other, own + 1, 0)),
        (true, labels[0], segment(20, ack, own + 1, other + 1, 0)),
    ];
    for n in 0..10 {
        let sent = own + 1 + n * 100;
        let ms = 20 + i64::from(n);
        all.push((true, labels[0], segment(ms, ack, sent, other + 1, 100)));
        all.push((
            false,
            labels[1],
            segment(ms + 10, ack, other + 1, sent + 100, 0),
        ));
    }
    all
}

/// Packets with data of each flow.
fn flows(mut segments: Vec<(bool, u32, Segment)>) -> Vec<u64> {
    segments.sort_by_key(|(.., segment)| segment.ts_ns);
    let mut tracker = Tracker::new(Config::default());
    let (key, dir) = ends(1);
    for (there, overlay, segment) in segments {
        let dir = if there { dir } else { dir.reverse() };
        tracker.push(&key.in_overlay(overlay), dir, &segment);
    }
    tracker
        .finish()
        .iter()
        .map(|flow| flow.originals.packets)
        .collect()
}

#[test]
fn two_directions_with_labels_of_their_own_are_one_connection() {
    let one = transfer(0, [1_000, 9_000_000], [label(16), label(17)]);
    assert_eq!(flows(one.clone()), [10]);
    // Begun late, and with one direction whose label the last router took away.
    assert_eq!(flows(one[5..].to_vec()), [9]);
    let popped = transfer(0, [1_000, 9_000_000], [label(16), 0]);
    assert_eq!(flows(popped), [10]);
}

#[test]
fn equal_addresses_and_ports_behind_two_labels_are_two_connections_if_their_numbers_say_so() {
    let one = transfer(0, [1_000, 9_000_000], [label(16), label(17)]);
    let other = transfer(5, [500_000_000, 700_000_000], [label(26), label(27)]);
    let both: Vec<_> = one.iter().chain(&other).copied().collect();
    assert_eq!(flows(both), [10, 10]);
    // Equal numbers, as of programs that always begin with the same ones.
    let mut equal = transfer(5, [1_000, 9_000_000], [label(26), label(27)]);
    for (n, (.., segment)) in (1..).zip(&mut equal) {
        segment.ip_id = n;
    }
    let both: Vec<_> = one.iter().chain(&equal).copied().collect();
    assert_eq!(flows(both), [10, 10]);
    // Without their handshakes.
    let both: Vec<_> = one[5..].iter().chain(&other[5..]).copied().collect();
    assert_eq!(flows(both), [9, 9]);
    // Another path of the same connection.
    let moved = transfer(0, [1_000, 9_000_000], [label(26), label(27)]);
    let both = one[..13].iter().chain(&moved[13..]).copied().collect();
    assert_eq!(flows(both), [10]);
}

/// The receiver acknowledges one segment and closes; it answers the next one and all that come again with resets.
#[test]
fn what_is_sent_again_behind_a_reset_is_no_recovery() {
    let (key, there) = ends(1);
    let back = there.reverse();
    let mut tracker = Tracker::new(Config::default().what_if(false));
    let ack = TcpFlags::ACK;
    let trace = [
        (0, there, TcpFlags::SYN, 0, 0, 0),
        (0, back, TcpFlags::SYN | ack, 0, 1, 0),
        (20, there, ack, 1, 1, 0),
        (21, there, ack, 1, 1, 100),
        (21, back, ack, 1, 101, 0),
        (22, there, ack, 101, 1, 100),
        (22, back, TcpFlags::RST, 1, 0, 0),
        (300, there, ack, 101, 1, 100),
        (300, back, TcpFlags::RST, 1, 0, 0),
        (900, there, ack, 101, 1, 100),
        (900, back, TcpFlags::RST, 1, 0, 0),
    ];
    for ((ms, dir, flags, seq, ack, payload_len), frame) in trace.into_iter().zip(1..) {
        let ts_ns = ms * 1_000_000;
        let seg = segment!(ts_ns, frame, seq, ack, payload_len, flags: TcpFlags(flags));
        tracker.push(&key, dir, &seg);
    }
    let flows = tracker.finish();
    let flow = flows
        .iter()
        .find(|flow| flow.originals.packets > 0)
        .unwrap();
    assert_eq!((flow.originals.packets, flow.originals.lost), (2, 0));
    assert_eq!(flow.retransmissions.total, 0);
    let closing = flow.endpoints.closing;
    assert_eq!((closing.behind_reset, closing.again_behind_reset), (0, 2));
    assert_eq!(flow.recoveries.total, 0);
}
