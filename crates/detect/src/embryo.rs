//! Connections of which only one packet was seen: a small record each, and a maximum number of them.
//!
//! Most of what a scan or a flood opens is never heard of again. A whole connection takes a kilobyte and
//! more; its first packet takes a tenth of that, and the oldest gives way where there are many. Should more
//! of it come after all, the connection begins there, as it does in a capture that was begun later.

use inorder_wire::{Complaint, ComplaintKind, Dir, FlowKey, Segment, TcpFlags};

use crate::result::{Attempt, Outcome};

/// Sets of records, by bits of the key's hash; a power of two. Trackers that share a capture share the
/// connections out by bits that are among these: each set is then one tracker's, and what gives
/// way does not depend on how many trackers there are.
const SETS: usize = 1 << 14;
/// Sets that get their places together, with the first record of one of them: most captures fill few.
const SETS_PER_GROUP: usize = 1 << 5;
/// Those bits begin here.
const FIRST_SET_BIT: u32 = 40;
/// Records of a set at most: 2^19 in all, in 72 MiB.
const RECORDS_PER_SET: usize = 32;
/// Share of the memory that records may take.
const PART: usize = 16;
/// Records for which a set has room at first, and which it may always have.
const FIRST_RECORDS: usize = 2;

/// The first packet of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embryo {
    pub(crate) key: FlowKey,
    pub(crate) dir: Dir,
    pub(crate) seg: Segment,
    /// How often this SYN was answered by a reset: some hosts send it again after that.
    refused: u8,
    /// What ICMP says of it.
    pub(crate) complaint: Option<ComplaintKind>,
}

impl Embryo {
    pub(crate) fn new(key: FlowKey, dir: Dir, seg: Segment) -> Self {
        let (refused, complaint) = (0, None);
        Embryo {
            key,
            dir,
            seg,
            refused,
            complaint,
        }
    }

    /// It carries data of a connection that is open: there is something to report.
    pub(crate) fn has_data(&self) -> bool {
        let unusual = TcpFlags::RST | TcpFlags::SYN;
        self.seg.payload_len > 0 && !self.seg.flags.any(unusual)
    }

    /// It opens a connection.
    fn is_syn(&self) -> bool {
        let flags = self.seg.flags;
        flags.any(TcpFlags::SYN) && !flags.any(TcpFlags::ACK | TcpFlags::RST)
    }

    /// This record behind `seg`, if that is all there is to remember: a reset that refuses the SYN, or a SYN that is sent
    /// again after one.
    pub(crate) fn refused_by(mut self, dir: Dir, seg: &Segment) -> Option<Embryo> {
        let opens = self.seg.flags.any(TcpFlags::SYN);
        let reset = seg.flags.any(TcpFlags::RST) && seg.payload_len == 0;
        if opens && reset {
            self.refused = self.refused.saturating_add(u8::from(dir != self.dir));
            return Some(self);
        }
        let again = self.refused > 0 && self.is_tried_by(dir, seg) && seg.seq == self.seg.seq;
        again.then_some(self)
    }

    /// `seg` opens another connection in the place of this one, which was refused.
    pub(crate) fn is_followed_by(&self, dir: Dir, seg: &Segment) -> bool {
        self.is_syn() && self.refused > 0 && self.is_tried_by(dir, seg) && seg.seq != self.seg.seq
    }

    /// The same host sends the SYN `seg`.
    fn is_tried_by(&self, dir: Dir, seg: &Segment) -> bool {
        dir == self.dir && seg.flags.any(TcpFlags::SYN) && !seg.flags.any(TcpFlags::ACK)
    }

    /// True if `seg`, which goes `dir`, answers this packet by its numbers.
    pub(crate) fn is_answered_by(&self, dir: Dir, seg: &Segment) -> bool {
        let syn = u32::from(self.seg.flags.any(TcpFlags::SYN));
        let end = self.seg.seq.wrapping_add(self.seg.payload_len + syn);
        let acked = seg.flags.any(TcpFlags::ACK)
            && (seg.ack == end || seg.ack == self.seg.seq.wrapping_add(1));
        dir != self.dir && acked
    }

