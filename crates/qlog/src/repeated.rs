//! Logs that are given twice: the file and a copy of it, or a folder's files beside one of them.

use std::collections::HashMap;

use crate::connection::Connection;

/// Fewer packets than these prove nothing where no identifier does.
const MIN_PACKETS: usize = 8;

/// Removes connections of which an earlier one says the same, packet by packet, and returns how many there were. They
/// would count each loss once more, and the second log of one end would be taken for the other end's.
pub fn remove_repeated(connections: &mut Vec<Connection>) -> usize {
    let before = connections.len();
    let mut kept: Vec<Connection> = Vec::with_capacity(before);
    let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
    for connection in connections.drain(..) {
        let outline = (
            connection.id.clone(),
            connection.span(),
            connection.packets(),
        );
        let same_outline = alike.entry(outline).or_default();
        if !same_outline
            .iter()
            .any(|i| says_the_same(&kept[*i], &connection))
        {
            same_outline.push(kept.len());
            kept.push(connection);
        }
    }
    *connections = kept;
    before - connections.len()
}

/// True if the same end wrote both, and each packet of one was sent or received at the same time in the other.
fn says_the_same(a: &Connection, b: &Connection) -> bool {
    let is_known = !a.id.is_empty() || a.packets() >= MIN_PACKETS;
    let same_packets = || {
        a.spaces.iter().zip(&b.spaces).all(|(a, b)| {
            let sent = a.sent.iter().map(|(number, sent)| (*number, sent.at_ns));
            let received = a
                .received
                .iter()
                .map(|packet| (packet.number, packet.at_ns));
            sent.eq(b.sent.iter().map(|(number, sent)| (*number, sent.at_ns)))
                && received.eq(b
                    .received
                    .iter()
                    .map(|packet| (packet.number, packet.at_ns)))
        })
    };
    is_known && a.vantage() == b.vantage() && same_packets()
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
