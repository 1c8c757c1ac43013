//! One connection as two captures have it.

use inorder_wire::Dir;

use super::recorder::{Recorded, Way};
use super::result::Matched;

/// A connection in both captures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) here: &'a Recorded,
    pub(crate) there: &'a Recorded,
    pub(crate) matched: Matched,
    /// What goes from the lower endpoint to the higher here goes from the higher one there:
    /// other addresses, another order.
    pub(crate) flipped: bool,
}

impl<'a> Pair<'a> {
    /// What goes `dir` here, as this capture has it.
    pub(crate) fn here(&self, dir: Dir) -> &'a Way {
        self.here.way(dir)
    }

    /// What goes `dir` here, as the other capture has it.
    pub(crate) fn there(&self, dir: Dir) -> &'a Way {
        self.there.way(self.dir_there(dir))
    }

    /// What the other capture calls the direction `dir`.
    pub(crate) fn dir_there(&self, dir: Dir) -> Dir {
        if self.flipped { dir.reverse() } else { dir }
    }

    /// How much higher sequence numbers of data that goes `dir` are here.
    pub(crate) fn shift(&self, dir: Dir) -> u32 {
        match (self.matched, self.here(dir).isn, self.there(dir).isn) {
            (Matched::Distances, Some(here), Some(there)) => here.wrapping_sub(there),
            _ => 0,
        }
    }

    /// Time there minus time here of the packets in direction `dir`, ascending, nanoseconds.
    pub(crate) fn differences(&self, dir: Dir) -> Vec<i64> {
        let (here, there) = (self.here(dir), self.there(dir));
        match self.matched {
            Matched::Distances => here.relative.differences(&there.relative),
            _ => here.sample.differences(&there.sample),
        }
    }
}
