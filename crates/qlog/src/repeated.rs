//! Logs that are given twice: the file and a copy of it, or a folder's files beside one of them.

use std::collections::{HashMap, hash_map::RandomState};
use std::hash::BuildHasher;

use crate::connection::Connection;

/// Fewer packets than these prove nothing where no identifier does.
const MIN_PACKETS: usize = 8;

/// Removes connections of which an earlier one says the same, packet by packet, and returns how many there were. They
/// would count each loss once more, and the second log of one end would be taken for the other end's.
pub fn remove_repeated(connections: &mut Vec<Connection>) -> usize {
    let before = connections.len();
    // The hash has a key, so that no logs can be made that are all compared with each other.
    let (hasher, mut seen) = (RandomState::new(), HashMap::<u64, Vec<usize>>::new());
    let mut kept: Vec<Connection> = Vec::with_capacity(before);
    for connection in connections.drain(..) {
        let is_known = !connection.id.is_empty() || connection.packets() >= MIN_PACKETS;
        if is_known {
            let hash = hasher.hash_one(packets(&connection).collect::<Vec<_>>());
            let same_hash = seen.entry(hash).or_default();
            if same_hash
                .iter()
                .any(|&i| says_the_same(&kept[i], &connection))
            {
                continue;
            }
            same_hash.push(kept.len());
        }
        kept.push(connection);
    }
    *connections = kept;
    before - connections.len()
}

/// Number and time of each packet that was sent, then of each that was received, space by space.
fn packets(connection: &Connection) -> impl Iterator<Item = (u64, i64)> {
    connection.spaces.iter().flat_map(|space| {
        let sent = space
            .sent
            .iter()
            .map(|(number, sent)| (*number, sent.at_ns));
        let received = space.received.iter();
        sent.chain(received.map(|packet| (packet.number, packet.at_ns)))
    })
}

/// True if the same end of the same connection wrote both, with each packet at the same time.
fn says_the_same(a: &Connection, b: &Connection) -> bool {
    a.id == b.id && a.vantage() == b.vantage() && packets(a).eq(packets(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// A log of one end that sends `packets` packets, the last one at this time in milliseconds.
    fn log(vantage: &str, id: &str, packets: u64, last_ms: u64) -> Vec<Connection> {
        let sent = (0..packets).map(|number| {
            let ms = if number + 1 == packets { last_ms } else { number };
            format!(
                r#"{{"time":{ms},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}}}"#
            )
        });
        let events = sent.collect::<Vec<_>>().join(",");
        let text = format!(
            r#"{{"qlog_version":"0.3","traces":[{{"vantage_point":{{"type":"{vantage}"}},"common_fields":{{"ODCID":"{id}"}},"events":[{events}]}}]}}"#
        );
        read(text.as_bytes()).unwrap()
    }

    /// How many of these logs are repeated.
    fn repeated(logs: [Vec<Connection>; 2]) -> usize {
        let mut all: Vec<_> = logs.into_iter().flatten().collect();
        assert_eq!(all.len(), 2);
        remove_repeated(&mut all)
    }

    #[test]
    fn the_same_log_twice_is_one() {
        assert_eq!(
            repeated([log("client", "aa", 3, 9), log("client", "aa", 3, 9)]),
            1
        );
        assert_eq!(
            repeated([log("client", "", 8, 9), log("client", "", 8, 9)]),
            1
        );
    }

    #[test]
    fn what_only_resembles_another_is_kept() {
        // The other end, another connection, another time, and too few packets to know without an identifier.
        assert_eq!(
            repeated([log("client", "aa", 9, 9), log("server", "aa", 9, 9)]),
            0
        );
        assert_eq!(
            repeated([log("client", "aa", 9, 9), log("client", "bb", 9, 9)]),
            0
        );
        assert_eq!(
            repeated([log("client", "aa", 9, 9), log("client", "aa", 9, 10)]),
            0
        );
        assert_eq!(
            repeated([log("client", "", 3, 9), log("client", "", 3, 9)]),
            0
        );
    }
}
