//! Every congestion control in a real sender: all bytes arrive.

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::{Endpoint, Pair, congestion, profiles};

const BYTES: u64 = 3_000_000;

/// Every 97th data segment is lost, every 31st arrives 3 ms late.
fn rough_pair(profile: &str, congestion: &str) -> Pair {
    let config = (profiles::find(profile).unwrap().build)();
    let end = || Endpoint::with_names(&config, congestion, "static").unwrap();
    Pair::new(end(), end(), 10 * MS).with_fate(|departure, copies| {
        let data = departure.segment.payload > 0;
        match departure.data_index {
            n if data && n % 97 == 96 => {}
            n if data && n % 31 == 30 => copies.push(3 * MS),
            _ => copies.push(0),
        }
    })
}

#[test]
fn every_byte_arrives_over_a_rough_path() {
    for profile in profiles::PROFILES {
        for entry in congestion::REGISTRY {
            let mut pair = rough_pair(profile.name, entry.name);
            let name = format!("{} {}", profile.name, entry.name);
            assert_eq!(pair.transfer(BYTES, 3_000 * SECOND), BYTES, "{name}");
            assert_eq!(pair.client.counters().sent.bytes_acked, BYTES, "{name}");
            assert!(pair.client.counters().sent.retrans_segs >= 20, "{name}");
        }
    }
}

/// The same run twice gives the same result.
#[test]
fn a_run_repeats_itself_to_the_nanosecond() {
    for entry in congestion::REGISTRY {
        let run = || {
            let mut pair = rough_pair("linux-6", entry.name);
            pair.transfer(BYTES, 600 * SECOND);
            (pair.now, pair.client.counters().clone())
        };
        assert_eq!(run(), run(), "{}", entry.name);
    }
}

/// A path of 20 ms without a bottleneck and one early loss: faster growth means earlier completion.
#[test]
fn faster_growth_completes_earlier() {
    let time = |name: &str| {
        let config = (profiles::find("linux-6").unwrap().build)();
        let end = || Endpoint::with_names(&config, name, "static").unwrap();
        let mut pair = Pair::new(end(), end(), 50 * MS).with_fate(|departure, copies| {
            if departure.segment.payload == 0 || departure.data_index != 300 {
                copies.push(0);
            }
        });
        assert_eq!(
            pair.transfer(30_000_000, 600 * SECOND),
            30_000_000,
            "{name}"
        );
        pair.now
    };
    let (reno, scalable, bic) = (time("reno"), time("yeah"), time("bic"));
    assert!(bic < reno && scalable < reno, "{reno} {scalable} {bic}");
}
