//! What connections may hold of the memory, and those that were ended early because they held more.
//!
//! Connections are spread over parts by bits of their addresses, as they are spread over the trackers that share a
//! capture, and each part has the same share of the memory. So what is ended early does not depend on how many trackers
//! there are.

use inorder_wire::FlowKey;

use crate::remembered::Remembered;

/// Parts of the connections; a power of two. Trackers that share a capture each have one part or all.
pub(crate) const PARTS: usize = 8;
/// The number of the part begins with this bit of the hash, as it does where connections are shared out.
pub(crate) const FIRST_PART_BIT: u32 = 40;
/// Share of the memory that connections may hold, in 16ths; the others are for reports, streams, and buffers.
const CONNECTIONS_16THS: usize = 11;
/// A share that is full is freed by this part of it at once, for every search looks at all connections.
const FREED_PART: usize = 8;
/// The bytes that all connections of a tracker hold.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes of each part at most; `usize::MAX` without a limit.
    most: usize,
    held: [usize; PARTS],
    /// Connections that were ended early: their later packets are not those of new connections.
    ended: Remembered,
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
            ended: Remembered::new(memory),
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

    /// Connections that were ended early.
    pub(crate) fn ended(&mut self) -> &mut Remembered {
        &mut self.ended
    }
}
