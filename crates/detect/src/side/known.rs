//! What the hosts of a connection told each other, and what else is known when a direction is followed.

use inorder_base::sequence::Offsets;
use inorder_wire::{Has, NO_WSCALE, Segment, TcpFlags};

use crate::copies::{Above, RoundTrip};

/// Greatest shift of the window (RFC 7323 section 2.3).
pub(crate) const MAX_WSCALE: u8 = 14;

/// What the SYN of one host said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hello {
    /// When it was captured, nanoseconds.
    pub(crate) at_ns: i64,
    pub(crate) isn: u32,
    pub(crate) mss: u16,
    /// Offered; `None` where that was cut off, as in the two below.
    pub(crate) sack: Option<bool>,
    pub(crate) timestamps: Option<bool>,
    /// Shift of the window field; `NO_WSCALE` if it was not offered.
    pub(crate) wscale: Option<u8>,
    /// ECE and CWR, by which hosts agree on ECN (RFC 3168 section 6.1.1).
    pub(crate) marks: u8,
    /// Time to live.
    pub(crate) ttl: u8,
}

impl Hello {
    /// Shift of the windows that this host tells, where `other` is what the other host's SYN said: they are scaled only
    /// if both offer it (RFC 7323 section 2.2).
    pub(crate) fn window_shift(&self, other: &Hello) -> Option<u8> {
        match (self.wscale?, other.wscale?) {
            (NO_WSCALE, _) | (_, NO_WSCALE) => Some(0),
            (shift, _) => Some(shift.min(MAX_WSCALE)),
        }
    }

    /// One of both offered no window scale, so no window is above 65,535 bytes.
    pub(crate) fn unscaled(&self, other: &Hello) -> bool {
        self.wscale == Some(NO_WSCALE) || other.wscale == Some(NO_WSCALE)
    }

    /// They agreed on congestion marks as in RFC 3168 section 6.1.1. The flags of AccECN (RFC 9768 section 3.1.1) are others: there CWR is a
    /// part of a counter.
    pub(crate) fn agrees_on_marks(&self, other: &Hello) -> bool {
        let both = [self.marks, other.marks];
        let (syn, answer) = (TcpFlags::ECE | TcpFlags::CWR, TcpFlags::ECE);
        both == [syn, answer] || both == [answer, syn]
    }

    /// Both offered it; `None` where one may have, and the other did.
    pub(crate) fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
        match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => Some(a? && b?),
        }
    }

    /// What the SYN or SYN/ACK `seg` says.
    pub(crate) fn of(seg: &Segment) -> Self {
        let cut = seg.has(Has::OPTIONS_CUT);
        let offered = |option| Some(seg.has(option)).filter(|there| *there || !cut);
        Hello {
            at_ns: seg.ts_ns,
            isn: seg.seq,
            mss: seg.mss,
            sack: offered(Has::SACK_PERMITTED),
            timestamps: offered(Has::TIMESTAMPS),
            wscale: seg.window_scale(),
            marks: seg.flags.0 & (TcpFlags::ECE | TcpFlags::CWR),
            ttl: seg.ttl,
        }
    }
}

/// Least payload of a full segment, bytes: whatever MSS it is offered, Linux sends segments of 48 bytes
/// (`tcp_min_snd_mss`), options included, which are 40 at most.
const MIN_FULL_PAYLOAD: u32 = 8;

/// What both directions share, as seen when a segment is handled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shared {
    /// SACK negotiated; `None` without handshake.
    pub(crate) sack: Option<bool>,
    /// Both SYNs were captured, though perhaps without all of their options.
    pub(crate) handshake: bool,
    /// Both hosts use timestamps, and they can be read.
    pub(crate) timestamps: bool,
    /// The data has them; whether they can be read does not matter.
    pub(crate) stamped: bool,
    /// Wire payload of a full segment, by the MSS options of both; 0 if unknown. A host whose packets can be no longer offers to take no
    /// longer ones (RFC 9293 section 3.7.1).
    pub(crate) full: u32,
    /// The same, by the option of the data's receiver alone.
    pub(crate) allowed: u32,
    /// Shift of the windows that the data's receiver tells; `None` without handshake.
    pub(crate) window_shift: Option<u8>,
}

/// What is known of one direction's data when the first of it is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The SYN of its sender, if it was captured.
    pub(crate) hello: Option<Hello>,
    /// As [`Side::reported`] of its receiver.
    pub(crate) reported: Option<Reported>,
}

