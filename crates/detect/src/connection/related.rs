//! Whether a packet that was found in another overlay network or VLAN belongs to a connection.

use inorder_wire::{Dir, Segment, TcpFlags};

use super::Connection;

/// Overlay networks in which a connection is found, at most.
const MAX_OVERLAYS: usize = 8;
/// Numbers of one direction are no further apart than this, bytes: what is on its way at once. Two connections with the
/// same addresses and ports whose numbers are random are as near in one of 512 cases.
const MAX_APART: u32 = 1 << 22;
/// A capture that lacks what passed for a while lacks no more of one direction, bytes: numbers further ahead are another connection's.
const MAX_LACKED: i64 = 1 << 28;
/// Least time between two connections with the same ports, nanoseconds.
const MIN_PAUSE_NS: i64 = 1_000_000_000;

/// True for one packet captured at two points: hosts and routers on the path leave these fields unchanged.
fn is_same_packet(a: &Segment, b: &Segment) -> bool {
    let content = |s: &Segment| (s.seq, s.ack, s.payload_len, s.flags.0, s.ip_id);
    content(a) == content(b) && (a.tsval, a.tsecr) == (b.tsval, b.tsecr)
}

impl Connection {
    /// True if `seg`, which was found in another overlay network, belongs to this connection by its numbers: it is a
    /// packet of it captured once more, or what its other packets lead to expect. Two connections with the same addresses
    /// and ports have other numbers (RFC 9293 section 3.4.1).
    pub(crate) fn continues(&self, dir: Dir, seg: &Segment) -> bool {
        let again = || self.waits_like(dir, seg);
        let heard = self.head.common.position.heard(dir);
        let hellos = self.head.common.hellos;
        let acks = seg.flags.any(TcpFlags::ACK);
        if seg.flags.any(TcpFlags::SYN) {
            let answered = hellos[dir.reverse().index()].map(|hello| hello.isn.wrapping_add(1));
            return match (heard, acks) {
                // Where the vantage point is given, nothing waits.
                (true, _) if self.sides.is_some() => {
                    hellos[dir.index()].is_some_and(|hello| hello.isn == seg.seq)
                }
                (true, _) => again(),
                (false, true) => answered == Some(seg.ack),
                (false, false) => self.last_ack(dir.reverse()) == Some(seg.seq.wrapping_add(1)),
            };
        }
        let own = self.is_near(dir, seg.seq);
        let other = acks.then(|| self.is_near(dir.reverse(), seg.ack)).flatten();
        match (own, other) {
            (Some(false), _) | (_, Some(false)) => false,
            (Some(true), Some(true)) => true,
            (Some(true), None) => !acks || again(),
            (None, other) => !heard && other == Some(true),
        }
    }

    /// True if a packet like this one waits until the vantage point is known.
    fn waits_like(&self, dir: Dir, seg: &Segment) -> bool {
        let like = |(d, s): (Dir, Segment)| d == dir && is_same_packet(&s, seg);
        self.head.waiting.iter().any(like)
    }

    /// True if `seg`, which was found in another tunnel, cannot belong to this connection: it begins another one, or its numbers are far from
    /// what passed. The labels of MPLS and the TEIDs of GTP-U are others in each direction, so that a packet in another
    /// one is taken to belong to the connection of its addresses and ports as long as nothing contradicts it.
    pub(crate) fn contradicts(&self, dir: Dir, seg: &Segment) -> bool {
        let hellos = self.head.common.hellos;
        let acks = seg.flags.any(TcpFlags::ACK);
        if seg.flags.any(TcpFlags::SYN) {
            let answered = hellos[dir.reverse().index()].map(|hello| hello.isn.wrapping_add(1));
            return match hellos[dir.index()] {
                // Two hosts that begin with equal numbers still send packets of their own.
                Some(hello) => {
                    let is_another = self.sides.is_none() && !self.waits_like(dir, seg);
                    hello.isn != seg.seq || is_another
                }
                None => {
                    self.head.common.position.heard(dir)
                        || acks && answered.is_some_and(|ack| ack != seg.ack)
                }
            };
        }
        let own = self.is_near(dir, seg.seq);
        let other = acks.then(|| self.is_near(dir.reverse(), seg.ack)).flatten();
        own == Some(false) || other == Some(false)
    }

