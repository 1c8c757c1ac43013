//! Numbered states: one flat array and a hash index.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// The states, in the order in which they were found.
#[derive(Debug, Clone)]
pub(crate) struct States {
    columns: usize,
    count: usize,
    tokens: Vec<u32>,
    index: HashTable<u32>,
    hasher: FixedState,
}

impl States {
    /// An empty set of states with `columns` numbers each.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            count: 0,
            tokens: Vec::new(),
            index: HashTable::new(),
            hasher: FixedState::with_seed(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory that they take; the index takes five bytes for each of its slots.
    pub(crate) fn memory_footprint(&self) -> usize {
        self.tokens.capacity() * size_of::<u32>() + self.index.capacity() * 5
    }

    pub(crate) fn get(&self, number: usize) -> &[u32] {
        &self.tokens[number * self.columns..][..self.columns]
    }

    /// The number of `state`, and whether it is new; `None` if it is new and the limit is reached.
    pub(crate) fn intern(&mut self, state: &[u32], limit: usize) -> Option<(u32, bool)> {
        let hash = hash(&self.hasher, state);
        let columns = self.columns;
        let at = |number: u32| &self.tokens[number as usize * columns..][..columns];
        if let Some(&found) = self.index.find(hash, |&number| at(number) == state) {
            return Some((found, false));
        }
        if self.count >= limit.min(u32::MAX as usize) {
            return None;
        }
        let number = self.count as u32;
        self.tokens.extend_from_slice(state);
        self.count += 1;
        let (tokens, hasher) = (&self.tokens, &self.hasher);
        self.index
            .insert_unique(hash, number, |&n| hash_of(hasher, tokens, columns, n));
        Some((number, true))
    }
}

fn hash_of(hasher: &FixedState, tokens: &[u32], columns: usize, number: u32) -> u64 {
    hash(hasher, &tokens[number as usize * columns..][..columns])
}

fn hash(hasher: &FixedState, state: &[u32]) -> u64 {
    let mut hasher = hasher.build_hasher();
    for pair in state.chunks(2) {
        let high = u64::from(pair.get(1).copied().unwrap_or(0));
        hasher.write_u64(u64::from(pair[0]) | high << 32);
    }
    hasher.finish()
}
