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
