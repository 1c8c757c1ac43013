//! Connections of which only one packet was seen: a small record each, and no more than so many.
//!
//! Most of what a scan or a flood opens is never heard of again. A whole connection takes a kilobyte and
//! more; its first packet takes a tenth of that, and the oldest gives way where there are many. Should more
//! of it come after all, the connection begins there, as it does in a capture that was begun later.

use inorder_wire::{Dir, FlowKey, Segment, TcpFlags};

/// Sets of records, by bits of the key's hash; a power of two. Trackers that share a capture share the
/// connections out by bits that are among these: each set is then one tracker's, and what gives
/// way does not depend on how many trackers there are.
const SETS: usize = 1 << 14;
/// Those bits begin here.
const FIRST_SET_BIT: u32 = 40;
/// Records of a set: 2^17 in all, in 16 MiB.
const RECORDS_PER_SET: usize = 8;

/// The first packet of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embryo {
    pub(crate) key: FlowKey,
    pub(crate) dir: Dir,
    pub(crate) seg: Segment,
}

impl Embryo {
    /// It carries data: there is something to report.
    fn has_data(&self) -> bool {
        self.seg.payload_len > 0 && !self.seg.flags.any(TcpFlags::RST)
    }

    /// It opens a connection and carries nothing.
    pub(crate) fn is_bare_syn(&self) -> bool {
        self.seg.flags.any(TcpFlags::SYN) && self.seg.payload_len == 0
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Embryos {
    /// The oldest of a set in front. Empty until there is one.
    sets: Vec<Vec<Embryo>>,
}

fn set_of(key: &FlowKey) -> usize {
    (key.rough_hash() >> FIRST_SET_BIT) as usize % SETS
}

impl Embryos {
    /// Keeps a first packet; the one that gives way to it, if that carried data.
    pub(crate) fn put(&mut self, embryo: Embryo) -> Option<Embryo> {
        if self.sets.is_empty() {
            self.sets.resize_with(SETS, Vec::new);
        }
        let set = &mut self.sets[set_of(&embryo.key)];
        let oldest = (set.len() >= RECORDS_PER_SET).then(|| set.remove(0));
        set.push(embryo);
        oldest.filter(Embryo::has_data)
    }

    /// Takes out the one with this key.
    pub(crate) fn take(&mut self, key: &FlowKey) -> Option<Embryo> {
        let set = self.sets.get_mut(set_of(key))?;
        let at = set.iter().position(|embryo| embryo.key == *key)?;
        Some(set.remove(at))
    }

    /// Takes out those that are older than `since_ns`; returns the ones that carried data.
    pub(crate) fn take_older(&mut self, since_ns: i64) -> Vec<Embryo> {
        let old = |embryo: &mut Embryo| embryo.seg.ts_ns < since_ns;
        let sets = self.sets.iter_mut().filter(|set| !set.is_empty());
        let gone = sets.flat_map(|set| set.extract_if(.., old));
        gone.filter(Embryo::has_data).collect()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}
