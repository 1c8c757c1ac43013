//! Connections of which only one packet was seen: a small record each, and no more than so many.
//!
//! Most of what a scan or a flood opens is never heard of again. A whole connection takes a kilobyte and
//! more, and so does a report; its first packet takes a tenth of that, and the oldest gives way where
//! there are many. Of what gives way, or ends, with a single packet of data, some are reported and
//! the others counted: nothing can be told of one packet. Should more of it come after all, the
//! connection begins there, as it does in a capture that was begun later.

use inorder_wire::{Dir, FlowKey, Segment, TcpFlags};

/// Sets of records, by bits of the key's hash; a power of two. Trackers that share a capture share the
/// connections out by bits that are among these: each set is then one tracker's, and what gives
/// way does not depend on how many trackers there are.
const SETS: usize = 1 << 14;
/// Those bits begin here.
const FIRST_SET_BIT: u32 = 40;
/// Records of a set: 2^17 in all, in 16 MiB.
const RECORDS_PER_SET: usize = 8;
/// Connections of a single packet that a set reports: 32,768 in all. A report takes 1.2 kB.
const MAX_REPORTED_PER_SET: u8 = 2;

/// The first packet of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embryo {
    pub(crate) key: FlowKey,
    pub(crate) dir: Dir,
    pub(crate) seg: Segment,
}

impl Embryo {
    /// It opens a connection and carries nothing.
    pub(crate) fn is_bare_syn(&self) -> bool {
        self.seg.flags.any(TcpFlags::SYN) && self.seg.payload_len == 0
    }
}

/// Flows of a single packet that are only counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SinglePackets {
    /// Flows, each of one packet with data.
    pub flows: u64,
    /// Their payload bytes.
    pub bytes: u64,
}

#[derive(Debug, Default)]
struct Set {
    /// The oldest in front.
    embryos: Vec<Embryo>,
    reported: u8,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Embryos {
    /// Empty until there is one.
    sets: Vec<Set>,
    counted: SinglePackets,
}

fn set_of(key: &FlowKey) -> usize {
    (key.rough_hash() >> FIRST_SET_BIT) as usize % SETS
}

impl Embryos {
    /// Keeps a first packet; the one that gives way to it, if that is to be reported.
    pub(crate) fn put(&mut self, embryo: Embryo) -> Option<Embryo> {
        if self.sets.is_empty() {
            self.sets.resize_with(SETS, Set::default);
        }
        let set = &mut self.sets[set_of(&embryo.key)];
        let oldest = (set.embryos.len() >= RECORDS_PER_SET).then(|| set.embryos.remove(0));
        set.embryos.push(embryo);
        oldest.filter(|old| set.reports(old, &mut self.counted))
    }

    /// Takes out the one with this key.
    pub(crate) fn take(&mut self, key: &FlowKey) -> Option<Embryo> {
        let set = &mut self.sets.get_mut(set_of(key))?.embryos;
        let at = set.iter().position(|embryo| embryo.key == *key)?;
        Some(set.remove(at))
    }

    /// Takes out those that are older than `since_ns`; returns the ones to be reported.
    pub(crate) fn take_older(&mut self, since_ns: i64) -> Vec<Embryo> {
        let mut out = Vec::new();
        for set in self.sets.iter_mut().filter(|set| !set.embryos.is_empty()) {
            let old = |embryo: &mut Embryo| embryo.seg.ts_ns < since_ns;
            let gone: Vec<Embryo> = set.embryos.extract_if(.., old).collect();
            let told = gone.into_iter();
            out.extend(told.filter(|embryo| set.reports(embryo, &mut self.counted)));
        }
        out
    }

    /// What was counted and not reported.
    pub(crate) fn counted(&self) -> SinglePackets {
        self.counted
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.sets.iter().map(|set| set.embryos.len()).sum()
    }
}

impl Set {
    /// Whether the end of a connection of one packet is reported; counts it if not.
    fn reports(&mut self, embryo: &Embryo, counted: &mut SinglePackets) -> bool {
        let bytes = embryo.seg.payload_len;
        if bytes == 0 || embryo.seg.flags.any(TcpFlags::RST) {
            return false; // It carried no data.
        }
        if self.reported < MAX_REPORTED_PER_SET {
            self.reported += 1;
            return true;
        }
        counted.flows += 1;
        counted.bytes += u64::from(bytes);
        false
    }
}
