//! What the sender has sent and what the receiver has reported of it.

use inorder_base::line::Line;
use inorder_wire::Segment;

use crate::collect::Place;

/// Pieces of what was sent in one go leave within this time, nanoseconds.
const MAX_WITHIN_BURST_NS: i64 = 1_000_000;
/// The rest of a frame is less than this part of what was cut from it before.
const MIN_OF_REST: u32 = 8;

/// An original transmission that is not yet cumulatively acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) start: i64,
    pub(crate) sent_ns: i64,
    pub(crate) frame: u64,
    pub(crate) len: u32,
    pub(crate) tsval: u32,
    /// When higher data has been reported: when the ACK for this would have come had it been on
    /// time; 0 before.
    pub(crate) due_ns: i64,
    /// SACKed already.
    pub(crate) reported: bool,
    /// It was when higher data had been.
    pub(super) behind: bool,
    /// Index + 1 of its retransmissions in the board's slab, 0 for none.
    copies: u32,
}

impl Sent {
    /// A first transmission of `[start, start + len)` in `seg`, that nothing has reported.
    pub(crate) fn new(start: i64, len: u32, seg: &Segment) -> Self {
        Self::of(start, len, seg.ts_ns, seg.frame, seg.tsval)
    }

    #[inline]
    fn of(start: i64, len: u32, sent_ns: i64, frame: u64, tsval: u32) -> Self {
        Sent {
            start,
            sent_ns,
            frame,
            len,
            tsval,
            due_ns: 0,
            reported: false,
            behind: false,
            copies: 0,
        }
    }

    pub(crate) fn end(&self) -> i64 {
        self.start + i64::from(self.len)
    }

    /// How events name it when `ack` tells of it.
    pub(crate) fn place(&self, ack: &Segment) -> Place {
        Place {
            start: self.start,
            len: self.len,
            frame: self.frame,
            proof_frame: ack.frame,
            at_ns: ack.ts_ns,
            sent_ns: self.sent_ns,
        }
    }
}

/// The retransmissions of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Copies {
    any: bool,
    /// The receiver had reported the segment before all of these, and has discarded it.
    pub(super) discarded: Option<Had>,
    pub(crate) count: u32,
    pub(crate) phase: u32,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    pub(crate) first_tsval: u32,
    pub(crate) last_tsval: u32,
}

impl Copies {
    /// These, if there are any.
    pub(super) fn unless_none(self) -> Option<Self> {
        self.any.then_some(self)
    }

    pub(crate) fn add(&mut self, now: i64, tsval: u32, phase: u32, counted: bool) {
        if !self.any {
            self.any = true;
            self.first_ns = now;
            self.first_tsval = tsval;
        }
        self.count += u32::from(counted);
        self.last_ns = now;
        self.last_tsval = tsval;
        self.phase = phase;
    }
}

/// What a receiver had of a segment that it discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Had {
    /// Its original, which had come in its turn.
    InTurn,
    /// Its original, which had come late, or a retransmission.
    Otherwise,
}

/// Sent segments in sequence order, from the lowest not cumulatively acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Board {
    sent: Line<Sent>,
    copies: Vec<Copies>,
    free: Vec<u32>,
    /// How often what is here, or whether it has been reported, has changed.
    changes: u64,
    /// The cuts of the capture are taken for those of the wire, whatever acknowledgements show.
    keeps_cuts: bool,
    /// What was sent in one go has been cut elsewhere for the capture than on the wire, as acknowledgements have shown.
    cut_elsewhere: bool,
}

heap!(Board: sent, copies, free);

impl Board {
    /// With the cuts of the capture, or those of the wire.
    pub(crate) fn new(keeps_cuts: bool) -> Self {
        Board {
            keeps_cuts,
            ..Board::default()
        }
    }

    /// Knows nothing of what was sent any more.
    pub(crate) fn forget(&mut self) {
        *self = Board::new(self.keeps_cuts);
    }

    /// While this number stays the same, so do the segments here and whether they have been reported.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn get(&self, i: usize) -> Option<&Sent> {
        self.sent.get(i)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// Segments from the one at `i` on.
    #[inline]
    pub(crate) fn tail(&self, i: usize) -> &[Sent] {
        self.sent.get(i..).unwrap_or_default()
    }

    /// Segments from the one at `i` on.
    #[inline]
    pub(crate) fn tail_mut(&mut self, i: usize) -> &mut [Sent] {
        self.sent.get_mut(i..).unwrap_or_default()
    }

    /// A first transmission; usually the highest, seldom (capture order) in the middle.
    #[inline]
    pub(crate) fn insert(&mut self, start: i64, len: u32, sent_ns: i64, frame: u64, tsval: u32) {
        let sent = Sent::of(start, len, sent_ns, frame, tsval);
        self.changes += 1;
        match self.sent.last_mut() {
            // The rest of a captured frame that is longer than a segment is none of its own.
            Some(last)
                if self.cut_elsewhere && last.frame == frame && len < last.len / MIN_OF_REST =>
            {
                last.len += len;
            }
            Some(last) if last.start > start => {
                let i = self.sent.partition_point(|s| s.start < start);
                self.sent.insert(i, sent);
            }
            _ => self.sent.push_back(sent),
        }
    }

