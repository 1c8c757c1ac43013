//! Every dialect carries data over a path with loss and reordering to every other, byte by byte.

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::dialects::{DIALECTS, Dialect};
use inorder_tcp::{Departure, Endpoint, Pair};

fn endpoint(dialect: &Dialect, seed: u64) -> Endpoint {
    let config = (dialect.build)().with(|config| {
        config.seed = seed;
        config.isn = 1000 * seed as u32;
    });
    Endpoint::with_names(&config, dialect.congestion, dialect.loss).unwrap()
}

#[test]
fn all_understand_each_other() {
    for sender in DIALECTS {
        for receiver in DIALECTS {
            let (client, server) = (endpoint(sender, 1), endpoint(receiver, 2));
            let mut pair = Pair::new(client, server, 10 * MS).with_fate(
                |departure: Departure<'_>, copies: &mut Vec<i64>| match departure.data_index {
                    _ if departure.segment.payload == 0 => copies.push(0),
                    number if number % 97 == 50 => {}
                    number if number % 31 == 7 => copies.push(5 * MS),
                    _ => copies.push(0),
                },
            );
            let done = pair.transfer(300_000, 300 * SECOND);
            assert_eq!(done, 300_000, "{} to {}", sender.name, receiver.name);
        }
    }
}

#[test]
fn names_are_unique_and_have_sources() {
    for (at, dialect) in DIALECTS.iter().enumerate() {
        let others = &DIALECTS[at + 1..];
        assert!(others.iter().all(|other| other.name != dialect.name));
        assert!(!dialect.source.is_empty(), "{}", dialect.name);
    }
}
