//! The behaviour of each algorithm in two tables next to this file: changes of behaviour appear as differences.
//! `UPDATE_TABLES=1` regenerates them.

use std::fmt::Write;
use std::path::Path;

use inorder_tcp::congestion::{Entry, REGISTRY};

use super::driver::{Driver, MS};

fn compare(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/congestion")
        .join(name);
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(&path, table).expect("the table is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        kept, table,
        "{name} differs; UPDATE_TABLES=1 regenerates it"
    );
}

/// The algorithms whose window depends only on acknowledgements and losses, which is all that the driver simulates.
fn driven() -> impl Iterator<Item = &'static Entry> {
    REGISTRY
        .iter()
        .filter(|entry| !(entry.build)().governs_window())
}

/// Mean window for a loss in each `1 / p` segments, 100 ms.
#[test]
fn mean_window_by_loss_rate() {
    let mut table =
        String::from("mean window, segments; round trip 100 ms, a loss each N segments\n");
    let rates = [100u64, 1_000, 10_000, 100_000];
    write!(table, "{:<16}", "algorithm").unwrap();
    rates.iter().for_each(|n| write!(table, "{n:>10}").unwrap());
    for entry in driven() {
        write!(table, "\n{:<16}", entry.name).unwrap();
        for n in rates {
            let mut driver = Driver::new(entry.name, 100 * MS, 10)
                .avoid(100)
                .delayed_acks();
            write!(table, "{:>10.2}", driver.mean_window(n, 20)).unwrap();
        }
    }
    table.push('\n');
    compare("mean_window.txt", &table);
}

/// Five minutes at a bottleneck of 100 Mbit/s with half its bandwidth-delay product as buffer.
#[test]
fn losses_and_queue_at_a_bottleneck() {
    let mut table = String::from("300 s, 8600 segments/s, 40 ms, buffer of 172 segments\n");
    writeln!(
        table,
        "{:<16}{:>8}{:>12}{:>12}{:>10}",
        "algorithm", "losses", "segments/s", "mean cwnd", "queue"
    )
    .unwrap();
    for entry in driven() {
        let mut driver = Driver::new(entry.name, 40 * MS, 10)
            .delayed_acks()
            .bottleneck(8600, 172);
        let (mut losses, mut area) = (0, 0.0);
        while driver.now < 300_000 * MS {
            let (cwnd, start) = (driver.window.cwnd, driver.now);
            driver.round();
            area += f64::from(cwnd) * (driver.now - start) as f64;
            if driver.overflows() {
                losses += 1;
                driver.lose();
            }
        }
        let seconds = driver.now as f64 * 1e-9;
        let mean = area / driver.now as f64;
        writeln!(
            table,
            "{:<16}{losses:>8}{:>12.1}{mean:>12.2}{:>10.2}",
            entry.name,
            driver.delivered as f64 / seconds,
            (mean - 344.0).max(0.0),
        )
        .unwrap();
    }
    compare("bottleneck.txt", &table);
}
