//! One capture's share of a comparison: what has to be remembered of it.

use std::collections::HashMap;

use inorder_wire::{Dir, FlowKey, Has, Segment, TcpFlags};

use super::sample::Sample;
use inorder_detect::{Acceptance, Evidence};

/// A captured packet with data, or the FIN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataFrame {
    pub(crate) ts_ns: i64,
    pub(crate) number: u64,
    /// Sequence number of the first payload byte.
    pub(crate) seq: u32,
    pub(crate) len: u32,
    pub(crate) tsval: u32,
    pub(crate) ip_id: u16,
    /// Bytes of TCP options, which take their room from the segment.
    pub(crate) options: u8,
    /// Bits of [`Has`], and [`REFUSED_BIT`].
    pub(crate) has: u8,
}

/// Bit of [`DataFrame::has`]: a receiver that this capture was made beside would have discarded the frame,
/// and went on asking for its bytes. [`Has`] does not use it.
const REFUSED_BIT: u8 = 0x80;
/// Frames that may turn out to have been taken after all.
const MAX_SUSPECTED_FRAMES: usize = 256;

impl DataFrame {
    /// The receiver discarded it, if this is its own capture.
    pub(crate) fn refused(&self) -> bool {
        self.has & REFUSED_BIT != 0
    }

    /// Shares bytes with `[from, to)`, modulo 2^32.
    fn overlaps(&self, from: u32, to: u32) -> bool {
        let end = self.seq.wrapping_add(self.len);
        (from.wrapping_sub(end) as i32) < 0 && (self.seq.wrapping_sub(to) as i32) < 0
    }

    fn of(seg: &Segment) -> Self {
        let stamps = if seg.has(Has::TIMESTAMPS) { 12 } else { 0 };
        let sack = match seg.sack_blocks().len() {
            0 => 0,
            // Two bytes of padding, kind, length, and eight bytes a block (RFC 2018 section 3).
            blocks => 4 + 8 * blocks as u8,
        };
        DataFrame {
            ts_ns: seg.ts_ns,
            number: seg.frame,
            seq: first_byte(seg),
            len: seg.payload_len,
            tsval: seg.tsval,
            ip_id: seg.ip_id,
            options: stamps + sack,
            has: seg.has,
        }
    }
}

/// The SYN itself takes a sequence number (RFC 9293 section 3.4).
fn first_byte(seg: &Segment) -> u32 {
    let syn = u32::from(seg.flags.any(TcpFlags::SYN));
    seg.seq.wrapping_add(syn)
}

/// One direction of a connection in one capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    pub(crate) frames: Vec<DataFrame>,
    /// Sequence number of the SYN.
    pub(crate) isn: Option<u32>,
    /// MSS option of the SYN, 0 if unknown.
    pub(crate) mss: u16,
    /// Where the capture's own analysis counts from: after the SYN, or the first data seen.
    pub(crate) base: Option<u32>,
    /// Highest acknowledgement that the other host sent for this direction.
    pub(crate) acked: Option<u32>,
    /// The first FIN that is a packet of its own: it takes a number (RFC 9293 section 3.4), and may overtake data.
    pub(crate) end: Option<DataFrame>,
    pub(crate) sample: Sample,
    /// The sample of packets by their distances from the initial sequence numbers, since both of these are known.
    pub(crate) relative: Sample,
    pub(crate) fin: bool,
    /// The receiver of this way, to tell what it discards.
    pub(crate) receiver: Acceptance,
    /// Indices of the frames that the receiver should have discarded and has not acknowledged yet.
    pub(crate) suspects: Vec<usize>,
}

