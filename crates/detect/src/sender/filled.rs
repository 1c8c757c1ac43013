//! Retransmitted segments that have been reported: which copy came first, and whether the
//! original came at all.

use inorder_wire::Segment;

use super::board::{Copies, Sent};
use crate::collect::Place;
use inorder_metrics::by_bytes::ByOffset;

/// Segments remembered; the lowest is closed when there are more.
const MAX_FILLED_REMEMBERED: usize = 16_384;

/// How likely it is that a report was about the original where nothing speaks for either copy.
pub(super) const EITHER: f64 = 0.5;

/// Which copy a first report was about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum By {
    /// The original.
    #[default]
    Original,
    /// A retransmission.
    Copy,
    /// Waiting in the log under this id.
    Doubtful(u64),
}

/// One retransmitted and reported segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filled {
    pub(crate) place: Place,
    pub(crate) tsval: u32,
    /// When the ACK for the original would have come had it been on time; 0 if unknown.
    pub(crate) due_ns: i64,
    pub(crate) copies: Copies,
    pub(crate) first: By,
    pub(crate) reported_ns: i64,
    /// DSACKs seen for it.
    pub(crate) duplicates: u32,
    /// The original is known to have arrived, first or later.
    pub(crate) original_in: bool,
    /// Copies sent when the segment had been reported already.
    pub(crate) after: u32,
    /// The last of these copies was sent too shortly before the report to be the transmission that arrived.
    pub(crate) last_too_young: bool,
    /// How likely its original is what some unexplained ACK answered.
    pub(super) refused: f64,
    /// Its original, had it come just before the report, would have been too old for the receiver (PAWS).
    pub(super) discardable: bool,
    /// Its original is what such an ACK answered: it arrived and was refused.
    pub(super) refused_in: bool,
    /// How likely that was after its retransmission.
    pub(super) doubled: f64,
    /// An echoed timestamp named what came first. Nothing else rules out that the original came and all of its
    /// retransmissions were lost.
    pub(super) named: bool,
    /// How likely the first report was about the original although no DSACK followed.
    pub(super) silent: f64,
    /// The round trip of what was sent right behind it, nanoseconds; 0 if unknown.
    pub(super) rtt_behind_ns: i64,
}

impl Filled {
    fn new(sent: &Sent, copies: Copies, ack: &Segment, first: By) -> Self {
        Filled {
            place: sent.place(ack),
            tsval: sent.tsval,
            due_ns: sent.due_ns,
            copies,
            first,
            reported_ns: ack.ts_ns,
            original_in: first == By::Original,
            ..Filled::default()
        }
    }

    /// Number of retransmissions sent before the report that are known to be spurious: all but the reported one and those lost
    /// before it.
    pub(crate) fn spurious_before(&self) -> u32 {
        let duplicates = self.duplicates.saturating_sub(self.after);
        let before = self.copies.count.saturating_sub(self.after);
        duplicates
            .max(u32::from(self.last_too_young))
            .min(before.saturating_sub(1))
    }

    /// The original came first.
    pub(crate) fn known(sent: &Sent, copies: Copies, ack: &Segment) -> Self {
        Self::new(sent, copies, ack, By::Original)
    }

    /// A retransmission came first; none is there and back in less than `rtt_ns`.
    pub(crate) fn by_copy(sent: &Sent, copies: Copies, ack: &Segment, rtt_ns: i64) -> Self {
        let soonest = copies.last_ns.saturating_add(rtt_ns - rtt_ns / 16);
        Filled {
            last_too_young: ack.ts_ns < soonest,
            ..Self::new(sent, copies, ack, By::Copy)
        }
    }

    /// Not known yet; `id` in the log.
    pub(crate) fn doubtful(sent: &Sent, copies: Copies, ack: &Segment, id: u64) -> Self {
        Self::new(sent, copies, ack, By::Doubtful(id))
    }

    /// Only retransmissions are known to have come.
    pub(super) fn unexplained(&self) -> bool {
        self.first == By::Copy && !self.original_in && !self.refused_in
    }

    /// Its original is not known to have come. Which copy came first may wait for a duplicate to be reported, unless the
    /// receiver is `silent` of duplicates.
    pub(super) fn original_may_come(&self, silent: bool) -> bool {
        let waits = matches!(self.first, By::Doubtful(_)) && silent;
        self.unexplained() || waits && !self.original_in && !self.refused_in
    }

    pub(super) fn end(&self) -> i64 {
        self.place.start + i64::from(self.place.len)
    }
}

/// Filled segments by first byte.
#[derive(Debug, Default)]
pub(crate) struct FilledMap {
    map: ByOffset<Filled>,
}

heap!(FilledMap: map);

impl FilledMap {
    pub(crate) fn insert(&mut self, filled: Filled) {
        self.map.insert(filled.place.start, filled);
    }

    pub(super) fn get(&self, start: i64) -> Option<&Filled> {
        self.map.get(start)
    }

    pub(crate) fn get_mut(&mut self, start: i64) -> Option<&mut Filled> {
        self.map.get_mut(start)
    }

    /// The segment that `offset` falls in.
    pub(crate) fn covering(&mut self, offset: i64) -> Option<&mut Filled> {
        let (around, _) = self.map.around(offset.saturating_add(1));
        let start = around.filter(|f| f.end() > offset)?.place.start;
        self.map.get_mut(start)
    }

    /// First bytes of the segments of which something is in `[left, right)`: a retransmission may begin within one.
    pub(crate) fn starts_in(&self, left: i64, right: i64) -> Vec<i64> {
        let (around, _) = self.map.around(left);
        let around = around.filter(|f| f.place.start < left && f.end() > left);
        let within = self.map.range(left, right).map(|e| e.0);
        around
            .map(|f| f.place.start)
            .into_iter()
            .chain(within)
            .collect()
    }

    /// All, from the highest down.
    pub(super) fn latest(&self) -> impl Iterator<Item = &Filled> {
        self.map.iter().rev()
    }

    /// Takes the one at `start` out.
    pub(super) fn take(&mut self, start: i64) -> Option<Filled> {
        self.map.remove(start)
    }

    /// There are more than are remembered.
    pub(super) fn is_full(&self) -> bool {
        self.map.len() > MAX_FILLED_REMEMBERED
    }

    /// The lowest, when there are too many.
    pub(crate) fn pop_excess(&mut self) -> Option<Filled> {
        if self.is_full() { self.pop() } else { None }
    }

    /// The lowest.
    pub(crate) fn pop(&mut self) -> Option<Filled> {
        self.map.pop_first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_that_begins_within_a_segment_is_of_that_too() {
        let mut filled = FilledMap::default();
        let mut board = super::super::board::Board::default();
        for start in [0, 100, 200] {
            board.insert(start, 100, 0, 0, 0);
        }
        for sent in board.iter() {
            filled.insert(Filled::known(sent, Copies::default(), &Segment::default()));
        }
        assert_eq!(filled.starts_in(130, 300), [100, 200]);
        assert_eq!(filled.starts_in(200, 300), [200]);
        assert_eq!(filled.starts_in(300, 400), [0; 0]);
    }
}
