use crate::driver::{Driver, MS};

#[test]
fn fast_mode_adds_one_per_hundred_segments() {
    let mut driver = Driver::new("yeah", 100 * MS, 10).avoid(1000);
    let grown = driver.round() - 1000;
    assert!((10..=11).contains(&grown), "{grown}");
}

/// 1000 segments in 100 ms: a window of 1050 queues 50, 5 ms: below 80 and an eighth.
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

/// 1200 queue 200: the queue is taken out of the window at once.
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

/// Left alone the window stays about the path's 1000 with a queue up to 80, and nothing is ever lost.
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

/// A delay of more than an eighth without much of a queue: Reno's pace.
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
    // No queue: an eighth.
    let mut driver = Driver::new("yeah", 100 * MS, 10).avoid(800);
    driver.rounds(2);
    let before = driver.window.cwnd;
    assert_eq!(driver.lose(), before - before / 8);
    // Sixteen rounds of delay in a row: somebody else holds the queue.
    let mut driver = Driver::new("yeah", 10 * MS, 10).avoid(60);
    driver.rounds(3);
    driver.base_rtt = 20 * MS;
    driver.rounds(20);
    let before = driver.window.cwnd;
    assert_eq!(driver.lose(), before - before / 2);
}
