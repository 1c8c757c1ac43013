//! Connections of which nothing is left but that there was one.

use inorder_wire::FlowKey;

use crate::budget::{FIRST_PART_BIT, PARTS, part_of};

/// Share of the memory for names.
const NAMES_PART: usize = 16;
/// Names at most: 32 MB.
const MAX_NAMES: usize = 1 << 22;
/// Names of a set. The oldest gives way.
const NAMES_PER_SET: usize = 8;

/// Connections by name, a bounded number of them.
#[derive(Debug)]
pub(crate) struct Remembered {
    /// Hashes of names, the latest of a set in front, 0 for none. Empty until there is one.
    sets: Vec<[u64; NAMES_PER_SET]>,
    /// A power of two.
    most_sets: usize,
}

impl Remembered {
    /// `memory` is for the whole analysis, bytes.
    pub(crate) fn new(memory: Option<usize>) -> Self {
        let room = |memory| memory / NAMES_PART / size_of::<u64>();
        let names = memory.map_or(MAX_NAMES, room).clamp(1 << 10, MAX_NAMES);
        Remembered {
            sets: Vec::new(),
            most_sets: 1 << (names / NAMES_PER_SET).ilog2(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Each part has its own sets, side by side: a tracker of one part touches no others.
    fn set(&mut self, key: &FlowKey) -> Option<&mut [u64; NAMES_PER_SET]> {
        let bits = (key.rough_hash() >> FIRST_PART_BIT) as usize / PARTS;
        let of_part = (self.sets.len() / PARTS).max(1);
        self.sets.get_mut(part_of(key) * of_part + bits % of_part)
    }

    /// `hash` is that of the whole `key`, with a secret: keys that packets choose do not collide in it.
    pub(crate) fn add(&mut self, key: &FlowKey, hash: u64) {
        if self.sets.is_empty() {
            self.sets = vec![[0; NAMES_PER_SET]; self.most_sets];
        }
        if let Some(set) = self.set(key) {
            set.rotate_right(1);
            set[0] = hash | 1;
        }
    }

    /// True if it is remembered.
    pub(crate) fn has(&mut self, key: &FlowKey, hash: u64) -> bool {
        self.set(key).is_some_and(|set| set.contains(&(hash | 1)))
    }

    /// It is not remembered any more.
    pub(crate) fn forget(&mut self, key: &FlowKey, hash: u64) {
        let set = self.set(key).into_iter().flatten();
        set.filter(|name| **name == hash | 1)
            .for_each(|name| *name = 0);
    }
}