impl Way {
    fn data(&mut self, seg: &Segment) {
        let first = first_byte(seg);
        let isn = self.isn;
        self.base
            .get_or_insert_with(|| isn.map_or(first, |isn| isn.wrapping_add(1)));
        let mut frame = DataFrame::of(seg);
        // Another copy of the bytes: from here on an acknowledgement may be for that one.
        let end = first.wrapping_add(seg.payload_len);
        let frames = &self.frames;
        self.suspects.retain(|&at| !frames[at].overlaps(first, end));
        if let Some(Evidence::Paws | Evidence::Window) = self.receiver.arrives(seg) {
            frame.has |= REFUSED_BIT;
            if self.suspects.len() < MAX_SUSPECTED_FRAMES {
                self.suspects.push(self.frames.len());
            }
        }
        self.frames.push(frame);
    }

    /// The receiver of this way answers: what it acknowledges without another copy of it having come
    /// by, it has taken.
    fn answered(&mut self, seg: &Segment) {
        self.receiver.answers(seg);
        if self.suspects.is_empty() || !seg.flags.any(TcpFlags::ACK) {
            return;
        }
        let blocks = seg.sack_blocks();
        let frames = &mut self.frames;
        self.suspects.retain(|&at| {
            let frame = &mut frames[at];
            let taken = (frame.seq.wrapping_sub(seg.ack) as i32) < 0
                || blocks.iter().any(|&(from, to)| frame.overlaps(from, to));
            if taken {
                frame.has &= !REFUSED_BIT;
            }
            !taken
        });
    }

    /// As it would be had all sequence numbers been higher by `shift`; without samples, which
    /// keep no numbers.
    pub(crate) fn renumbered(&self, shift: u32) -> Way {
        let moved = |number: Option<u32>| number.map(|n| n.wrapping_add(shift));
        let frames = self.frames.iter().map(|frame| DataFrame {
            seq: frame.seq.wrapping_add(shift),
            ..*frame
        });
        Way {
            frames: frames.collect(),
            isn: moved(self.isn),
            mss: self.mss,
            base: moved(self.base),
            acked: moved(self.acked),
            end: self.end,
            fin: self.fin,
            ..Way::default()
        }
    }
}

/// One connection in one capture.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) key: FlowKey,
    /// 0 for the first connection of this 4-tuple.
    pub(crate) reuse: u32,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    pub(crate) ways: [Way; 2],
    reset: bool,
}

impl Recorded {
    fn new(key: FlowKey, reuse: u32, now: i64) -> Self {
        Recorded {
            key,
            reuse,
            first_ns: now,
            last_ns: now,
            ways: [Way::default(), Way::default()],
            reset: false,
        }
    }

    pub(crate) fn way(&self, dir: Dir) -> &Way {
        &self.ways[dir.index()]
    }

    /// True when `seg` opens a new connection with the same addresses and ports.
    fn is_reuse(&self, dir: Dir, seg: &Segment) -> bool {
        if !seg.flags.any(TcpFlags::SYN) || seg.flags.any(TcpFlags::ACK | TcpFlags::RST) {
            return false;
        }
        match self.way(dir).isn {
            Some(isn) => isn != seg.seq,
            None => self.way(dir.reverse()).isn.is_none() || self.closed(),
        }
    }

    fn closed(&self) -> bool {
        self.reset || (self.ways[0].fin && self.ways[1].fin)
    }

    fn push(&mut self, dir: Dir, seg: &Segment) {
        self.last_ns = self.last_ns.max(seg.ts_ns);
        self.reset |= seg.flags.any(TcpFlags::RST);
        let other = self.way(dir.reverse()).isn;
        let way = &mut self.ways[dir.index()];
        way.fin |= seg.flags.any(TcpFlags::FIN);
        if seg.flags.any(TcpFlags::SYN) {
            way.isn.get_or_insert(seg.seq);
            if seg.mss > 0 {
                way.mss = seg.mss;
            }
        }
        if seg.flags.any(TcpFlags::RST) {
            return;
        }
        way.sample.push(seg);
        if let (Some(own), Some(other)) = (way.isn, other) {
            way.relative.push_relative(seg, [own, other]);
        }
        if seg.payload_len > 0 {
            way.data(seg);
        } else {
            way.receiver.arrives(seg);
            if seg.flags.any(TcpFlags::FIN) {
                way.end.get_or_insert_with(|| DataFrame::of(seg));
            }
        }
        let back = &mut self.ways[dir.reverse().index()];
        back.answered(seg);
        if seg.flags.any(TcpFlags::ACK) {
            let acked = &mut back.acked;
            if acked.is_none_or(|high| (seg.ack.wrapping_sub(high) as i32) > 0) {
                *acked = Some(seg.ack);
            }
        }
    }
}

