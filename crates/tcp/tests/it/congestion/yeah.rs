use inorder_tcp::congestion::{Event, SentEvent};

use super::driver::{Driver, MS};

#[test]
fn fast_mode_adds_one_per_hundred_segments() {
    let mut driver = Driver::new("yeah", 100 * MS, 10).avoid(1000);
    let grown = driver.round() - 1000;
    assert!((10..=11).contains(&grown), "{grown}");
}

/// 1000 segments in 100 ms: a window of 1050 queues 50, which is 5 ms: below 80 and below an eighth.
#[test]
fn a_short_queue_is_measured_and_left() {
    let mut driver = Driver::new("yeah", 100 * MS, 10)
        .avoid(900)
        .bottleneck(10_000, 500);
    driver.rounds(2);
    driver.window.cwnd = 1050;
    driver.rounds(2);
    let queue = driver.traced("queue");
    assert!((50.0..=75.0).contains(&queue), "{queue}");
    assert_eq!(driver.traced("slow_rounds"), 0.0);
}

/// A window of 1200 queues 200: the queue is removed from the window at once.
#[test]
fn a_long_queue_is_removed_before_it_overflows() {
    let mut driver = Driver::new("yeah", 100 * MS, 10)
        .avoid(900)
        .bottleneck(10_000, 500);
    driver.rounds(2);
    driver.window.cwnd = 1200;
    let windows = driver.rounds(3);
    assert!(
        windows.iter().any(|cwnd| (970..=1030).contains(cwnd)),
        "{windows:?}"
    );
    assert_eq!(driver.window.ssthresh.min(1100), driver.window.ssthresh);
}

/// Without competing flows the window stays near the path's 1000 with a queue of up to 80, without losses.
#[test]
fn alone_it_keeps_the_queue_below_alpha() {
    let mut driver = Driver::new("yeah", 100 * MS, 10)
        .avoid(500)
        .bottleneck(10_000, 500);
    let windows = driver.rounds(600);
    let late = &windows[200..];
    assert!(
        late.iter().all(|cwnd| (1000..=1120).contains(cwnd)),
        "{late:?}"
    );
}

/// A delay above an eighth with a short queue: Reno's growth.
#[test]
fn slow_mode_is_reno() {
    let mut driver = Driver::new("yeah", 10 * MS, 10).avoid(60);
    driver.rounds(3);
    driver.base_rtt = 20 * MS;
    driver.rounds(3);
    let windows = driver.rounds(4);
    assert!(driver.traced("slow_rounds") >= 4.0);
    assert_eq!(
        windows.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>(),
        [1, 1, 1]
    );
}

#[test]
fn a_loss_removes_the_queue_or_an_eighth_and_half_against_competitors() {
    // Without a queue: an eighth.
    let mut driver = Driver::new("yeah", 100 * MS, 10).avoid(800);
    driver.rounds(2);
    let before = driver.window.cwnd;
    assert_eq!(driver.lose(), before - before / 8);
    // Sixteen rounds of delay in a row: other flows fill the queue.
    let mut driver = Driver::new("yeah", 10 * MS, 10).avoid(60);
    driver.rounds(3);
    driver.base_rtt = 20 * MS;
    driver.rounds(20);
    let before = driver.window.cwnd;
    assert_eq!(driver.lose(), before - before / 2);
}

/// More than 80 segments wait in the queue: early decongestion ends slow start. Beside reordering the state becomes Open again and
/// again, and with each time the round begins anew (`tcp_vegas_state`), so that the window grows on.
#[test]
fn a_round_that_reordering_restarts_decides_nothing() {
    let grown = |reordered: bool| {
        let mut driver = Driver::new("yeah", 20 * MS, 10).bottleneck(10_000, 1000);
        for _ in 0..16 {
            let half = driver.window.cwnd / 2;
            driver.partial_round(half);
            if reordered {
                driver.cc.event(&mut driver.window, Event::Open, driver.now);
            }
        }
        driver.window.cwnd
    };
    assert!(grown(false) < 500, "{}", grown(false));
    assert!(grown(true) > 1000, "{}", grown(true));
}

/// What is sent while nothing is in flight, as the first retransmission after a timeout, begins the measurement of the smallest
/// round-trip time anew (Linux `tcp_vegas_cwnd_event`).
#[test]
fn sending_into_an_empty_network_forgets_the_base() {
    let mut driver = Driver::new("yeah", 100 * MS, 10).avoid(60);
    driver.rounds(3);
    assert!(driver.traced("base_rtt_s") > 0.0);
    for (in_flight, known) in [(1, true), (0, false)] {
        let mut sent = SentEvent::default();
        (sent.in_flight, sent.again) = (in_flight, true);
        driver.cc.on_sent(&mut driver.window, &sent);
        assert_eq!(driver.traced("base_rtt_s") > 0.0, known);
    }
}
