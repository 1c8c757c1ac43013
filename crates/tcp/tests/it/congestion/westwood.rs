use super::driver::{Driver, MS};

/// 100 segments every 100 ms: 1000 segments, 1.448 MB per second.
fn constant_clock(name: &str) -> Driver {
    let mut driver = Driver::new(name, 100 * MS, 100).avoid(100);
    for _ in 0..100 {
        driver.round();
        driver.window.cwnd = 100;
    }
    driver
}

#[test]
fn the_estimate_settles_at_the_rate_of_the_acknowledgements() {
    let driver = constant_clock("westwood");
    let estimate = driver.traced("bandwidth_bytes_per_s");
    assert!((estimate / 1_448_000.0 - 1.0).abs() < 0.02, "{estimate}");
    let driver = constant_clock("westwood-ns3");
    let estimate = driver.traced("bandwidth_segments_per_s");
    assert!((estimate / 1000.0 - 1.0).abs() < 0.02, "{estimate}");
}

/// A window that had filled a queue: the path carries 100 segments, 150 were in flight.
#[test]
fn recovery_ends_with_the_measured_capacity_of_the_path() {
    let mut driver = constant_clock("westwood").bottleneck(1000, 100);
    for _ in 0..50 {
        driver.window.cwnd = 150;
        driver.window.ssthresh = 150;
        driver.round();
    }
    let after = driver.lose();
    assert!((98..=102).contains(&after), "{after}");
    assert_eq!(driver.window.ssthresh, after);
}

#[test]
fn the_threshold_during_recovery_is_renos_but_in_ns3_the_estimate() {
    use inorder_tcp::congestion::LossEvent;
    let threshold = |name| {
        let mut driver = constant_clock(name);
        let loss = LossEvent {
            now: driver.now,
            in_flight: 100,
            timeout: false,
        };
        driver.cc.ssthresh(&driver.window, &loss)
    };
    assert_eq!(threshold("westwood"), 50);
    assert!(
        (97..=101).contains(&threshold("westwood-ns3")),
        "{}",
        threshold("westwood-ns3")
    );
}

/// A duplicate counts when it arrives, and the cumulative acknowledgement does not count it again.
#[test]
fn a_recovery_does_not_count_bytes_twice() {
    for sack in [false, true] {
        let mut driver = constant_clock("westwood");
        driver.sack = sack;
        for _ in 0..20 {
            driver.window.cwnd = 100;
            driver.lose();
        }
        driver.window.cwnd = 100;
        driver.round();
        let estimate = driver.traced("bandwidth_bytes_per_s");
        assert!(
            (estimate / 1_448_000.0 - 1.0).abs() < 0.05,
            "{sack} {estimate}"
        );
    }
}

#[test]
fn a_timeout_sets_the_threshold_and_measures_the_smallest_rtt_afresh() {
    let mut driver = constant_clock("westwood");
    driver.time_out();
    assert!((97..=101).contains(&driver.window.ssthresh));
    driver.base_rtt = 200 * MS;
    driver.window.cwnd = 100;
    driver.round();
    assert_eq!(driver.traced("rtt_min_s"), 0.2);
}
