//! Connections with the same addresses and ports in several overlay networks or VLANs.
//!
//! They may be several connections, of tenants that use the same addresses. Or they are one: its two directions are
//! routed through different VLANs, or the capture holds its frames on both sides of a router, a bridge or a tunnel. A
//! packet's numbers tell ([`Connection::continues`](crate::connection::Connection::continues)).

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use inorder_wire::FlowKey;

/// Connections of a family that are looked at; more of them are each on their own. So nobody who chooses the keys of
/// packets can make the search long.
const MAX_LOOKED_AT: usize = 4;

/// Finds relatives. As long as all connections are in the same overlay network, as in most captures, there are none, and
/// nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct Families {
    /// The overlay network of the first connection.
    first: Option<u32>,
    /// The places of the connections, once there are two overlay networks.
    places: Option<HashTable<u32>>,
    /// Keyed, since packets choose the keys.
    hasher: RandomState,
}

impl Families {
    /// Notes where a packet was found. True from the second overlay network on; the first time, the connections that
    /// exist must be [added](Families::add).
    pub(crate) fn note(&mut self, overlay: u32) -> bool {
        let first = *self.first.get_or_insert(overlay);
        self.places.is_some() || overlay != first
    }

    /// True if the connections that exist are not there yet.
    pub(crate) fn is_missing(&self) -> bool {
        self.places.is_none()
    }

    fn hash(&self, key: &FlowKey) -> u64 {
        self.hasher.hash_one(key.in_overlay(0))
    }

    /// The connections with the addresses and ports of `key`; `key_at` gives the key of the one at a place.
    pub(crate) fn of<'a>(
        &self,
        key: &FlowKey,
        key_at: impl Fn(u32) -> Option<&'a FlowKey>,
    ) -> Vec<u32> {
        let Some(places) = &self.places else {
            return Vec::new();
        };
        let found = places.iter_hash(self.hash(key)).copied();
        let related =
            |&place: &u32| key_at(place).is_some_and(|k| k.in_overlay(key.overlay) == *key);
        found.filter(related).take(MAX_LOOKED_AT).collect()
    }

    /// Adds the connection at `place`, unless its family is large.
    pub(crate) fn add<'a>(
        &mut self,
        place: u32,
        key: &FlowKey,
        key_at: impl Fn(u32) -> Option<&'a FlowKey> + Copy,
    ) {
        self.places.get_or_insert_default();
        if self.of(key, key_at).len() >= MAX_LOOKED_AT {
            return;
        }
        let hasher = &self.hasher;
        let again = |&place: &u32| key_at(place).map_or(0, |k| hasher.hash_one(k.in_overlay(0)));
        let hash = hasher.hash_one(key.in_overlay(0));
        if let Some(places) = &mut self.places {
            places.insert_unique(hash, place, again);
        }
    }

    /// Forgets the connection at `place`, whose key is `key`.
    pub(crate) fn remove(&mut self, place: u32, key: &FlowKey) {
        let hash = self.hash(key);
        if let Some(places) = &mut self.places
            && let Ok(found) = places.find_entry(hash, |&p| p == place)
        {
            found.remove();
        }
    }
}
