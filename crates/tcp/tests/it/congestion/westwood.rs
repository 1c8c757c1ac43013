use inorder_tcp::congestion::{AckEvent, Event, Start};

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

/// A recovery of 100 ms with a duplicate each millisecond, and then an acknowledgement of all of it. Without SACK the headers of duplicates are as
/// expected, and bytes count when the hole is filled (Linux `westwood_fast_bw`).
#[test]
fn expected_headers_count_by_their_number_alone() {
    for (predicted, expected) in [(false, 1_000_000.0), (true, 0.0)] {
        let mut driver = Driver::new("westwood", 50 * MS, 10);
        driver.cc.start(&mut driver.window, &Start::default());
        let ack = |now, una| AckEvent {
            now,
            predicted,
            rtt: Some(50 * MS),
            snd_una: una,
            snd_nxt: 1_000_000,
            mss: 1000,
            ..AckEvent::default()
        };
        driver.cc.measure(&mut driver.window, &ack(MS, 1000));
        for ms in 2..60 {
            let event = Event::DupAck { predicted };
            driver.cc.event(&mut driver.window, event, ms * MS);
        }
        let estimate = driver.traced("bandwidth_bytes_per_s");
        assert!(
            (estimate - expected).abs() < 50_000.0,
            "{predicted}: {estimate}"
        );
    }
}
