//! A capture whose clock was set.

use inorder_detect::Vantage;

use crate::trace::{LEN, Trace, in_order};

#[test]
fn a_clock_that_is_set_back_makes_no_packet_a_copy() {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[20_000], 20_010, true);
    in_order(&mut trace, 0..50, true);
    // The same segments as before the clock was set, but other packets.
    trace.data(30_000, 98, 200);
    trace.data(30_010, 99, 201);
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 0);
    assert_eq!(flow.retransmissions.total, 2);
}

/// Between two segments, 4 ms apart, the clock is set back by 5 ms; acknowledgements come 34 ms after what they answer. Every packet before it is
/// later than the next one, and all are in order by themselves.
#[test]
fn a_clock_that_is_set_back_once_runs_backwards_once() {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[40_000], 40_010, true);
    for n in 0..100 {
        let set_back = |at: i64| if at > 300_000 { at - 5_000 } else { at };
        let sent = 50_000 + 4_000 * i64::from(n);
        trace.data(set_back(sent), n, n as u16);
        if n >= 9 {
            trace.ack(set_back(sent + 2_000), (n - 8) * LEN, 60_000, &[], 0);
        }
    }
    let flow = trace.flow();
    assert_eq!(flow.artefacts.time_reversals, 1);
    assert_eq!(flow.retransmissions.total, 0);
}

/// A sender without identifications, whose clock ticks each millisecond, sends a segment each 2 ms; segment 80 comes again 7 ms later with this
/// timestamp. The receiver asks for it: its acknowledgements are duplicates. How many retransmissions there are.
fn sent_again(tsval: u32) -> u64 {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[5_000], 5_010, true);
    for n in 0..100 {
        let at = 10_000 + 2_000 * i64::from(n);
        trace.stamped(at, n, 1_000 + 2 * n);
        if n == 83 {
            trace.stamped(at + 1_000, 80, tsval);
        }
        let has = match n {
            80..83 => 80,
            _ => n + 1,
        };
        trace.ack(at + 10, has * LEN, 60_000, &[], 0);
    }
    trace.flow().retransmissions.total
}

#[test]
fn what_comes_again_with_its_timestamp_was_not_sent_again() {
    assert_eq!(sent_again(1_000 + 2 * 80), 0);
    assert_eq!(sent_again(1_000 + 2 * 83), 1);
}

/// How often the clock leapt in a capture of the sender's own, and how long the transfer took, seconds. Before the packet `leap` an hour passes; a
/// segment comes each 10 ms and is acknowledged 5 ms later, and the sender's clock says `stamp(n, hour)`.
fn leaps(packets: u32, leap: u32, stamp: impl Fn(u32, u32) -> Option<u32>) -> (u64, f64) {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[5_000], 5_010, true);
    let mut passed = 0;
    for n in 0..packets {
        let hour = |packet| if packet >= leap { 3_600_000_000 } else { 0 };
        passed = 10_000 * (1 + i64::from(n)) + hour(2 * n);
        match stamp(n, u32::from(2 * n >= leap)) {
            Some(stamp) => trace.stamped(passed, n, stamp),
            None => trace.data(passed, n, 0),
        }
        let answered = 10_000 * (1 + i64::from(n)) + 5_000 + hour(2 * n + 1);
        trace.ack(answered, (n + 1) * LEN, 60_000, &[], 0);
    }
    let flow = trace.flow();
    assert_eq!(flow.timeouts(), 0, "of {packets}, {passed}");
    assert_eq!(
        (flow.originals.packets, flow.retransmissions.total),
        (packets.into(), 0)
    );
    (
        flow.artefacts.time_leaps,
        (flow.last_ns - flow.first_ns) as f64 / 1e9,
    )
}

#[test]
fn a_clock_that_is_set_forward_is_no_timer() {
    for packets in [40, 400, 9_000] {
        let second = 2 * (packets / 2);
        let short = f64::from(packets) / 100.0;
        let is_short = |(leaps, seconds): (u64, f64)| {
            assert_eq!(leaps, 1, "{packets}");
            assert!((seconds - short).abs() < 0.2, "{packets}: {seconds}");
        };
        // Between a segment and its acknowledgement, with and without timestamps; and before a segment, which its timestamp shows.
        is_short(leaps(packets, second + 1, |n, _| Some(100 + 10 * n)));
        is_short(leaps(packets, second, |n, _| Some(100 + 10 * n)));
        if packets < 9_000 {
            is_short(leaps(packets, second + 1, |_, _| None));
        }
        let is_long = |(leaps, seconds): (u64, f64)| {
            assert_eq!(leaps, 0, "{packets}");
            assert!(seconds > 3_600.0, "{packets}: {seconds}");
        };
        // The application was silent for an hour: its host's clock went on, or says nothing at all.
        is_long(leaps(packets, second, |n, hour| {
            Some(100 + 10 * n + hour * 3_600_000)
        }));
        is_long(leaps(packets, second, |n, hour| {
            Some(100 + n / 100 + hour * 3_600)
        }));
        is_long(leaps(packets, second, |_, _| Some(7)));
        is_long(leaps(packets, second, |_, _| None));
    }
}
