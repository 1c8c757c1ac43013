//! The hold follows a path that changes.

use super::driver::{Driver, MS, US};
use inorder_sort::Sorter;

/// The longest that a packet of the driver's flow would be held now.
fn hold_ns(driver: &Driver) -> i64 {
    driver.sorter.hold_ns(7).unwrap()
}

/// The path changes: late by a quarter of a millisecond, then 2 ms, then nothing, then losses. The hold has followed within fifty late packets
/// or a second each time.
#[test]
fn it_follows_a_path_that_changes() {
    let mut driver = Driver::with_round_trip("resequence", 20 * MS);
    // A gap opens with the packet behind, 100 us after the one that is missing was due.
    let (at_ns, seq) = driver.late_ones(0, 1, 100, 350 * US);
    let short_ns = hold_ns(&driver);
    assert!((250 * US..450 * US).contains(&short_ns), "{short_ns}");

    let (at_ns, seq) = driver.late_ones(at_ns, seq, 50, 2 * MS);
    let long_ns = hold_ns(&driver);
    assert!((1900 * US..3 * MS).contains(&long_ns), "{long_ns}");
    // The next late one is waited for.
    let before = driver.sorter.gaps();
    let (at_ns, mut seq) = driver.late_ones(at_ns, seq, 1, 2 * MS);
    assert_eq!(driver.sorter.gaps().filled, before.filled + 1);

    // In order for a second: nothing waits, whatever the bound is.
    driver.up.clear();
    let mut at_ns = at_ns + MS;
    for _ in 0..1000 {
        driver.data(at_ns, seq);
        assert_eq!(driver.up.last(), Some(&(at_ns, seq)));
        (at_ns, seq) = (at_ns + MS, seq + 1);
    }

    // Losses set in: one each 20 ms, repaired after a round trip.
    let began_ns = at_ns;
    while hold_ns(&driver) > 0 {
        driver.data(at_ns, seq + 1);
        driver.data(at_ns + 20 * MS, seq);
        (at_ns, seq) = (at_ns + 21 * MS, seq + 2);
        let losses = (at_ns - began_ns) / (21 * MS);
        assert!(losses <= 51, "still held after {losses} losses");
    }
    // And then nothing is delayed for a loss any more.
    driver.up.clear();
    driver.data(at_ns, seq + 1);
    assert_eq!(driver.up, [(at_ns, seq + 1)]);
}
