//! The state after an unnecessary reduction has been undone.

use super::driver::{Driver, MS};

fn undone(name: &str) -> (u32, u32) {
    let mut driver = Driver::new(name, 100 * MS, 10).avoid(400);
    driver.rounds(5);
    let before = driver.window.cwnd;
    driver.lose();
    (before, driver.undo(400))
}

#[test]
fn the_window_returns_to_where_it_was() {
    for name in [
        "reno",
        "cubic",
        "cubic-2008",
        "cubic-rfc9438",
        "bic",
        "bic-4.0",
        "bic-ns3",
        "highspeed",
        "westwood",
        "westwood-ns3",
        "yeah",
        "compound",
    ] {
        let (before, after) = undone(name);
        assert_eq!(after, before, "{name}");
    }
}

/// The kernel of 2008 restores the maximum it has stored, which fast convergence has lowered.
#[test]
fn that_of_2008_returns_to_a_lowered_maximum() {
    let mut driver = Driver::new("cubic-2008", 100 * MS, 10).avoid(1000);
    driver.lose();
    driver.window.cwnd = 900;
    driver.lose();
    assert_eq!(driver.undo(1000), 809);
}

/// It restores nothing after a timeout, which resets the maximum.
#[test]
fn cubic_2008_restores_nothing_after_a_timeout() {
    let mut driver = Driver::new("cubic-2008", 100 * MS, 10).avoid(1000);
    driver.time_out();
    assert_eq!(driver.undo(1000), 1);
    let mut driver = Driver::new("cubic", 100 * MS, 10).avoid(1000);
    driver.time_out();
    assert_eq!(driver.undo(1000), 1000);
}

/// RFC 9438 section 4.9: the previous curve continues, including plateau and K.
#[test]
fn rfc_9438_goes_on_with_its_old_curve() {
    let mut driver = Driver::new("cubic-rfc9438", 100 * MS, 10).avoid(1000);
    driver.lose();
    driver.rounds(30);
    let (w_max, k) = (driver.traced("w_max"), driver.traced("k_s"));
    driver.lose();
    assert_ne!(driver.traced("w_max"), w_max);
    driver.undo(700);
    assert_eq!((driver.traced("w_max"), driver.traced("k_s")), (w_max, k));
}

#[test]
fn compound_has_its_delay_window_back() {
    let mut driver = Driver::new("compound", 100 * MS, 10).avoid(400);
    driver.rounds(40);
    let delay = driver.traced("dwnd");
    driver.lose();
    driver.undo(400);
    assert_eq!(driver.traced("dwnd"), delay);
}
