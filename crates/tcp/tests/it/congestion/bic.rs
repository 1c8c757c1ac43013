use inorder_tcp::congestion::Bic;

use super::driver::{Driver, MS};

/// After a loss at 1000, with two segments an acknowledgement, the round trips of the binary search. The steps are those of the
/// paper where acknowledgements are counted.
fn search(driver: Driver) -> Vec<u32> {
    let mut driver = driver.avoid(1000).delayed_acks();
    assert_eq!(driver.lose(), 799);
    let mut windows = vec![driver.window.cwnd];
    windows.extend(driver.rounds(60));
    windows
}

fn steps(windows: &[u32]) -> Vec<u32> {
    windows.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn additive_increase_then_a_quarter_of_the_distance_each_round_trip() {
    let windows = search(Driver::new("bic-4.0", 100 * MS, 10));
    for pair in windows.windows(2).filter(|pair| pair[0] < 1000) {
        let (cwnd, step) = (pair[0], pair[1] - pair[0]);
        let distance = (1000 - cwnd) / 4;
        let expected = match distance {
            0 | 1 => 0,
            2..=16 => distance,
            _ => 16,
        };
        // Rounding to whole acknowledgements per step adds one or two segments in 16; the distance also shrinks
        // within the round, which subtracts a few.
        let slack = 1 + expected / 4;
        assert!(
            step.abs_diff(expected) <= slack,
            "{cwnd}: {step}, {expected}"
        );
    }
    // The plateau: 20 round trips for the last four segments.
    let reaches = |cwnd| windows.iter().position(|&w| w >= cwnd).unwrap();
    assert_eq!(reaches(1000) - reaches(996), 20);
}

#[test]
fn past_the_maximum_slow_start_up_to_sixteen_a_round_trip() {
    let mut driver = Driver::new("bic-4.0", 100 * MS, 10)
        .avoid(1000)
        .delayed_acks();
    driver.lose();
    driver.window.cwnd = 1004;
    let windows = driver.rounds(20);
    let steps = steps(&windows);
    assert!(steps[0] <= 2, "{steps:?}");
    assert!(steps.is_sorted_by(|a, b| *b + 1 >= *a), "{steps:?}");
    assert!((15..=18).contains(&steps[18]), "{steps:?}");
}

#[test]
fn a_smaller_smooth_part_leaves_the_plateau_sooner() {
    let at_end = |smooth| {
        let bic = Box::new(Bic::with_smooth_part(smooth));
        *search(Driver::with(bic, 100 * MS, 10)).last().unwrap()
    };
    assert!(at_end(5) > at_end(20) + 20, "{} {}", at_end(5), at_end(20));
}

#[test]
fn up_to_14_it_is_reno() {
    let mut driver = Driver::new("bic", 100 * MS, 10).avoid(10);
    assert_eq!(driver.rounds(4), [11, 12, 13, 14]);
    assert_eq!(driver.lose(), 7);
}

/// Segments by which the window grows in two round trips after a loss.
fn grown_after_a_loss(mut driver: Driver) -> u32 {
    driver.lose();
    let start = driver.window.cwnd;
    driver.rounds(2);
    driver.window.cwnd - start
}

/// Without delayed acknowledgements Linux believes 31/16 segments came per acknowledgement.
#[test]
fn linuxs_measured_ratio_never_reaches_one() {
    let grown = |name| grown_after_a_loss(Driver::new(name, 100 * MS, 10).avoid(2000));
    let both = [grown("bic"), grown("bic-ns3")];
    assert!(
        (60..=66).contains(&both[0]) && (30..=34).contains(&both[1]),
        "{both:?}"
    );
}

/// Since Linux 5.7 `tcp_cong_avoid_ai` is given what an acknowledgement covers, and the number for a step is divided by the ratio
/// nevertheless: at half a window below the maximum, 32 segments a round trip instead of 16.
#[test]
fn segments_are_counted_since_linux_5_7() {
    let grown = |name| {
        let mut driver = Driver::new(name, 100 * MS, 10).avoid(2000).delayed_acks();
        driver.rounds(1);
        grown_after_a_loss(driver)
    };
    let both = [grown("bic"), grown("bic-4.0")];
    assert!(
        (60..=66).contains(&both[0]) && (30..=34).contains(&both[1]),
        "{both:?}"
    );
}