    /// Index of the first segment that ends beyond `offset`.
    #[inline]
    pub(crate) fn find(&self, offset: i64) -> usize {
        // Full segments are the rule: guess, then correct.
        if let Some(front) = self.sent.first() {
            if offset < front.end() {
                return 0;
            }
            let guess = ((offset - front.start) / i64::from(front.len.max(1))) as usize;
            if let Some(s) = self.sent.get(guess)
                && s.start <= offset
                && offset < s.end()
            {
                return guess;
            }
        }
        self.sent.partition_point(|s| s.end() <= offset)
    }

    /// Takes the lowest segment off if it ends at or below `ack`.
    #[inline]
    pub(crate) fn pop_acked(&mut self, ack: i64) -> Option<(Sent, Option<Copies>)> {
        let front = self.pop_sent_once(ack)?;
        let copies = self.slot(&front).copied();
        if front.copies > 0 {
            self.free.push(front.copies - 1);
        }
        Some((front, copies))
    }

    /// No segment here has been sent again, or discarded.
    #[inline]
    pub(crate) fn all_sent_once(&self) -> bool {
        self.copies.len() == self.free.len()
    }

    /// The same where every segment was sent once, so that none has retransmissions.
    #[inline]
    pub(crate) fn pop_sent_once(&mut self, ack: i64) -> Option<Sent> {
        let front = self.sent.first()?;
        let ends = front.end() <= ack;
        if !ends && (front.start >= ack || !self.fits_first(ack)) {
            return None;
        }
        self.changes += 1;
        self.sent.pop_front()
    }

    /// The first segment ends at `ack`, by which it was acknowledged in part.
    fn fits_first(&mut self, ack: i64) -> bool {
        self.fit(ack) && self.sent.first().is_some_and(|front| front.end() <= ack)
    }

    /// A retransmission of `[start, end)` begins and ends where segments on the wire do.
    pub(crate) fn fit_copy(&mut self, start: i64, end: i64) {
        if self.cut_elsewhere {
            self.move_end(start);
            self.move_end(end);
        }
    }

    /// A segment began at `edge` on the wire, as an acknowledgement shows, within one of those here: what was sent in one go has
    /// been cut elsewhere for the capture than on the wire. False if nothing can be moved.
    #[cold]
    pub(crate) fn fit(&mut self, edge: i64) -> bool {
        let moved = self.move_end(edge);
        self.cut_elsewhere |= moved;
        moved
    }

    /// Moves the nearer end of the segment around `edge` to it.
    #[cold]
    #[inline(never)]
    fn move_end(&mut self, edge: i64) -> bool {
        let i = self.find(edge);
        let Some(&within) = self.sent.get(i) else {
            return false;
        };
        let (below, above) = (edge - within.start, within.end() - edge);
        if self.keeps_cuts || below <= 0 || within.reported || within.copies > 0 {
            return false;
        }
        let other = match below <= above {
            true => i.wrapping_sub(1),
            false => i + 1,
        };
        let apart_ns = |s: &Sent| s.sent_ns.saturating_sub(within.sent_ns).saturating_abs();
        let open = |s: &Sent| !s.reported && s.copies == 0 && apart_ns(s) <= MAX_WITHIN_BURST_NS;
        match self.sent.get_mut(other) {
            Some(before) if below <= above => {
                if before.end() != within.start || !before.reported && !open(before) {
                    return false;
                }
                before.len += below as u32;
            }
            Some(next) => {
                if next.start != within.end() || !open(next) {
                    return false;
                }
                next.start = edge;
                next.len += above as u32;
            }
            // What lies below has been acknowledged.
            None if i == 0 && below <= above => {}
            None => return false,
        }
        let within = &mut self.sent[i];
        if below <= above {
            within.start = edge;
            within.len -= below as u32;
        } else {
            within.len -= above as u32;
        }
        self.changes += 1;
        true
    }

    pub(crate) fn copies_of(&self, sent: &Sent) -> Option<&Copies> {
        self.slot(sent).filter(|copies| copies.any)
    }

    fn slot(&self, sent: &Sent) -> Option<&Copies> {
        self.copies.get((sent.copies as usize).wrapping_sub(1))
    }

    /// What the receiver had of `sent`, if it has discarded it.
    pub(super) fn discarded(&self, sent: &Sent) -> Option<Had> {
        self.slot(sent).and_then(|copies| copies.discarded)
    }

    /// The receiver of segment `i`, which it had reported, has discarded it: what becomes of it is open again, if it is not yet.
    pub(super) fn discard(&mut self, i: usize, had: Had) {
        let Some(sent) = self.sent.get_mut(i) else {
            return;
        };
        (sent.reported, self.changes) = (false, self.changes + 1);
        let discarded = Copies {
            discarded: Some(had),
            ..Copies::default()
        };
        match self.copies.get_mut((sent.copies as usize).wrapping_sub(1)) {
            Some(before) if before.discarded.is_some() => {}
            Some(before) => *before = discarded,
            None => self.join(i, discarded),
        }
    }

