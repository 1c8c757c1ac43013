//! What connections may hold of the memory, and those that were ended early because they held more.
//!
//! Connections are spread over parts by bits of their addresses, as they are spread over the trackers that share a
//! capture, and each part has the same share of the memory. So what is ended early does not depend on how many trackers
//! there are.

use inorder_wire::FlowKey;

/// Parts of the connections; a power of two. Trackers that share a capture each have one part or all.
const PARTS: usize = 8;
/// The number of the part begins with this bit of the hash, as it does where connections are shared out.
const FIRST_PART_BIT: u32 = 40;
/// Share of the memory that connections may hold, in 16ths; the others are for reports, streams, and buffers.
const CONNECTIONS_16THS: usize = 11;
/// A share that is full is freed by this part of it at once, for every search looks at all connections.
const FREED_PART: usize = 8;
/// Share of the memory for the names of connections that were ended.
const NAMES_PART: usize = 16;
/// Connections that were ended and are known by name, at most: 32 MB.
const MAX_NAMES: usize = 1 << 22;
/// Names of a set. The oldest gives way.
const NAMES_PER_SET: usize = 8;

/// The bytes that all connections of a tracker hold.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes of each part at most; `usize::MAX` without a limit.
    most: usize,
    held: [usize; PARTS],
    ended: Ended,
}

/// The part to which a connection belongs.
pub(crate) fn part_of(key: &FlowKey) -> usize {
    (key.rough_hash() >> FIRST_PART_BIT) as usize % PARTS
}

impl Budget {
    /// `memory` is for everything, bytes.
    pub(crate) fn new(memory: Option<usize>) -> Self {
        Budget {
            most: memory.map_or(usize::MAX, |all| all / 16 * CONNECTIONS_16THS / PARTS),
            held: [0; PARTS],
            ended: Ended::new(memory.unwrap_or(0)),
        }
    }

    pub(crate) fn has_limit(&self) -> bool {
        self.most != usize::MAX
    }

    /// A connection that held `before` bytes holds `now`. True if its part holds too much.
    pub(crate) fn change(&mut self, part: usize, before: usize, now: usize) -> bool {
        self.held[part] = (self.held[part] + now).saturating_sub(before);
        self.held[part] > self.most
    }

    /// The parts that hold too much.
    pub(crate) fn full_parts(&self) -> Vec<usize> {
        let full = |part: &usize| self.held[*part] > self.most;
        (0..PARTS).filter(full).collect()
    }

    /// Connections of this part must be ended until it holds less.
    pub(crate) fn is_above_rest(&self, part: usize) -> bool {
        self.held[part] > self.most - self.most / FREED_PART
    }

    /// See [`Ended`].
    pub(crate) fn ended(&mut self) -> &mut Ended {
        &mut self.ended
    }
}

/// The names of connections that were ended early: their later packets are not those of new connections.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Hashes of names, the latest of a set in front, 0 for none. Empty until there is one.
    sets: Vec<[u64; NAMES_PER_SET]>,
    /// A power of two.
    most_sets: usize,
}

impl Ended {
    fn new(memory: usize) -> Self {
        let names = (memory / NAMES_PART / size_of::<u64>()).clamp(1 << 10, MAX_NAMES);
        Ended {
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

    /// True if the connection was ended.
    pub(crate) fn has(&mut self, key: &FlowKey, hash: u64) -> bool {
        self.set(key).is_some_and(|set| set.contains(&(hash | 1)))
    }

    /// What comes from now on under this name is another connection.
    pub(crate) fn forget(&mut self, key: &FlowKey, hash: u64) {
        let set = self.set(key).into_iter().flatten();
        set.filter(|name| **name == hash | 1)
            .for_each(|name| *name = 0);
    }
}