/// Remembers a capture for [`compare`](super::compare); feed segments in capture order.
///
/// Takes 32 bytes of memory for each packet with data, and up to 40 kilobytes for each connection;
/// of packets without data it keeps a sample.
#[derive(Debug, Default)]
pub struct PeerRecorder {
    pub(crate) connections: Vec<Recorded>,
    /// The connections of each 4-tuple, oldest first.
    pub(crate) index: HashMap<FlowKey, Vec<usize>>,
    pub(crate) first_ns: Option<i64>,
    pub(crate) last_ns: Option<i64>,
    current: Option<usize>,
}

impl PeerRecorder {
    /// Nothing recorded.
    pub fn new() -> Self {
        PeerRecorder::default()
    }

    /// Takes over what another recorder saw of other connections of the same capture. In what order
    /// recorders are put together does not matter.
    pub fn absorb(&mut self, other: PeerRecorder) {
        let earliest = [self.first_ns, other.first_ns].into_iter().flatten().min();
        self.first_ns = earliest;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.connections.extend(other.connections);
        self.connections
            .sort_by_key(|c| (c.first_ns, c.key, c.reuse));
        self.index.clear();
        for (at, connection) in self.connections.iter().enumerate() {
            self.index.entry(connection.key).or_default().push(at);
        }
        self.current = None;
    }

    /// The next segment of the capture; it goes `dir` on connection `key`, in whatever VLAN and behind whatever label: the
    /// other capture may have been made where they are others.
    pub fn push(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) {
        let key = &key.on_any_path();
        self.first_ns = Some(self.first_ns.map_or(seg.ts_ns, |t| t.min(seg.ts_ns)));
        self.last_ns = Some(self.last_ns.map_or(seg.ts_ns, |t| t.max(seg.ts_ns)));
        let at = self.find(key, dir, seg);
        self.current = Some(at);
        if let Some(connection) = self.connections.get_mut(at) {
            connection.push(dir, seg);
        }
    }

    /// The connection that `seg` belongs to, a new one if need be.
    fn find(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) -> usize {
        let known = self.current.filter(|&at| {
            let current = self.connections.get(at);
            current.is_some_and(|c| c.key == *key)
        });
        let known = known.or_else(|| self.index.get(key)?.last().copied());
        let going_on = known.filter(|&at| {
            let connection = self.connections.get(at);
            connection.is_some_and(|c| !c.is_reuse(dir, seg))
        });
        if let Some(at) = going_on {
            return at;
        }
        let fresh = self.connections.len();
        let of_key = self.index.entry(*key).or_default();
        let reuse = of_key.len() as u32;
        of_key.push(fresh);
        self.connections.push(Recorded::new(*key, reuse, seg.ts_ns));
        fresh
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::Endpoint;

    use super::*;

    #[test]
    fn a_frame_takes_the_memory_that_the_documentation_says() {
        assert_eq!(size_of::<DataFrame>(), 32);
    }

    #[test]
    fn the_same_ports_again_are_another_connection_a_repeated_syn_is_not() {
        let (key, dir) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
        let mut recorder = PeerRecorder::new();
        let syn = |seq| Segment {
            seq,
            flags: TcpFlags(TcpFlags::SYN),
            ..Segment::default()
        };
        for isn in [100, 100, 900] {
            recorder.push(&key, dir, &syn(isn));
        }
        let reuses: Vec<u32> = recorder.connections.iter().map(|c| c.reuse).collect();
        assert_eq!(reuses, [0, 1]);
    }
}
