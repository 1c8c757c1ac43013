//! Data out of order: SACK blocks in the order of RFC 2018 section 4, DSACK (RFC 2883 section 4), every order of arrival.

use super::peer::{Peer, config, only};

#[test]
fn blocks_come_most_recent_first() {
    let mut peer = Peer::new(&config("rfc"));
    peer.data(0, 1);
    assert_eq!(only(&peer.data(2, 3)), (1, vec![(2, 3)]));
    assert_eq!(only(&peer.data(4, 5)), (1, vec![(4, 5), (2, 3)]));
    assert_eq!(only(&peer.data(6, 7)), (1, vec![(6, 7), (4, 5), (2, 3)]));
    // A gap is filled: the joined block comes first.
    assert_eq!(only(&peer.data(3, 4)), (1, vec![(2, 5), (6, 7)]));
    assert_eq!(only(&peer.data(1, 2)), (5, vec![(6, 7)]));
    assert_eq!(only(&peer.data(5, 6)), (7, vec![]));
}

/// RFC 2883 section 4.1: a full segment received twice in order.
#[test]
fn a_duplicate_below_the_acknowledgement_is_reported_once() {
    let mut peer = Peer::new(&config("rfc"));
    peer.data(0, 2);
    assert_eq!(only(&peer.data(0, 1)), (2, vec![(0, 1)]));
    assert_eq!(only(&peer.data(3, 4)), (2, vec![(3, 4)]));
    assert_eq!(peer.end.counters().dsack.tcp_dsack_old_sent, 1);
    assert_eq!(peer.end.counters().received.duplicate_segs_in, 1);
}

/// RFC 2883 sections 4.1 and 4.2: a duplicate out of order, its block second.
#[test]
fn a_duplicate_above_is_followed_by_the_block_that_holds_it() {
    let mut peer = Peer::new(&config("rfc"));
    peer.data(1, 4);
    assert_eq!(only(&peer.data(2, 3)), (0, vec![(2, 3), (1, 4)]));
    assert_eq!(peer.end.counters().dsack.tcp_dsack_ofo_sent, 1);
}

#[test]
fn without_dsack_a_duplicate_is_acknowledged_plainly() {
    let mut peer = Peer::new(&config("rfc").with(|config| config.options.dsack = false));
    peer.data(0, 2);
    assert_eq!(only(&peer.data(0, 1)), (2, vec![]));
}

#[test]
fn timestamps_leave_room_for_three_blocks() {
    let mut custom = config("rfc");
    custom.options.timestamps = true;
    let mut peer = Peer::new(&custom);
    for at in [2, 4, 6, 8] {
        peer.data_at(at, 2);
    }
    let (_, blocks) = only(&peer.data_at(10, 2));
    assert_eq!(blocks, [(10, 11), (8, 9), (6, 7)]);
}

/// RFC 7323 section 5.3: an older timestamp is rejected, and the segment acknowledged; with the switch off it
/// is taken.
#[test]
fn paws_rejects_what_is_late_by_its_timestamp() {
    let mut custom = config("rfc");
    custom.options.timestamps = true;
    let mut peer = Peer::new(&custom);
    peer.data_at(0, 100);
    peer.data_at(1, 200);
    // The first segment after an acknowledgement carries the timestamp to be echoed.
    peer.data_at(2, 300);
    assert_eq!(only(&peer.data_at(3, 150)).0, 3);
    assert_eq!(peer.end.counters().received.paws_estab, 1);
    assert_eq!(peer.end.readable(), 0, "read at once");
    assert_eq!(peer.end.counters().received.bytes_received, 3000);

    custom.options.paws = false;
    let mut peer = Peer::new(&custom);
    peer.data_at(0, 100);
    peer.data_at(1, 200);
    peer.data_at(2, 300);
    peer.data_at(3, 150);
    assert_eq!(peer.end.counters().received.bytes_received, 4000);
}

/// All 120 orders in which five segments can arrive: each byte once, the last acknowledgement complete.
#[test]
fn every_order_of_five() {
    let mut order = [0, 1, 2, 3, 4];
    let mut orders = 0;
    permute(&mut order, 0, &mut |order| {
        let mut peer = Peer::new(&config("linux-6"));
        let mut last = 0;
        let mut accepted = 0;
        for &at in order {
            for segment in peer.data(at, at + 1) {
                last = segment.ack;
            }
            accepted += peer.end.accepted().map(|(a, b)| b - a).sum::<u64>();
        }
        assert_eq!((last, accepted), (5001, 5000), "{order:?}");
        assert_eq!(
            peer.end.counters().received.bytes_received,
            5000,
            "{order:?}"
        );
        let late = (1..5)
            .filter(|&i| order[..i].iter().any(|&j| j > order[i]))
            .count();
        assert_eq!(
            peer.end.counters().received.out_of_order_segs_in > 0,
            late > 0,
            "{order:?}"
        );
        orders += 1;
    });
    assert_eq!(orders, 120);
}

fn permute(order: &mut [u32; 5], at: usize, visit: &mut impl FnMut(&[u32; 5])) {
    if at == order.len() {
        visit(order);
        return;
    }
    for other in at..order.len() {
        order.swap(at, other);
        permute(order, at + 1, visit);
        order.swap(at, other);
    }
}

/// Overlaps of every kind deliver only the new bytes.
#[test]
fn overlapping_segments_are_cut_to_what_is_new() {
    let mut peer = Peer::new(&config("rfc"));
    peer.data(2, 4);
    peer.data(6, 8);
    peer.data(3, 7);
    assert_eq!(peer.end.accepted().collect::<Vec<_>>(), [(4000, 6000)]);
    assert_eq!(only(&peer.data(0, 9)).0, 9);
    assert_eq!(
        peer.end.accepted().collect::<Vec<_>>(),
        [(0, 2000), (8000, 9000)]
    );
    assert_eq!(peer.end.counters().received.bytes_received, 9000);
}