    /// The attempt to open a connection of which this is all there is.
    pub(crate) fn attempt(&self) -> Option<Attempt> {
        let (src, dst) = self.key.ends(self.dir);
        let refused = u64::from(self.refused);
        self.is_syn().then(|| Attempt {
            first_ns: self.seg.ts_ns,
            last_ns: self.seg.ts_ns,
            src: src.socket_addr(),
            dst: dst.socket_addr(),
            overlay: self.key.overlay,
            syns: refused.max(1),
            packets: (2 * refused).max(1),
            hop_limit: self.seg.ttl,
            outcome: match (refused, self.complaint) {
                (0, None) => Outcome::Unanswered,
                (0, Some(_)) => Outcome::Unreachable,
                _ => Outcome::Refused,
            },
        })
    }
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Embryos {
    /// Groups of sets, each with the oldest record in front. Empty until there is one.
    groups: Vec<Vec<Vec<Embryo>>>,
    per_set: usize,
}

/// The group of the key's set, and its place there.
fn place_of(key: &FlowKey) -> (usize, usize) {
    let set = (key.rough_hash() >> FIRST_SET_BIT) as usize % SETS;
    (set / SETS_PER_GROUP, set % SETS_PER_GROUP)
}

impl Embryos {
    /// `memory` is for the whole analysis, bytes.
    pub(crate) fn new(memory: Option<usize>) -> Self {
        let room = |all: usize| all / PART / (SETS * size_of::<Embryo>());
        Embryos {
            groups: Vec::new(),
            per_set: memory
                .map_or(RECORDS_PER_SET, room)
                .clamp(FIRST_RECORDS, RECORDS_PER_SET),
        }
    }

    /// Keeps a first packet; the one that gives way to it, if there is one.
    pub(crate) fn put(&mut self, embryo: Embryo) -> Option<Embryo> {
        if self.groups.is_empty() {
            self.groups.resize_with(SETS / SETS_PER_GROUP, Vec::new);
        }
        let (group, place) = place_of(&embryo.key);
        let group = &mut self.groups[group];
        if group.is_empty() {
            group.resize_with(SETS_PER_GROUP, Vec::new);
        }
        let set = &mut group[place];
        let oldest = (set.len() >= self.per_set).then(|| set.remove(0));
        if set.capacity() == 0 {
            set.reserve_exact(FIRST_RECORDS);
        }
        set.push(embryo);
        oldest
    }

    fn set_of(&mut self, key: &FlowKey) -> Option<&mut Vec<Embryo>> {
        let (group, place) = place_of(key);
        self.groups.get_mut(group)?.get_mut(place)
    }

    /// Takes out the one whose key is that of another overlay network and that `is_it`.
    pub(crate) fn take_relative(
        &mut self,
        key: &FlowKey,
        is_it: impl Fn(&Embryo) -> bool,
    ) -> Option<Embryo> {
        let set = self.set_of(key)?;
        let related = |embryo: &Embryo| embryo.key.in_overlay(key.overlay) == *key;
        let at = set.iter().position(|e| related(e) && is_it(e))?;
        Some(set.remove(at))
    }

    /// An ICMP message about a packet of this key that goes `dir`.
    pub(crate) fn complain(&mut self, key: &FlowKey, dir: Dir, complaint: &Complaint) {
        let set = self.set_of(key).into_iter().flatten();
        let about =
            |e: &&mut Embryo| e.key == *key && e.dir == dir && complaint.may_quote(e.seg.seq);
        if let Some(embryo) = set.into_iter().find(about) {
            embryo.complaint = Some(complaint.kind);
        }
    }

    /// Takes out the one with this key.
    pub(crate) fn take(&mut self, key: &FlowKey) -> Option<Embryo> {
        let set = self.set_of(key)?;
        let at = set.iter().position(|embryo| embryo.key == *key)?;
        Some(set.remove(at))
    }

    /// Takes out those that are older than `since_ns`.
    pub(crate) fn take_older(&mut self, since_ns: i64) -> Vec<Embryo> {
        let old = |embryo: &mut Embryo| embryo.seg.ts_ns < since_ns;
        let sets = self.groups.iter_mut().flatten();
        let sets = sets.filter(|set| !set.is_empty());
        sets.flat_map(|set| set.extract_if(.., old)).collect()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.groups.iter().flatten().map(Vec::len).sum()
    }
}
