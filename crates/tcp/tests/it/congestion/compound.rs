use inorder_tcp::congestion::{Compound, X};

use super::driver::{Driver, MS};

#[test]
fn up_to_40_it_is_reno() {
    let mut driver = Driver::new("compound", 100 * MS, 10).avoid(36);
    assert_eq!(driver.rounds(4), [37, 38, 39, 40]);
    assert_eq!(driver.traced("dwnd"), 0.0);
}

/// `dw/dt = w^(3/4) / 8` per round trip gives `w = (w0^(1/4) + t / 32)^4` (the paper's section III.B). Each round
/// rounds down and uses the window of the previous round, so the result is smaller.
#[test]
fn without_a_queue_it_grows_by_the_binomial() {
    let mut driver = Driver::new("compound", 100 * MS, 10).avoid(400);
    let windows = driver.rounds(60);
    let law = |t: usize| libm::pow(libm::pow(400.0, 0.25) + t as f64 / 32.0, 4.0);
    for t in [20, 40, 60] {
        let ratio = f64::from(windows[t - 1]) / law(t);
        assert!((0.85..=1.0).contains(&ratio), "{t}: {ratio}");
    }
}

/// 1000 segments in 100 ms. The delay window shrinks as the queue grows: about gamma of 30 wait.
#[test]
fn the_delay_window_yields_as_the_queue_grows_past_gamma() {
    let mut driver = Driver::new("compound", 100 * MS, 10)
        .avoid(500)
        .bottleneck(10_000, 2000);
    driver.rounds(50);
    let early = driver.traced("dwnd");
    assert!(early > 200.0, "{early}");
    let windows = driver.rounds(300);
    // Reno's part grows by one per round trip; as long as there is a delay window, the sum stays constant.
    assert!(
        windows[..200]
            .iter()
            .all(|cwnd| (980..=1080).contains(cwnd)),
        "{windows:?}"
    );
    assert!(driver.traced("dwnd") < early);
}

#[test]
fn a_loss_halves_the_whole_and_both_parts() {
    let mut driver = Driver::new("compound", 100 * MS, 10).avoid(400);
    driver.rounds(40);
    let (whole, delay) = (driver.window.cwnd, driver.traced("dwnd"));
    assert_eq!(driver.lose(), whole / 2);
    assert!((driver.traced("dwnd") - delay / 2.0).abs() <= 1.0);
}

#[test]
fn a_timeout_leaves_no_delay_window() {
    let mut driver = Driver::new("compound", 100 * MS, 10).avoid(400);
    driver.rounds(40);
    driver.time_out();
    assert_eq!(driver.traced("dwnd"), 0.0);
}

/// `alpha 0^k - 1` is never above zero: with the formula as printed in the draft, growth never starts.
#[test]
fn the_formula_as_the_draft_prints_it_is_reno() {
    let compound = Compound::new(X::DelayWindow, false);
    let mut driver = Driver::with(Box::new(compound), 100 * MS, 10).avoid(400);
    let mut reno = Driver::new("reno", 100 * MS, 10).avoid(400);
    assert_eq!(driver.rounds(100), reno.rounds(100));
}

/// A buffer of 12 segments: gamma decreases to three quarters of Reno's part of it.
#[test]
fn gamma_follows_a_small_buffer_down() {
    let gamma = |tune| {
        let compound = Compound::new(X::Window, tune);
        let mut driver = Driver::with(Box::new(compound), 100 * MS, 10)
            .avoid(150)
            .bottleneck(2000, 12);
        for _ in 0..400 {
            driver.round();
            if driver.overflows() {
                driver.lose();
            }
        }
        driver.traced("gamma")
    };
    assert_eq!(gamma(false), 30.0);
    assert!((5.0..=10.0).contains(&gamma(true)), "{}", gamma(true));
}
