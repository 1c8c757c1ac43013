use super::driver::{Driver, MS};

/// The bottleneck carries 1000 segments/s: 100 in 100 ms.
fn slow_start(name: &str, rate: u64) -> Driver {
    let mut driver = Driver::new(name, 100 * MS, 10).bottleneck(rate, 1000);
    driver.rounds(12);
    driver
}

#[test]
fn slow_start_ends_when_the_queue_shows() {
    let driver = slow_start("cubic", 1000);
    let left = driver.window.ssthresh;
    // A queue of 12.5 ms is 12 segments above the 100 of the path; eight samples of the round must show it.
    assert!((112..=260).contains(&left), "{left}");
    assert!(driver.window.cwnd >= left);
}

#[test]
fn without_it_slow_start_goes_on() {
    let driver = slow_start("cubic-nohystart", 1000);
    assert_eq!(driver.window.ssthresh, u32::MAX);
    assert_eq!(driver.window.cwnd, 10 << 12);
}

#[test]
fn a_dense_train_ends_it_at_half_the_round_trip() {
    // No bottleneck: acknowledgements fill the whole round trip, 2 ms apart from 50 segments on.
    let mut driver = Driver::new("cubic", 100 * MS, 10);
    driver.rounds(12);
    let left = driver.window.ssthresh;
    assert!((100..=200).contains(&left), "{left}");
}

#[test]
fn below_16_segments_it_is_inactive() {
    let mut driver = Driver::new("cubic", 10 * MS, 4);
    driver.partial_round(4);
    driver.partial_round(7);
    assert_eq!(driver.window.cwnd, 15);
    assert_eq!(driver.window.ssthresh, u32::MAX);
}
