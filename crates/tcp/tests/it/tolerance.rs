//! One megabyte over paths that lose and reorder, with every loss detection: the table in `tolerance.txt` contains
//! the results, so that changes of behaviour appear as differences. `UPDATE_TABLES=1` regenerates it.

use std::fmt::Write;
use std::path::Path;

use inorder_base::random::Random;
use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::{Endpoint, Nanos, Pair, loss, profiles};

const BYTES: u64 = 2_000_000;

/// The random fates of data segments.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    lost: f64,
    late: f64,
    by: Nanos,
}

const CASES: [Case; 4] = [
    Case {
        name: "perfect",
        lost: 0.0,
        late: 0.0,
        by: 0,
    },
    Case {
        name: "1 % lost",
        lost: 0.01,
        late: 0.0,
        by: 0,
    },
    Case {
        name: "2 % late by 6 ms",
        lost: 0.0,
        late: 0.02,
        by: 6 * MS,
    },
    Case {
        name: "both",
        lost: 0.01,
        late: 0.02,
        by: 6 * MS,
    },
];

/// 10 Mb/s, 40 ms there and back: segments leave 1.2 ms apart.
fn run(detection: &str, case: Case) -> Pair {
    // Slow start ends before it fills the queue, because the table is about tolerance and not about overshoot.
    let config = profiles::linux_6().with(|config| config.cwnd.ssthresh = 60);
    let end = || Endpoint::with_names(&config, "reno", detection).unwrap();
    let mut random = Random::new(2, case.name);
    let mut link_free = 0;
    let mut pair = Pair::new(end(), end(), 20 * MS).with_fate(move |departure, copies| {
        if departure.segment.payload == 0 {
            copies.push(0);
            return;
        }
        link_free = link_free.max(departure.now) + 1_200_000;
        let queued = link_free - departure.now;
        let (lost, late) = (random.chance(case.lost), random.chance(case.late));
        if !lost && queued < 150 * MS {
            copies.push(queued + if late { case.by } else { 0 });
        }
    });
    assert_eq!(
        pair.transfer(BYTES, 600 * SECOND),
        BYTES,
        "{detection} {}",
        case.name
    );
    pair
}

fn table() -> String {
    let mut text = format!(
        "{:<16} {:<18} {:>8} {:>7} {:>8} {:>10} {:>8} {:>7} {:>9}\n",
        "loss detection",
        "path",
        "ms",
        "resent",
        "spurious",
        "recoveries",
        "timeouts",
        "undone",
        "threshold"
    );
    for entry in loss::REGISTRY {
        for case in CASES {
            let pair = run(entry.name, case);
            let (sender, receiver) = (pair.client.counters(), pair.server.counters());
            let _ = writeln!(
                text,
                "{:<16} {:<18} {:>8} {:>7} {:>8} {:>10} {:>8} {:>7} {:>9}",
                entry.name,
                case.name,
                pair.now / MS,
                sender.sent.retrans_segs,
                receiver.received.duplicate_segs_in,
                sender.recoveries.fast_recoveries,
                sender.recoveries.tcp_timeouts,
                sender.undos.undone_recoveries,
                pair.client.info().reordering,
            );
        }
    }
    text
}

#[test]
fn the_table_is_unchanged() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tolerance.txt");
    let text = table();
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (before, now) in kept.lines().zip(text.lines()) {
        assert_eq!(before, now, "UPDATE_TABLES=1 regenerates it");
    }
    assert_eq!(kept.lines().count(), text.lines().count());
}
