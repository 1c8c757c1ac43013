//! Rules of Linux's sender without SACK, by traces: what duplicates mean after a timeout, and how long a state is kept.

use std::sync::{Arc, Mutex};

use inorder_tcp::config::{Config, MS};
use inorder_tcp::congestion::{AckEvent, CongestionControl, LossEvent, Window};
use inorder_tcp::{CaState, Nanos};

use super::peer::{Peer, config};

fn linux(edit: impl Fn(&mut Config)) -> Peer {
    let mut linux = config("linux-6");
    linux.options.sack = false;
    edit(&mut linux);
    Peer::new(&linux, "reno", "linux")
}

/// Ten segments, and the timer expires.
fn timed_out(edit: impl Fn(&mut Config)) -> Peer {
    let mut peer = linux(edit);
    assert_eq!(peer.write(100).len(), 10);
    assert_eq!(peer.wait(350 * MS), [0]);
    assert_eq!(peer.state(), CaState::Loss);
    peer
}

/// Duplicates that what was in flight at the timeout causes do not end F-RTO (`tcp_process_loss`): the first progress still lets new data out.
#[test]
fn duplicates_before_the_first_progress_do_not_end_frto() {
    let mut peer = timed_out(|_| {});
    assert_eq!(peer.duplicate(0), []);
    assert_eq!(peer.ack(1, &[]), [10, 11]);
}

/// Nor do they count as segments that overtook others (`tcp_add_reno_sack` is not called): more duplicates than outstanding segments would mean
/// that nothing was missing.
#[test]
fn duplicates_after_a_timeout_are_no_reordering() {
    let mut peer = timed_out(|_| {});
    for _ in 0..3 {
        peer.duplicate(0);
    }
    assert_eq!(peer.reordering(), 3);
    assert_eq!(peer.end.counters().reordering.tcp_reno_reorder, 0);
}

/// The second acknowledgement may cover all that was outstanding: what was never sent again proves the timeout spurious all the same
/// (`FLAG_ORIG_SACK_ACKED`).
#[test]
fn an_acknowledgement_of_everything_ends_a_spurious_timeout() {
    let mut peer = timed_out(|_| {});
    assert_eq!(peer.ack(1, &[]), [10, 11]);
    peer.ack(11, &[]);
    assert_eq!(peer.end.counters().undos.tcp_spurious_rtos, 1);
    assert!(peer.cwnd() >= 10, "{}", peer.cwnd());
}

/// New data was allowed and could not go out: conventional recovery goes on (`tcp_xmit_recovery`).
#[test]
fn frto_without_new_data_at_once_falls_back() {
    let mut peer = timed_out(|_| {});
    peer.end.set_device_full(true);
    assert_eq!(peer.ack(1, &[]), []);
    peer.end.set_device_full(false);
    assert_eq!(peer.out().first(), Some(&1));
}

/// A timeout undone by timestamps keeps the state until something sent later is acknowledged (`tcp_is_non_sack_preventing_reopen`), so that
/// the duplicates of what was sent again start no recovery.
#[test]
fn a_state_is_kept_after_an_undo_too() {
    let mut peer = timed_out(|linux| {
        linux.options.timestamps = true;
        linux.recovery.frto = false;
    });
    peer.ack_echo(3, &[], 100);
    assert_eq!(peer.end.counters().undos.tcp_loss_undo, 1);
    assert_eq!(peer.state(), CaState::Loss);
    peer.ack_echo(10, &[], 100);
    assert_eq!(peer.state(), CaState::Loss);
    for _ in 0..3 {
        peer.duplicate(10);
    }
    assert_eq!(peer.end.counters().recoveries.fast_recoveries, 0);
    peer.ack_echo(11, &[], 100);
    assert_ne!(peer.state(), CaState::Loss);
}

/// Nothing was sent again yet, as when the host's device or pacing holds it back: progress shows that the segment was only late
/// (`tcp_packet_delayed`), also without timestamps.
#[test]
fn a_recovery_that_sent_nothing_again_is_undone_by_progress() {
    let mut peer = linux(|_| {});
    assert_eq!(peer.write(100).len(), 10);
    peer.now += 100 * MS;
    peer.duplicate(0);
    peer.duplicate(0);
    peer.end.set_device_full(true);
    peer.duplicate(0);
    assert_eq!(peer.state(), CaState::Recovery);
    peer.ack(1, &[]);
    assert_eq!(peer.end.counters().undos.tcp_partial_undo, 1);
}

/// What congestion avoidance reached since the last loss is not lost to an undo: three quarters of the window are the threshold then
/// (`tcp_current_ssthresh`).
#[test]
fn an_undo_restores_three_quarters_of_the_window_as_threshold() {
    let mut peer = timed_out(|linux| linux.cwnd.ssthresh = 2);
    peer.ack(1, &[]);
    peer.ack(2, &[]);
    assert_eq!(peer.end.counters().undos.tcp_spurious_rtos, 1);
    assert_eq!(peer.info().ssthresh, 7);
}

/// A window that does not change, and the round-trip times that it hears.
#[derive(Debug)]
struct Hears(Arc<Mutex<Vec<Option<Nanos>>>>);

impl CongestionControl for Hears {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.0.lock().unwrap().push(ack.rtt);
    }

    fn grow(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        window.cwnd
    }
}

/// Where Karn's rule leaves no round trip, that by timestamps reaches the congestion control, in whole milliseconds (`tcp_ack_update_rtt`).
#[test]
fn the_congestion_control_hears_round_trips_by_timestamps() {
    for (hears, last) in [(true, Some(99 * MS)), (false, None)] {
        let mut linux = config("linux-6");
        (linux.options.sack, linux.options.timestamps) = (false, true);
        linux.cwnd.rtt_by_timestamps = hears;
        let heard = Arc::default();
        let control = Box::new(Hears(Arc::clone(&heard)));
        let mut peer = Peer::with(&linux, control, "linux");
        peer.write(100);
        peer.now += 100 * MS;
        for _ in 0..3 {
            peer.duplicate(0);
        }
        assert_eq!(peer.state(), CaState::Recovery);
        let sent_again = (peer.now / MS) as u32;
        peer.now += 99 * MS + MS / 4;
        peer.ack_echo(10, &[], sent_again);
        assert_eq!(heard.lock().unwrap().last(), Some(&last));
    }
}