    /// True if `seg` comes a second or more after the last packet: it may be of another connection with the same ports.
    #[inline]
    pub(crate) fn has_paused(&self, seg: &Segment) -> bool {
        seg.ts_ns.saturating_sub(self.head.last_ns) >= MIN_PAUSE_NS
    }

    /// True if `seg`, which is no SYN, is of another connection with the same addresses and ports, whose SYN was not captured. Both of its
    /// numbers are far from what passed until then, and one of them lies where none gets to meanwhile: behind, or very far ahead.
    #[cold]
    pub(crate) fn is_followed_by_another(&self, dir: Dir, seg: &Segment) -> bool {
        let ends = TcpFlags::SYN | TcpFlags::RST;
        let numbered = seg.flags.any(TcpFlags::ACK) && !seg.flags.any(ends);
        let unopened = self.head.common.hellos == [None; 2];
        if !numbered || !(unopened || self.closed()) {
            return false;
        }
        let own = self.apart(dir, seg.seq);
        let other = self.apart(dir.reverse(), seg.ack);
        let (Some(own), Some(other)) = (own, other) else {
            return false;
        };
        let most = i64::from(MAX_APART);
        let far = |apart: i64| apart.abs() > most;
        let unreached = |apart: i64| apart < -most || apart > MAX_LACKED;
        far(own) && far(other) && (unreached(own) || unreached(other))
    }

    /// True if `number` is near to what has been sent in direction `dir`; `None` if nothing is known of that.
    fn is_near(&self, dir: Dir, number: u32) -> Option<bool> {
        let apart = self.apart(dir, number)?;
        Some(apart.unsigned_abs() <= MAX_APART.into())
    }

    /// How far `number` is ahead of what has been sent in direction `dir`, bytes; `None` if nothing is known of that.
    fn apart(&self, dir: Dir, number: u32) -> Option<i64> {
        let sides = self.sides.as_ref();
        if let Some(apart) = sides.and_then(|sides| sides[dir.index()].distance(number)) {
            return Some(apart);
        }
        let hello = self.head.common.hellos[dir.index()];
        let sent = self.head.common.position.highest(dir);
        let known = sent.or(hello.map(|hello| hello.isn.wrapping_add(1)));
        let known = known.or_else(|| self.last_ack(dir.reverse()));
        known.map(|known| i64::from(number.wrapping_sub(known) as i32))
    }

    /// The last acknowledgement that went `dir`.
    fn last_ack(&self, dir: Dir) -> Option<u32> {
        let acks = |(d, s): (Dir, Segment)| {
            let acks = s.flags.any(TcpFlags::ACK) && !s.flags.any(TcpFlags::RST);
            (d == dir && acks).then_some(s.ack)
        };
        let waiting = self.head.waiting.iter().filter_map(acks).last();
        waiting.or_else(|| self.head.common.position.last_ack(dir))
    }

    /// From now on the connection is found in this overlay network, too; `None` if that are too many.
    pub(crate) fn join(&mut self, overlay: u32, dir: Dir) -> Option<()> {
        let head = &mut self.head;
        if head.also.len() + 1 >= MAX_OVERLAYS {
            return None;
        }
        if !head.common.position.heard(dir) {
            head.overlays[dir.index()] = overlay;
        }
        head.also = head.also.iter().copied().chain([overlay]).collect();
        Some(())
    }

    /// The overlay networks in which the connection is found.
    pub(crate) fn overlays(&self) -> impl Iterator<Item = u32> {
        let own = self.head.key.overlay;
        std::iter::once(own).chain(self.head.also.iter().copied())
    }
}
