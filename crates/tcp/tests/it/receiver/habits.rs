//! How receivers of other stacks acknowledge.

use inorder_tcp::Config;
use inorder_tcp::config::MS;
use inorder_tcp::habits::{AckOfFill, AnswerDuplicates, Echo, Habits, PawsAnswer, SackOrder};

use super::peer::{Peer, config, only};

fn with(set: impl FnOnce(&mut Habits)) -> Config {
    let mut receiver = config("rfc");
    set(&mut receiver.habits);
    receiver
}

#[test]
fn one_acknowledgement_answers_a_batch() {
    let mut peer = Peer::new(&with(|h| h.ack_batch = Some(MS)));
    assert_eq!(peer.data(0, 1), []);
    assert_eq!(peer.data(3, 4), [], "out of order");
    assert_eq!(peer.data(1, 2), []);
    assert_eq!(peer.data(0, 1), [], "a duplicate");
    assert_eq!(only(&peer.wait(MS)), (2, vec![(0, 1), (3, 4)]));
}

#[test]
fn what_fills_a_hole_may_wait() {
    let mut peer = Peer::new(&with(|h| h.ack_of_fill = AckOfFill::Delayed));
    assert_eq!(only(&peer.data(1, 3)), (0, vec![(1, 3)]));
    assert_eq!(peer.data(0, 1), [], "three segments are complete");
    assert_eq!(only(&peer.wait(200 * MS)).0, 3);
    peer.data(4, 5);
    assert_eq!(peer.data(3, 4), []);
    assert_eq!(only(&peer.data(5, 6)).0, 6, "the second in turn");
}

#[test]
fn duplicates_may_be_answered_seldom() {
    let mut peer = Peer::new(&with(|h| h.answer_duplicates = AnswerDuplicates::Seldom));
    peer.data(0, 2);
    assert_eq!(only(&peer.data(0, 1)).0, 2);
    assert_eq!(peer.data(0, 1), []);
    peer.now += 600 * MS;
    assert_eq!(only(&peer.data(0, 1)).0, 2);
}

#[test]
fn blocks_may_come_in_any_order() {
    let blocks = |sack_order, sack_blocks| {
        let mut peer = Peer::new(&with(|h| {
            (h.sack_order, h.sack_blocks) = (sack_order, sack_blocks);
        }));
        for at in [2, 6, 4] {
            peer.data(at, at + 1);
        }
        let mut seen = Vec::new();
        for _ in 0..20 {
            // Each repetition is answered; without DSACK the option holds the blocks alone.
            seen.push(only(&peer.data(4, 5)).1);
        }
        seen
    };
    let first = |order, most| blocks(order, most)[0][1..].to_vec();
    assert_eq!(first(SackOrder::Newest, 4), [(4, 5), (6, 7), (2, 3)]);
    assert_eq!(first(SackOrder::Ascending, 4), [(2, 3), (4, 5), (6, 7)]);
    assert_eq!(first(SackOrder::Ascending, 2), [(2, 3)]);
    let random = blocks(SackOrder::Random, 4);
    assert!(random.iter().any(|list| list != &random[0]), "{random:?}");
}

/// RFC 7323 section 5.3 asks for an acknowledgement; Linux adds what is old.
#[test]
fn what_is_too_old_may_be_answered_plainly() {
    for (paws_answer, block) in [(PawsAnswer::Dsack, vec![(1, 2)]), (PawsAnswer::Ack, vec![])] {
        let mut peer = Peer::new(
            &with(|h| h.paws_answer = paws_answer).with(|config| config.options.timestamps = true),
        );
        for (at, stamp) in [(0, 100), (1, 200), (2, 300), (3, 400)] {
            peer.data_at(at, stamp);
        }
        assert_eq!(only(&peer.data_at(1, 150)), (4, block));
    }
}

#[test]
fn the_newest_or_the_last_timestamp_may_be_echoed() {
    let echoes = |echo| {
        let mut peer = Peer::new(&with(|h| h.echo = echo).with(|config| {
            config.options.timestamps = true;
            config.options.paws = false;
        }));
        let mut seen = Vec::new();
        for (at, stamp) in [(1, 200), (2, 300), (3, 250)] {
            let answers = peer.data_at(at, stamp);
            seen.push(answers[0].timestamps.expect("the option is in use").ecr);
        }
        seen
    };
    assert_eq!(echoes(Echo::Rfc7323), [1, 1, 1], "that of the handshake");
    assert_eq!(echoes(Echo::Newest), [200, 300, 300]);
    assert_eq!(echoes(Echo::Last), [200, 300, 250]);
}

/// RFC 2018 section 8.
#[test]
fn what_was_reported_may_be_discarded() {
    let mut peer = Peer::new(&with(|h| h.reneging = 1.0));
    assert_eq!(only(&peer.data(1, 2)), (0, vec![]));
    assert_eq!(peer.end.counters().received.reneges, 1);
    assert_eq!(peer.data(0, 1), [], "nothing waits behind it");
    assert_eq!(only(&peer.data(1, 2)).0, 2);
}
