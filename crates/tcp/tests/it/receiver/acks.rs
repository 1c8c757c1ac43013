//! When acknowledgements are sent, and the window they advertise.

use inorder_tcp::config::{DelayedAck, MS, SackCompression};
use inorder_tcp::{Flags, Segment, Timestamps};

use super::peer::{MSS, Peer, config, only, says};

/// RFC 5681 section 4.2.
#[test]
fn every_second_segment_or_after_a_while() {
    let mut peer = Peer::new(&config("rfc"));
    assert_eq!(peer.data(0, 1), []);
    assert_eq!(only(&peer.data(1, 2)).0, 2);
    assert_eq!(peer.data(2, 3), []);
    assert_eq!(peer.wait(199 * MS), []);
    assert_eq!(only(&peer.wait(2 * MS)).0, 3);
    assert_eq!(peer.end.counters().acks.delayed_acks, 1);
}

#[test]
fn at_once_while_something_is_missing() {
    let mut peer = Peer::new(&config("rfc"));
    assert_eq!(only(&peer.data(1, 2)).0, 0);
    assert_eq!(only(&peer.data(2, 3)).0, 0);
    assert_eq!(only(&peer.data(4, 5)).0, 0);
    assert_eq!(only(&peer.data(0, 1)).0, 3, "part of the gap is filled");
    assert_eq!(only(&peer.data(3, 4)).0, 5);
    assert_eq!(peer.data(5, 6), [], "nothing is missing any more");
}

/// Linux: the first sixteen at once, then depending on the intervals between arrivals.
#[test]
fn linux_begins_with_quick_acknowledgements() {
    let mut peer = Peer::new(&config("linux-6"));
    let immediate = (0..20)
        .take_while(|&at| !peer.data(at, at + 1).is_empty())
        .count();
    assert!((14..=16).contains(&immediate), "{immediate}");
    let at = immediate as u32 + 1;
    assert_eq!(
        only(&peer.data(at, at + 1)).0,
        at + 1,
        "two full segments wait"
    );
    peer.data(at + 1, at + 2);
    let before = peer.now;
    let timer = peer.end.next_timer().expect("a delayed acknowledgement");
    assert!(
        (20 * MS..=200 * MS).contains(&(timer - before)),
        "{}",
        timer - before
    );
}

#[test]
fn off_means_every_segment() {
    let mut peer = Peer::new(&config("rfc").with(|config| config.acks.delayed = DelayedAck::Off));
    for at in 0..10 {
        assert_eq!(only(&peer.data(at, at + 1)).0, at + 1);
    }
}

