use inorder_tcp::congestion::Cubic;

use super::driver::{Driver, MS};

/// The paper's curve: `W(t) = 0.4 (t - K)^3 + Wmax` after a cut from `max` to `cwnd`.
fn curve(t: f64, max: f64, cwnd: f64) -> f64 {
    let k = libm::cbrt((max - cwnd) / 0.4);
    0.4 * libm::pow(t - k, 3.0) + max
}

/// Largest distance between window and curve over `rounds` after a loss at `max`.
fn distance(mut driver: Driver, max: u32, rounds: usize) -> f64 {
    driver.round();
    driver.window.cwnd = max;
    let cwnd = f64::from(driver.lose());
    let (start, mut worst) = (driver.now, 0f64);
    for _ in 0..rounds {
        driver.round();
        let t = (driver.now - start) as f64 * 1e-9;
        let expected = curve(t, f64::from(max), cwnd);
        worst = worst.max((f64::from(driver.window.cwnd) - expected).abs());
    }
    worst
}

/// Follows the window to the plateau at 9.1 s and for the same time beyond it. The window shown is the computed one in whole segments.
#[test]
fn rfc_9438_follows_the_curve_within_a_segment() {
    let driver = Driver::new("cubic-rfc9438", 50 * MS, 10);
    let worst = distance(driver, 1000, 360);
    assert!(worst <= 1.1, "{worst}");
}

/// Whole segments per step make Linux grow faster, by less than one and a half segments.
#[test]
fn linux_follows_the_curve_within_two_segments() {
    let driver = Driver::new("cubic", 50 * MS, 10);
    let worst = distance(driver, 1000, 360);
    assert!(worst <= 2.0, "{worst}");
}

/// Up to the plateau at 7.9 s. Beyond it the limit is 16 segments per 100 ms, which is not reached at first.
#[test]
fn that_of_2008_follows_the_curve_within_two_segments_of_a_receiver_that_delays() {
    let driver = Driver::new("cubic-2008", 50 * MS, 10).delayed_acks();
    let worst = distance(driver, 1000, 200);
    assert!(worst <= 2.0, "{worst}");
}

#[test]
fn the_versions_differ_in_the_decrease() {
    let cut = |name| Driver::new(name, 50 * MS, 10).avoid(1000).lose();
    assert_eq!(cut("cubic-2008"), 799);
    assert_eq!(cut("cubic"), 700);
    assert_eq!(cut("cubic-rfc9438"), 700);
}

/// 1000, then 800: the plateau is below the 800 of the last loss.
#[test]
fn fast_convergence_lowers_the_plateau_of_a_flow_that_did_not_reach_its_last() {
    let plateau = |name, trace| {
        let mut driver = Driver::new(name, 50 * MS, 10).avoid(1000);
        driver.lose();
        driver.window.cwnd = 800;
        driver.lose();
        driver.round();
        driver.traced(trace)
    };
    assert_eq!(plateau("cubic-2008", "origin"), 719.0);
    assert_eq!(plateau("cubic", "origin"), 680.0);
    assert_eq!(plateau("cubic-rfc9438", "w_max"), 680.0);
}

/// At 5 ms and a window of 20 the curve is slow: K is 2.5 s, 500 round trips. Reno of the same mean adds
/// 3 (1 - b) / (1 + b) a round trip: 1/3 for b of 0.8, 0.53 for 0.7; RFC 9438 section 4.3 adds 1 once it is back at 20.
#[test]
fn on_a_short_path_it_is_no_slower_than_reno_of_the_same_mean() {
    // Linux computes its growth every 31 ms while the window is constant, six round trips late.
    let expected = [
        ("cubic-2008", 16, 36, 3),
        ("cubic", 14, 46, 5),
        ("cubic-rfc9438", 14, 69, 2),
    ];
    for (name, cut, after, late) in expected {
        let mut driver = Driver::new(name, 5 * MS, 10).avoid(20);
        let start = driver.lose();
        assert!(start.abs_diff(cut) <= 1, "{name}: {start}");
        let windows = driver.rounds(60);
        assert!(
            (after - late..=after).contains(&windows[59]),
            "{name}: {windows:?}"
        );
    }
}

#[test]
fn before_the_first_loss_2008_steps_each_50_segments_and_later_linux_each_20() {
    let grown = |name: &str| {
        let mut driver = Driver::new(name, 100 * MS, 10).avoid(1000).delayed_acks();
        driver.round();
        driver.window.cwnd - 1000
    };
    // 2008 counts 25 acknowledgements and increases the window with the 26th.
    assert!(
        (18..=20).contains(&grown("cubic-2008")),
        "{}",
        grown("cubic-2008")
    );
    assert!((48..=51).contains(&grown("cubic")), "{}", grown("cubic"));
}

/// Above the plateau: at most 16 segments per 100 ms.
#[test]
fn past_the_plateau_2008_is_limited_and_linux_is_not() {
    let growth = |name| {
        let mut driver = Driver::new(name, 100 * MS, 10).delayed_acks();
        driver.rounds(2);
        driver.window.cwnd = 1000;
        driver.lose();
        driver.rounds(250);
        let before = driver.window.cwnd;
        driver.round() - before
    };
    assert!(
        (15..=16).contains(&growth("cubic-2008")),
        "{}",
        growth("cubic-2008")
    );
    assert!(growth("cubic") > 30, "{}", growth("cubic"));
}

#[test]
fn idle_time_does_not_make_the_window_jump() {
    use inorder_tcp::congestion::Event;
    for name in ["cubic", "cubic-rfc9438"] {
        let mut driver = Driver::new(name, 100 * MS, 10).avoid(1000);
        driver.lose();
        driver.rounds(20);
        let before = driver.window.cwnd;
        let idle = 60_000 * MS;
        driver.now += idle;
        let event = Event::Restart { ns: idle };
        driver.cc.event(&mut driver.window, event, driver.now);
        driver.round();
        assert!(
            driver.window.cwnd - before < 10,
            "{name} {}",
            driver.window.cwnd
        );
    }
}

/// RFC 9438 section 5.1: `W = (C (3 + b) / (4 (1 - b)))^(1/4) (RTT / p)^(3/4)`, if losses occur exactly when the
/// window reaches the plateau. The curve is so flat there that every plateau reached within half a segment repeats
/// itself, so values up to about 10 % lower are possible.
#[test]
fn its_mean_window_is_that_of_the_response_function() {
    for name in ["cubic-nohystart", "cubic-rfc9438"] {
        for per_loss in [100_000u64, 1_000_000] {
            let mut driver = Driver::new(name, 100 * MS, 10).avoid(100);
            let mean = driver.mean_window(per_loss, 10);
            let constant = libm::pow(0.4 * 3.7 / (4.0 * 0.3), 0.25);
            let law = constant * libm::pow(0.1 * per_loss as f64, 0.75);
            assert!(
                (0.90..1.02).contains(&(mean / law)),
                "{name} {per_loss}: {mean} {law}"
            );
        }
    }
}

#[test]
fn a_timeout_makes_linux_forget_the_plateau() {
    let mut driver = Driver::with(Box::new(Cubic::without_hystart()), 50 * MS, 10).avoid(1000);
    driver.lose();
    driver.time_out();
    assert_eq!((driver.window.cwnd, driver.window.ssthresh), (1, 490));
    assert_eq!(driver.traced("last_max"), 0.0);
}
