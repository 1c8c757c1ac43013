//! An algorithm that uses rates: it is always paced, receives each transmission and samples of the delivery rate, and
//! alone changes the window.

use std::sync::{Arc, Mutex};

use inorder_tcp::CaState;
use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::congestion::{
    AckEvent, CongestionControl, LossEvent, RateSample, SentEvent, Window,
};

use super::peer::{Peer, config};

/// The calls of the algorithm, recorded for the test.
#[derive(Debug, Default)]
struct Told {
    samples: Vec<RateSample>,
    sent: Vec<SentEvent>,
    reductions: u32,
}

/// A window of 20 segments at a constant rate, bytes per second.
#[derive(Debug)]
struct Steady {
    rate: u64,
    told: Arc<Mutex<Told>>,
}

impl CongestionControl for Steady {
    fn grow(&mut self, _window: &mut Window, _ack: &AckEvent) {
        unreachable!("it governs the window itself");
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.told.lock().unwrap().reductions += 1;
        window.ssthresh
    }

    fn governs_window(&self) -> bool {
        true
    }

    fn rate_sample(&mut self, window: &mut Window, sample: &RateSample) {
        window.cwnd = 20;
        self.told.lock().unwrap().samples.push(*sample);
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &SentEvent) {
        self.told.lock().unwrap().sent.push(*sent);
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.rate)
    }
}

/// A connection that sends segments of 1000 bytes at `rate`; its first ten are acknowledged after 100 ms. Also
/// returns the calls of its algorithm.
fn steady(rate: u64) -> (Peer, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let control = Steady {
        rate,
        told: Arc::clone(&told),
    };
    let mut peer = Peer::with(&config("linux-6"), Box::new(control), "linux");
    assert_eq!(peer.write(100).len(), 10);
    peer.now += 100 * MS;
    (peer, told)
}

#[test]
fn it_is_paced_in_every_configuration() {
    let (mut peer, _) = steady(100_000);
    // The tenth of the first ten segments took 10 ms at the rate, which have long passed.
    let sent = peer.ack(10, &[]);
    assert_eq!(sent, [10, 11]);
    // Half of the burst's time is saved by the silence before it.
    assert_eq!(peer.wait(10 * MS), [12, 13]);
    assert_eq!(peer.wait(19 * MS), []);
    assert_eq!(peer.wait(MS), [14, 15]);
    assert_eq!(peer.wait(20 * MS), [16, 17]);
}

#[test]
fn losses_leave_its_window_alone() {
    let (mut peer, told) = steady(100_000_000);
    assert_eq!(peer.ack(10, &[]).len(), 20);
    peer.now += 100 * MS;
    // The first segment of a flight is missing: recovery begins, and only the algorithm has changed the window.
    peer.ack(10, &[(11, 30)]);
    assert_eq!(peer.state(), CaState::Recovery);
    assert_eq!(peer.cwnd(), 20);
    assert_eq!(peer.info().ssthresh, u32::MAX);
    peer.now += 100 * MS;
    peer.ack(30, &[]);
    assert_eq!((peer.state(), peer.cwnd()), (CaState::Open, 20));
    let told = told.lock().unwrap();
    assert_eq!(told.reductions, 1);
    assert_eq!(told.samples.iter().map(|s| s.newly_lost).sum::<u32>(), 1);
    let again = told.sent.iter().filter(|sent| sent.again);
    assert_eq!(again.count(), 1);
}

/// Ten segments in a round trip of 100 ms, then twenty.
#[test]
fn samples_show_what_a_round_trip_delivers() {
    let (mut peer, told) = steady(100_000_000);
    peer.ack(10, &[]);
    peer.now += 100 * MS;
    peer.ack(30, &[]);
    let told = told.lock().unwrap();
    // The third acknowledgement of the handshake and the first window both measure from the SYN on.
    let shown: Vec<_> = told
        .samples
        .iter()
        .filter_map(|sample| sample.measured.map(|m| (m.delivered, m.interval / MS)))
        .collect();
    assert_eq!(shown, [(10, 100), (20, 100)]);
    assert_eq!(told.samples.last().unwrap().delivered, 31);
}

/// Three segments although the window allows ten, and then more than enough data: only the samples of the three, and
/// of data sent while they were outstanding, are marked as limited by the application.
#[test]
fn an_application_that_runs_dry_marks_its_samples() {
    let told = Arc::new(Mutex::new(Told::default()));
    let control = Steady {
        rate: 100_000_000,
        told: Arc::clone(&told),
    };
    let mut peer = Peer::with(&config("linux-6"), Box::new(control), "linux");
    peer.write(3);
    peer.now += 50 * MS;
    peer.write(100);
    peer.now += 50 * MS;
    peer.ack(3, &[]);
    peer.now += 50 * MS;
    peer.ack(10, &[]);
    peer.now += 50 * MS;
    let outstanding = 10 + peer.info().flight.unacked;
    peer.ack(outstanding, &[]);
    let told = told.lock().unwrap();
    let limited: Vec<bool> = told
        .samples
        .iter()
        .filter_map(|sample| sample.measured.map(|measured| measured.app_limited))
        .collect();
    assert_eq!(limited, [true, true, false]);
    // When the first one was sent, nothing was in flight.
    assert!(told.sent[0].in_flight == 0 && told.sent[0].app_limited);
}

/// The retransmission timer belongs to the sender, and its first retransmission waits neither for window nor rate.
#[test]
fn a_timeout_is_repaired_from_one_segment() {
    let (mut peer, _) = steady(100_000_000);
    let sent = peer.wait(2 * SECOND);
    assert!(sent.contains(&0), "{sent:?}");
    assert_eq!(peer.state(), CaState::Loss);
    peer.ack(10, &[]);
    assert_eq!(peer.cwnd(), 20);
}