/// What a host said it had before any data of the other one was captured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reported {
    /// Everything below had arrived.
    pub(crate) ack: u32,
    /// One past the highest byte that had.
    pub(crate) edge: u32,
    /// Blocks above `ack` that its latest acknowledgement listed.
    pub(crate) blocks: [(u32, u32); 4],
    pub(crate) blocks_len: u8,
    /// When the first of this was captured, nanoseconds.
    pub(crate) at_ns: i64,
}

heap!(Reported);

/// The end of the data, a packet of its own (FIN).
#[derive(Clone, Copy, Debug)]
pub(super) struct TheEnd {
    /// Of the FIN.
    pub(super) number: u32,
    pub(super) above: Above,
}

heap!(TheEnd);

impl Reported {
    pub(super) fn new(seg: &Segment) -> Self {
        let mut reported = Reported {
            ack: seg.ack,
            edge: seg.ack,
            at_ns: seg.ts_ns,
            ..Reported::default()
        };
        reported.add(seg);
        reported
    }

    pub(super) fn add(&mut self, seg: &Segment) {
        let above = |a: u32, b: u32| (a.wrapping_sub(b) as i32) > 0;
        let edges = seg.sack_blocks().iter().map(|block| block.1);
        let later = |a: u32, b: u32| if above(b, a) { b } else { a };
        self.edge = edges.fold(later(self.edge, seg.ack), later);
        if above(self.ack, seg.ack) {
            return;
        }
        self.ack = seg.ack;
        self.blocks_len = 0;
        for &(left, right) in seg.sack_blocks() {
            if above(left, seg.ack) && above(right, left) {
                self.blocks[usize::from(self.blocks_len)] = (left, right);
                self.blocks_len += 1;
            }
        }
    }

    /// The same of data alone, where the FIN has the number `end`: it came before all that is followed.
    pub(super) fn without_end(mut self, end: u32) -> Self {
        let has_it = |edge: u32| edge == end.wrapping_add(1);
        if !has_it(self.edge) || has_it(self.ack) {
            return self;
        }
        let blocks = &mut self.blocks[..usize::from(self.blocks_len)];
        for block in blocks.iter_mut().filter(|block| has_it(block.1)) {
            block.1 = end;
        }
        let kept: Vec<_> = blocks.iter().filter(|b| b.0 != b.1).copied().collect();
        blocks[..kept.len()].copy_from_slice(&kept);
        self.blocks_len = kept.len() as u8;
        self.edge = if kept.iter().any(|block| block.1 == end) {
            end
        } else {
            self.ack
        };
        self
    }

    /// The blocks as offsets, ascending.
    pub(crate) fn blocks(&self, unwrap: &Offsets) -> Vec<(i64, i64)> {
        let blocks = self.blocks[..usize::from(self.blocks_len)].iter();
        let offsets = blocks.map(|&(left, right)| (unwrap.offset(left), unwrap.offset(right)));
        let mut offsets: Vec<_> = offsets.collect();
        offsets.sort_unstable();
        offsets
    }
}

/// What else the connection knows of the sender of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// How soon it answers at best.
    pub(crate) to_sender: Option<RoundTrip>,
    /// Its SYN was captured.
    pub(crate) syn_seen: bool,
}

impl Shared {
    /// The receiver's SYN offers `peer_mss`, and the sender's own one `own_mss`; 0 where that is not known.
    pub(crate) fn new(
        sack: Option<bool>,
        timestamps: bool,
        stamped: bool,
        (peer_mss, own_mss): (u16, u16),
    ) -> Self {
        let mut shared = Shared {
            sack,
            handshake: false,
            timestamps,
            stamped: timestamps || stamped,
            full: 0,
            allowed: 0,
            window_shift: None,
        };
        shared.allowed = shared.payload_of(peer_mss);
        shared.full = shared.allowed;
        if own_mss > 0 {
            shared.full = shared.full.min(shared.payload_of(own_mss));
        }
        shared
    }

    /// Payload of a segment that is `mss` bytes long with its options; 0 if that is not known.
    fn payload_of(&self, mss: u16) -> u32 {
        match u32::from(mss) {
            0 => 0,
            mss => mss.saturating_sub(self.option_len()).max(MIN_FULL_PAYLOAD),
        }
    }

    /// Bytes of a full segment's options.
    #[inline]
    pub(super) fn option_len(&self) -> u32 {
        if self.stamped { 12 } else { 0 }
    }
}