/// Linux since 4.18: three duplicates, then they wait.
#[test]
fn compression_holds_back_news_by_sack() {
    let mut peer = Peer::new(&config("rfc").with(|config| {
        config.acks.sack_compression = Some(SackCompression {
            delay: MS,
            slack: 0,
            max: 5,
        });
    }));
    let sent: Vec<usize> = (1..9).map(|at| peer.data(at, at + 1).len()).collect();
    assert_eq!(sent, [1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(only(&peer.data(9, 10)), (0, vec![(1, 10)]), "five are held");
    assert_eq!(peer.data(10, 11), []);
    assert_eq!(only(&peer.wait(2 * MS)), (0, vec![(1, 11)]));
    assert_eq!(
        only(&peer.data(0, 1)).0,
        11,
        "a cumulative advance is never held"
    );
    assert!(peer.end.counters().acks.tcp_ack_compressed >= 4);
}

/// With many gaps the option would lose blocks: held-back information is sent before a third block takes its place.
#[test]
fn compression_ends_before_a_block_is_lost() {
    let mut peer = Peer::new(&config("rfc").with(|config| {
        config.acks.sack_compression = Some(SackCompression {
            delay: MS,
            slack: 0,
            max: 44,
        });
        config.options.timestamps = true;
    }));
    let mut arrive = |at: u32| {
        let sent = peer.data(at, at + 1);
        sent.first().map(|segment| says(segment).1)
    };
    for at in [2, 4, 6] {
        assert_eq!(arrive(at).map(|blocks| blocks[0]), Some((at, at + 1)));
    }
    assert_eq!(arrive(8), None);
    assert_eq!(arrive(10), Some(vec![(8, 9), (6, 7), (4, 5)]));
    assert_eq!(arrive(12), None);
    assert_eq!(arrive(14), Some(vec![(12, 13), (10, 11), (8, 9)]));
}

/// Linux advertises a fixed buffer step by step, and acknowledges what arrives at once until all of it is advertised.
#[test]
fn a_fixed_buffer_is_offered_step_by_step() {
    let acknowledgements = |receive_offer| {
        let mut peer = Peer::new(&config("linux-6").with(|config| {
            config.receive.buffer = 60 * u64::from(MSS);
            config.receive.offer = receive_offer;
            config.options.window_scale = Some(0);
        }));
        let count = |at| peer.data(at, at + 1).len();
        (0..40).map(count).collect::<Vec<usize>>()
    };
    let at_once = |acks: &[usize]| acks.iter().take_while(|count| **count == 1).count();
    // The first 16 are acknowledged at once in any case.
    assert_eq!(at_once(&acknowledgements(u64::MAX)), 16);
    // From 10 segments to 60, two for each that arrives.
    assert_eq!(at_once(&acknowledgements(10 * u64::from(MSS))), 25);
}

fn slow_reader(buffer: u64) -> Peer {
    Peer::new(&config("rfc").with(|config| {
        config.receive.read_at_once = false;
        config.receive.buffer = buffer;
        config.options.window_scale = Some(0);
        config.acks.delayed = DelayedAck::Off;
    }))
}

/// RFC 9293 section 3.8.6.2.2: the window closes as data waits, and opens only by a sufficient step.
#[test]
fn the_window_closes_and_opens_with_reading() {
    let mut peer = slow_reader(8000);
    let windows: Vec<u16> = (0..8).map(|at| peer.data(at, at + 1)[0].window).collect();
    assert_eq!(windows, [7000, 6000, 5000, 4000, 3000, 2000, 1000, 0]);
    assert_eq!(peer.end.readable(), 8000);
    assert_eq!(peer.end.read(500), 500);
    assert_eq!(peer.out(), [], "half a segment is not announced");
    assert_eq!(peer.end.read(2000), 2000);
    let update = peer.out();
    assert_eq!(update.len(), 1);
    assert_eq!(update[0].window, 2500);
}

#[test]
fn data_beyond_the_window_is_not_kept() {
    let mut peer = slow_reader(4000);
    for at in 0..4 {
        peer.data(at, at + 1);
    }
    let answer = peer.data(4, 5);
    assert_eq!(answer.len(), 1);
    assert_eq!((answer[0].ack, answer[0].window), (4 * MSS + 1, 0));
    assert_eq!(peer.end.readable(), 4000);
    assert_eq!(peer.end.accepted().count(), 0);
}

/// The right edge never moves back, although the scale rounds.
#[test]
fn the_right_edge_never_moves_back() {
    let mut peer = Peer::new(&config("rfc").with(|config| {
        config.receive.read_at_once = false;
        config.receive.buffer = 50_000;
        config.options.window_scale = Some(7);
        config.acks.delayed = DelayedAck::Off;
    }));
    let mut edge = 0;
    for at in 0..50 {
        for segment in peer.data(at, at + 1) {
            let right = segment.ack + (u32::from(segment.window) << 7);
            assert!(right >= edge, "{right} {edge}");
            edge = right;
        }
    }
}

fn tuned(sack: bool) -> Peer {
    Peer::new(&config("linux-6").with(|config| {
        config.options.sack = sack;
        config.receive.autotuning = Some(20 * u64::from(MSS));
        config.options.window_scale = Some(0);
        config.receive.buffer = 60 * u64::from(MSS);
    }))
}

/// Two round trips of 20 segments: the buffer becomes more than twice what was read, and the advertised window grows
/// by two segments per arrival, up to the limit.
#[test]
fn the_window_follows_what_is_read() {
    let mut peer = tuned(true);
    let mut windows = Vec::new();
    for round in 0..3 {
        peer.wait(200 * MS);
        for at in round * 20..(round + 1) * 20 {
            peer.data(at, at + 1);
        }
        let last = peer.data(0, 1); // A duplicate triggers the reading of everything.
        windows.push(u32::from(last[0].window) / MSS);
    }
    assert_eq!(windows, [20, 60, 60]);
}

/// Without SACK an arrival above a gap leaves the window as it is: the acknowledgement must stay a duplicate.
#[test]
fn a_gap_holds_the_window_without_sack() {
    let grown = |sack| {
        let mut peer = tuned(sack);
        for round in 0..2 {
            peer.wait(200 * MS);
            for at in round * 20..(round + 1) * 20 - 15 * round {
                peer.data(at, at + 1);
            }
        }
        let before = peer.data(0, 1)[0].window;
        let after = (26..29).map(|at| peer.data(at, at + 1)[0].window);
        after.map(|window| window > before).collect::<Vec<_>>()
    };
    assert_eq!(grown(false), [false, false, false]);
    assert_eq!(grown(true), [true, true, true]);
}

/// A segment every 4 ms over a round trip of 40 ms, the first `count` of them; one comes 32 ms late if `is_late`. Returns the
/// largest window that was advertised, in segments.
fn largest_window(count: u32, is_late: bool) -> u32 {
    const LATE: u32 = 39;
    let mut peer = Peer::new(&config("linux-6").with(|config| {
        config.options.timestamps = true;
        config.receive.autotuning = Some(30 * u64::from(MSS));
        config.receive.buffer = 400 * u64::from(MSS);
    }));
    let mut largest = 0;
    let mut arrives = |peer: &mut Peer, at: u32| {
        let ecr = (peer.now / MS) as u32 - 40;
        let segment = Segment {
            payload: MSS,
            timestamps: Some(Timestamps { val: at, ecr }),
            ..peer.bare(1 + at * MSS, Flags::ACK)
        };
        for answer in peer.deliver(&segment) {
            largest = largest.max((u32::from(answer.window) << peer.scale()) / MSS);
        }
    };
    for at in 0..count {
        peer.wait(4 * MS);
        if !is_late || at != LATE {
            arrives(&mut peer, at);
        }
        if is_late && at == LATE + 8 {
            arrives(&mut peer, LATE);
        }
    }
    largest
}

/// What the application reads in a round trip is measured when it reads (`tcp_rcv_space_adjust` in `tcp_recvmsg_locked`): while a
/// segment is missing it reads nothing, and the round trip that begins when the gap is filled has what the gap held back besides
/// its own ten segments. So 18 follow 10, and the window grows to (2 * 18 + 16) * (1 + 2 * 8 / 10) segments and a little more; 12
/// would follow, and 56, if a round trip could end while the gap is open.
#[test]
fn what_a_gap_held_back_counts_in_the_round_trip_that_reads_it() {
    let (clean, late) = (largest_window(150, false), largest_window(150, true));
    assert!((28..=30).contains(&clean), "{clean}");
    assert!((110..160).contains(&late), "{late}");
}