    /// Marks segment `i` as reported, `behind` higher data; returns it as it was.
    pub(crate) fn report(&mut self, i: usize, behind: bool) -> Option<(Sent, Option<Copies>)> {
        let sent = self.sent.get_mut(i)?;
        let before = *sent;
        (sent.reported, sent.behind) = (true, behind);
        self.changes += 1;
        let copies = self.slot(&before).copied();
        Some((before, copies))
    }

    /// Notes a retransmission of segment `i`; `counted` once for each wire segment, however many
    /// of ours it covers.
    pub(crate) fn retransmitted(
        &mut self,
        i: usize,
        now: i64,
        tsval: u32,
        phase: u32,
        counted: bool,
    ) {
        let Some(sent) = self.sent.get_mut(i) else {
            return;
        };
        if sent.copies == 0 {
            self.join(i, Copies::default());
        }
        let slot = self.sent.get(i).map_or(0, |sent| sent.copies as usize);
        if let Some(copies) = self.copies.get_mut(slot.wrapping_sub(1)) {
            copies.add(now, tsval, phase, counted);
        }
    }

    /// Segment `i`, of which no retransmission is known, has `copies`.
    pub(crate) fn join(&mut self, i: usize, copies: Copies) {
        let slot = self.free.pop().unwrap_or(self.copies.len() as u32);
        match self.copies.get_mut(slot as usize) {
            Some(free) => *free = copies,
            None => self.copies.push(copies),
        }
        if let Some(sent) = self.sent.get_mut(i) {
            sent.copies = slot + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use super::*;
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// Two super-segments of three packets of 100 bytes each, which the capture has as 110, 110 and 80 bytes.
    #[test]
    fn segments_cut_elsewhere_for_the_capture_follow_what_the_wire_shows() {
        let mut board = Board::default();
        for (frame, (start, len)) in [(0, 110), (110, 110), (220, 80), (300, 110), (410, 110)]
            .into_iter()
            .enumerate()
        {
            let sent_ns = if start < 300 { 0 } else { 5_000_000 };
            board.insert(start, len, sent_ns, frame as u64, 0);
        }
        let cuts = |board: &Board| board.iter().map(|s| (s.start, s.end())).collect::<Vec<_>>();
        assert_eq!(board.pop_sent_once(100).map(|s| s.end()), Some(100));
        assert_eq!(board.pop_sent_once(100), None);
        assert!(board.fit(200));
        assert_eq!(
            cuts(&board),
            [(100, 200), (200, 300), (300, 410), (410, 520)]
        );
        assert!(!board.fit(290), "the next one was sent later");
        board.report(3, false);
        assert!(!board.fit(400), "the next one has been reported as it is");
        assert!(!board.fit(415), "nor does it change itself");
    }

    /// Two times three segments of 1,000 bytes leave in one go, which the capture has as 1,100, 1,100 and 800 bytes. Of them 42
    /// is lost, and sent again as what it is on the wire.
    fn told_of_other_cuts(without: Option<Explanation>) -> Told {
        let mut trace = Trace::new(true, without);
        trace.in_order(0, 0, 40);
        for start in [40_000, 43_000] {
            for (before, len) in [(0, 1_100), (1_100, 1_100), (2_200, 800)] {
                let seg = segment!(ts_ns: 100_000_000);
                trace.sender.sent(&seg, start + before, len);
            }
        }
        trace.ack(110, 42, &[]);
        (0..3).for_each(|n| trace.sack(111 + n, 42, &[(43, 44 + n)]));
        trace.send_again(114, 42);
        trace.ack(124, 46, &[]);
        trace.in_order(140, 46, 70);
        trace.end()
    }

    #[test]
    fn one_lost_segment_is_one_wherever_the_capture_cuts() {
        let lost = |i| (Kind::Lost, i, Confidence::Likely);
        assert_eq!(told_of_other_cuts(None), [lost(42)]);
        let off = told_of_other_cuts(Some(Explanation::WireCuts));
        assert_eq!(off, [lost(41), lost(42)]);
    }

    #[test]
    fn segments_are_found_by_guess_and_by_search() {
        let mut board = Board::default();
        for (i, len) in [100u32, 100, 50, 100, 100].into_iter().enumerate() {
            let start = [0, 100, 200, 250, 350][i];
            board.insert(start, len, 0, i as u64, 0);
        }
        for (offset, index) in [
            (0, 0),
            (99, 0),
            (100, 1),
            (249, 2),
            (250, 3),
            (449, 4),
            (450, 5),
        ] {
            assert_eq!(board.find(offset), index, "offset {offset}");
        }
        board.retransmitted(1, 5, 7, 0, true);
        let (_, none) = board.pop_acked(100).unwrap();
        assert_eq!(none, None);
        assert!(board.pop_acked(150).is_none());
        assert_eq!(board.pop_acked(200).unwrap().1.unwrap().count, 1);
    }
}
