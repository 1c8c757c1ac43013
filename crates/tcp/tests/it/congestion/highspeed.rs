use inorder_tcp::congestion::highspeed::table;

use super::driver::{Driver, MS};

#[test]
fn a_round_trip_adds_what_the_table_says() {
    for (row, increase) in [(0, 1), (1, 2), (9, 10), (29, 30)] {
        let cwnd = table()[row].cwnd;
        let mut driver = Driver::new("highspeed", 100 * MS, 10).avoid(cwnd);
        let grown = driver.round() - cwnd;
        // The row changes within the round: a(w) is valid for windows up to the end of the row.
        assert!(
            (increase..=increase + 1).contains(&grown),
            "{cwnd}: {grown}"
        );
    }
}

#[test]
fn the_cut_shrinks_as_the_window_grows() {
    let cut = |cwnd| {
        let mut driver = Driver::new("highspeed", 100 * MS, 10).avoid(cwnd);
        driver.partial_round(1);
        driver.lose()
    };
    assert_eq!(cut(38), 19);
    assert_eq!(cut(118), 67); // 112/256
    assert_eq!(cut(10_000), 7969); // 52/256
    assert_eq!(cut(2), 2);
}

/// Equation (1): `W = 0.12 / p^0.835`, which the RFC derives from the mean of the sawtooth.
#[test]
fn its_mean_window_is_that_of_the_response_function() {
    // A row of the table applies the increase of its largest window to all its windows, half a segment too much on
    // average: at p of 10^-4, where a is 3 or 4, the effect is visible.
    for (per_loss, over) in [(10_000u64, 0.15), (100_000, 0.06), (1_000_000, 0.03)] {
        let mut driver = Driver::new("highspeed", 100 * MS, 10).avoid(38);
        let mean = driver.mean_window(per_loss, 10);
        let law = 0.12 * libm::pow(per_loss as f64, 0.835);
        assert!(
            (0.0..over).contains(&(mean / law - 1.0)),
            "{per_loss}: {mean} {law}"
        );
    }
}
