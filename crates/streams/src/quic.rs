//! Counts connections of QUIC. Their packet numbers are encrypted (RFC 9001 section 5.4), so nothing more is known of them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use inorder_wire::{Dir, FlowKey, Quic};

/// Pairs of ends that are remembered; what further ones send is not counted.
const MAX_ENDS: usize = 1 << 16;

/// Maximum number of connections between the same two ends that are distinguished.
const MAX_SOURCES: usize = 64;

/// The datagrams of all connections so far.
#[derive(Default, Debug)]
pub struct QuicFlows {
    /// By addresses and ports. A long header makes an entry.
    ends: HashMap<FlowKey, Ends>,
    full: bool,
}

#[derive(Default, Debug)]
struct Ends {
    datagrams: u64,
    version: Option<u32>,
    /// Hashes of the source connection identifiers in each direction: one for each connection.
    sources: [Vec<u32>; 2],
}

/// What a capture has of QUIC.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct QuicCounts {
    /// Connections whose first packets are in the capture, by addresses, ports and source connection identifiers.
    pub connections: u64,
    /// Datagrams with their packets, from the first long header on. What goes on from another address is not counted.
    pub datagrams: u64,
    /// Versions with the number of connections that used them; `None` if only an offer of versions was captured.
    pub versions: Vec<(Option<u32>, u64)>,
    /// True if there may be more of all this than is counted.
    pub is_least: bool,
}

impl QuicFlows {
    /// Takes a datagram of QUIC, or one that may be: it counts if a long header went between the same ends before.
    pub fn push(&mut self, key: &FlowKey, dir: Dir, packet: &Quic) {
        let is_full = self.ends.len() >= MAX_ENDS;
        let ends = match (self.ends.entry(*key), packet) {
            (Entry::Occupied(known), _) => known.into_mut(),
            (Entry::Vacant(_), Quic::Short) => return,
            (Entry::Vacant(_), _) if is_full => {
                self.full = true;
                return;
            }
            (Entry::Vacant(new), _) => new.insert(Ends::default()),
        };
        ends.datagrams += 1;
        let Quic::Long { version, source } = *packet else {
            return;
        };
        // Ends may change to another version while they agree (RFC 9368): the last one counts.
        ends.version = version.or(ends.version);
        let sources = &mut ends.sources[dir.index()];
        if let Some(source) = source.filter(|source| !sources.contains(source)) {
            match sources.len() < MAX_SOURCES {
                true => sources.push(source),
                false => self.full = true,
            }
        }
    }

    /// The counts over all connections.
    pub fn finish(&self) -> QuicCounts {
        let mut counts = QuicCounts {
            is_least: self.full,
            ..QuicCounts::default()
        };
        let mut versions = BTreeMap::new();
        for ends in self.ends.values() {
            let sources = ends.sources.iter().map(Vec::len).max();
            let connections = sources.unwrap_or(0).max(1) as u64;
            counts.connections += connections;
            counts.datagrams += ends.datagrams;
            *versions.entry(ends.version).or_insert(0) += connections;
        }
        counts.versions = versions.into_iter().collect();
        counts.versions.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        counts
    }
}

impl QuicCounts {
    /// Adds the counts of another part of the capture, which has other connections.
    pub fn add(&mut self, other: &QuicCounts) {
        self.connections += other.connections;
        self.datagrams += other.datagrams;
        self.is_least |= other.is_least;
        for (version, n) in &other.versions {
            match self.versions.iter_mut().find(|(known, _)| known == version) {
                Some((_, sum)) => *sum += n,
                None => self.versions.push((*version, *n)),
            }
        }
    }

    /// The names of the versions, the most frequent first: `version 1, draft 29`.
    pub fn version_names(&self) -> String {
        let names = self.versions.iter().map(|(version, _)| match version {
            None => "no version agreed".to_owned(),
            Some(1) => "version 1".to_owned(),
            // RFC 9369.
            Some(0x6b33_43cf) => "version 2".to_owned(),
            Some(draft @ 0xff00_0000..=0xff00_00ff) => format!("draft {}", draft & 0xff),
            // RFC 9000 section 15.
            Some(other) if other & 0x0f0f_0f0f == 0x0a0a_0a0a => "a reserved version".to_owned(),
            Some(other) => format!("version {other:#010x}"),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_wire::Endpoint;

    fn counts(datagrams: &[(u16, bool, Quic)]) -> QuicCounts {
        let mut flows = QuicFlows::default();
        for &(port, back, packet) in datagrams {
            let (client, server) = (Endpoint::v4(1, port), Endpoint::v4(2, 443));
            let (src, dst) = if back {
                (server, client)
            } else {
                (client, server)
            };
            let (key, dir) = FlowKey::new(src, dst, 0);
            flows.push(&key, dir, &packet);
        }
        flows.finish()
    }

    fn long(version: u32, source: u32) -> Quic {
        Quic::Long {
            version: Some(version),
            source: Some(source),
        }
    }

    #[test]
    fn datagrams_count_from_the_first_long_header_on() {
        let found = counts(&[
            (7, false, Quic::Short),
            (7, false, long(1, 5)),
            (7, true, long(1, 6)),
            (7, false, Quic::Short),
            (7, true, Quic::Short),
            (8, false, Quic::Short),
            (9, false, long(0x6b33_43cf, 5)),
        ]);
        assert_eq!((found.connections, found.datagrams), (2, 5));
        assert_eq!(found.version_names(), "version 1, version 2");
    }

    #[test]
    fn connections_between_the_same_ends_are_told_apart_by_their_source() {
        let nothing = Quic::Long {
            version: None,
            source: None,
        };
        let found = counts(&[
            (7, false, long(1, 5)),
            (7, true, nothing),
            (7, true, long(1, 6)),
            (7, false, long(1, 5)),
            (7, false, long(1, 8)),
        ]);
        assert_eq!((found.connections, found.datagrams), (2, 5));
        let offer = counts(&[(7, true, nothing)]);
        assert_eq!((offer.connections, &offer.versions), (1, &vec![(None, 1)]));
        assert_eq!(offer.version_names(), "no version agreed");
        let reserved = counts(&[(7, false, long(0x1a2a_3a4a, 5))]);
        assert_eq!(reserved.version_names(), "a reserved version");
    }
}
