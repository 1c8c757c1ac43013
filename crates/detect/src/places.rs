//! Where the connections of a capture are.

use std::hash::{BuildHasher, RandomState};

use inorder_sort::hash_words;
use inorder_wire::{Dir, FlowKey};

use crate::connection::Connection;

/// Where a connection is, and one of the overlay networks in which it is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    pub(crate) overlay: u32,
}

/// The connections by their places.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) all: Vec<Option<Connection>>,
    /// The key of the hash, since packets choose the keys of connections (SipHash, Aumasson and Bernstein 2012).
    seed: u64,
}

impl Connections {
    pub(crate) fn new() -> Self {
        Connections {
            all: Vec::new(),
            seed: RandomState::new().hash_one(0),
        }
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Connection> {
        self.all.get(slot as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection> {
        self.all.get_mut(slot as usize)?.as_mut()
    }

    pub(crate) fn key(&self, slot: u32) -> Option<&FlowKey> {
        self.get(slot).map(|connection| &connection.head.key)
    }

    pub(crate) fn is_at(&self, place: &Place, key: &FlowKey) -> bool {
        let found = self.key(place.slot);
        found.is_some_and(|found| found.in_overlay(place.overlay) == *key)
    }

    pub(crate) fn hash(&self, place: &Place) -> u64 {
        let found = self.key(place.slot);
        found.map_or(0, |found| self.hash_of(&found.in_overlay(place.overlay)))
    }

    pub(crate) fn hash_of(&self, key: &FlowKey) -> u64 {
        hash_words(&key.words(Dir::LowToHigh), self.seed)
    }
}
