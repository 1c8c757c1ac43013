//! How much the application may write ahead.

use super::peer::{MSS, Peer, config};

/// A sender whose application always has more to write, until its window is this large: what is written and not acknowledged.
fn written_ahead(segment_memory: Option<u32>, window: u32) -> u64 {
    let mut peer = Peer::new(
        &config("linux-6").with(|config| {
            config.send.buffer = 1 << 20;
            config.send.autotuning = segment_memory;
        }),
        "reno",
        "linux",
    );
    let more = |peer: &mut Peer| {
        peer.end.write(1 << 30);
        peer.out()
    };
    let mut sent = more(&mut peer).len();
    for acknowledged in 1.. {
        if peer.end.info().cwnd >= window {
            break;
        }
        sent += peer.ack(acknowledged, &[]).len();
        sent += more(&mut peer).len();
        assert!(sent > acknowledged as usize, "the sender never runs dry");
    }
    peer.end.unacknowledged()
}

#[test]
fn a_buffer_of_one_size_is_full_whatever_the_window() {
    assert_eq!(written_ahead(None, 20), 1 << 20);
    assert_eq!(written_ahead(None, 80), 1 << 20);
}

/// Windows that the data in the buffer fills need no larger one. The first that it does not fill makes room for two of them.
#[test]
fn a_growing_one_grows_once_the_window_has_room_for_more_than_it_holds() {
    let (first, mss) = (64 << 10, u64::from(MSS));
    assert!(written_ahead(Some(2_304), 20) <= first);
    assert!(written_ahead(Some(2_304), 30) <= first);
    let grown = written_ahead(Some(2_304), 90);
    assert!(grown > 90 * mss, "{grown}");
    assert!(grown <= 2 * 90 * 2_304, "{grown}");
}

/// What is sent takes more memory than its bytes.
#[test]
fn one_that_may_not_grow_any_more_stays_below_its_limit() {
    assert!(written_ahead(Some(1 << 20), 80) <= 1 << 20);
}

/// A piece is filled once it has begun, and a packet of IP has room for 65 segments of 1,000 bytes (Linux `tcp_xmit_size_goal`): of a first
/// buffer of 64 KiB a second piece of 65 is begun; one of 66 would be more than the buffer.
#[test]
fn a_piece_is_no_larger_than_a_packet() {
    let linux = config("linux-6").with(|config| {
        config.send.tso_segments = 66;
        config.send.autotuning = Some(2_304);
    });
    let mut peer = Peer::new(&linux, "reno", "linux");
    assert_eq!(peer.end.write(1 << 30), 2 * 65 * u64::from(MSS));
}
