use inorder_tcp::congestion::{CongestionControl, Fixed, LossEvent, Reno, Window};

use super::driver::{Driver, MS};

#[test]
fn one_segment_a_round_trip() {
    let mut driver = Driver::new("reno", 100 * MS, 10).avoid(10);
    assert_eq!(driver.rounds(8), [11, 12, 13, 14, 15, 16, 17, 18]);
}

#[test]
fn slow_start_doubles_to_the_threshold_and_goes_on_by_ones() {
    let mut driver = Driver::new("reno", 100 * MS, 4);
    driver.window.ssthresh = 40;
    assert_eq!(driver.rounds(6), [8, 16, 32, 40, 41, 42]);
}

#[test]
fn delayed_acknowledgements_do_not_slow_it() {
    let mut driver = Driver::new("reno", 100 * MS, 10).avoid(10).delayed_acks();
    assert_eq!(driver.rounds(3), [11, 12, 13]);
}

#[test]
fn half_the_window_at_a_loss_and_never_below_two() {
    let mut driver = Driver::new("reno", 100 * MS, 13).avoid(13);
    assert_eq!(driver.lose(), 6);
    assert_eq!(driver.lose(), 3);
    assert_eq!(driver.lose(), 2);
    assert_eq!(driver.lose(), 2);
}

#[test]
fn flight_or_window_is_halved() {
    let window = Window::new(40);
    let loss = LossEvent {
        now: 0,
        in_flight: 30,
        timeout: false,
    };
    assert_eq!(Reno::default().ssthresh(&window, &loss), 20);
    assert_eq!(Reno::rfc5681().ssthresh(&window, &loss), 15);
}

/// W = sqrt(3 / 2p), the mean of a sawtooth between W/2 and W (Mathis et al., CCR 27(3), 1997).
#[test]
fn its_mean_window_is_that_of_the_square_root_law() {
    for per_loss in [1_000u64, 10_000, 100_000] {
        let mut driver = Driver::new("reno", 100 * MS, 10).avoid(10);
        let mean = driver.mean_window(per_loss, 20);
        let law = libm::sqrt(1.5 * per_loss as f64);
        assert!((mean / law - 1.0).abs() < 0.05, "{per_loss}: {mean} {law}");
    }
}

#[test]
fn a_fixed_window_stays() {
    let mut driver = Driver::with(Box::new(Fixed::new(30)), 100 * MS, 10);
    assert_eq!(driver.rounds(2), [30, 30]);
    assert_eq!(driver.lose(), 30);
    driver.time_out();
    assert_eq!(driver.rounds(2), [30, 30]);
    assert_eq!(Driver::new("fixed", MS, 7).rounds(2), [7, 7]);
}
