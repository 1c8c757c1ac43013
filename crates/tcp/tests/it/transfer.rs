//! Whole transfers over paths with prescribed losses and delays.

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::{Endpoint, Pair, State, profiles};

fn pair(profile: &str, congestion: &str, loss: &str) -> Pair {
    let config = (profiles::find(profile).unwrap().build)();
    let end = || Endpoint::with_names(&config, congestion, loss).unwrap();
    Pair::new(end(), end(), 10 * MS)
}

#[test]
fn a_perfect_path_takes_everything_once() {
    for profile in profiles::PROFILES {
        let mut pair = pair(profile.name, "reno", "static");
        assert_eq!(
            pair.transfer(2_000_000, 100 * SECOND),
            2_000_000,
            "{}",
            profile.name
        );
        assert_eq!(pair.client.state(), State::TimeWait, "{}", profile.name);
        assert_eq!(pair.server.state(), State::Closed, "{}", profile.name);
        let counters = pair.client.counters();
        assert_eq!(counters.sent.retrans_segs, 0, "{}", profile.name);
        assert_eq!(counters.acks.dup_acks_in, 0, "{}", profile.name);
        assert_eq!(counters.sent.bytes_acked, 2_000_000);
    }
}

#[test]
fn one_lost_segment_is_retransmitted_once() {
    for profile in profiles::PROFILES {
        for congestion in ["reno", "cubic"] {
            let mut pair = pair(profile.name, congestion, "static").with_fate(|d, copies| {
                if d.segment.payload == 0 || d.data_index != 60 {
                    copies.push(0);
                }
            });
            let name = profile.name;
            assert_eq!(pair.transfer(1_000_000, 100 * SECOND), 1_000_000, "{name}");
            let counters = pair.client.counters();
            assert_eq!(
                counters.sent.retrans_segs, 1,
                "{name} {congestion} {counters:?}"
            );
            let recoveries =
                counters.recoveries.tcp_sack_recovery + counters.recoveries.tcp_reno_recovery;
            assert_eq!(recoveries, 1, "{name}");
            assert_eq!(counters.recoveries.tcp_timeouts, 0, "{name}");
        }
    }
}
