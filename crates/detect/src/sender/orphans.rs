//! Retransmissions that come by before what they repeat.
//!
//! On the path an original may be overtaken by its retransmission before it passes here. That retransmission repeats nothing that was
//! captured when it comes by; once the original does, both are known, and the retransmission was needless whichever the receiver
//! takes first.

use std::collections::VecDeque;

use inorder_wire::Segment;

use super::Sender;
use super::acks::Ack;
use super::board::{Copies, Sent};
use super::filled::{EITHER, Filled};
use super::ledger::MIN_LIKELY;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason};

/// Retransmissions remembered until their originals come by.
const MAX_ORPHANS: usize = 256;

/// A retransmission of what has not come by.
#[derive(Clone, Copy, Debug)]
struct Orphan {
    start: i64,
    end: i64,
    sent_ns: i64,
    tsval: u32,
    phase: u32,
}

/// Those whose originals may still come by, in the order in which they did.
#[derive(Clone, Debug, Default)]
pub(super) struct Orphans {
    open: VecDeque<Orphan>,
}

heap!(Orphans: open);

impl Orphans {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Something of `[left, right)` came by in one of them.
    pub(super) fn hold(&self, left: i64, right: i64) -> bool {
        let mut open = self.open.iter();
        open.any(|orphan| orphan.start < right && left < orphan.end)
    }

    fn note(&mut self, orphan: Orphan) {
        if self.open.len() == MAX_ORPHANS {
            self.open.pop_front();
        }
        self.open.push_back(orphan);
    }

    /// The retransmissions of all of `[start, end)`, which are forgotten if they hold no more.
    fn of(&mut self, start: i64, end: i64) -> Option<Copies> {
        let mut copies: Option<Copies> = None;
        self.open.retain(|orphan| {
            let holds = orphan.start <= start && end <= orphan.end;
            if holds {
                let first = orphan.start == start;
                let copies = copies.get_or_insert_default();
                copies.add(orphan.sent_ns, orphan.tsval, orphan.phase, first);
            }
            !holds || end < orphan.end
        });
        copies
    }
}

impl Sender {
    /// `seg` brings `[start, end)` again, which has not come by.
    pub(super) fn note_orphan(&mut self, seg: &Segment, start: i64, end: i64, phase: u32) -> bool {
        let told = self.news.away_ns > 0 && self.explanations.has(Explanation::CopyAhead);
        if told {
            self.gaps.orphans.note(Orphan {
                start,
                end,
                sent_ns: seg.ts_ns,
                tsval: seg.tsval,
                phase,
            });
        }
        told
    }

    /// The original of `[start, start + len)` comes by in `seg`: perhaps its retransmissions have.
    #[cold]
    pub(super) fn join_orphans(&mut self, seg: &Segment, start: i64, len: u32) {
        let end = start + i64::from(len);
        let Some(copies) = self.gaps.orphans.of(start, end) else {
            return;
        };
        let board = &mut self.outstanding.board;
        if start >= self.outstanding.una {
            let i = board.find(start);
            if board
                .get(i)
                .is_some_and(|s| s.start == start && !s.reported)
            {
                board.join(i, copies);
            }
            return;
        }
        // A retransmission filled its place.
        let known = Segment {
            ts_ns: self.news.last_ns(),
            ..*seg
        };
        let sent = Sent::new(start, len, seg);
        self.ledger.copy_first(Filled {
            silent: EITHER,
            ..Filled::by_copy(&sent, copies, &known, 0)
        });
        if !self.receiver.dsack_seen && self.ledger.lost_share() <= 1.0 - MIN_LIKELY {
            // Nothing will tell that it came, and hardly anything is lost from here on.
            let came = Ack::of(seg);
            let basis = Basis::certain(Evidence::CumulativeAck).weaker(Reason::WhichCopy);
            self.ledger.late_original(start, &came, basis);
        }
        self.trim_filled();
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// The retransmission of segment 20 comes by before its original, which the receiver then reports as a duplicate, or which is
    /// acknowledged before that comes.
    fn told(filled: bool, without: Option<Explanation>) -> (Told, u64) {
        let mut trace = Trace::stamped(without);
        trace.sender.note_away(4_000_000);
        trace.in_order(0, 0, 20);
        (1..5).for_each(|n| trace.send(40 + n, 20 + n));
        (1..5).for_each(|n| trace.sack(50 + n, 20, &[(21, 21 + n)]));
        trace.send_again(60, 20);
        if filled {
            trace.ack(70, 25, &[]);
        }
        trace.send(71, 20);
        if !filled {
            trace.ack(72, 25, &[]);
        }
        trace.ack(81, 25, &[(20, 21)]);
        trace.in_order(100, 25, 60);
        let again = trace.sender.ledger.spurious;
        (trace.end(), again)
    }

    #[test]
    fn an_original_behind_its_retransmission_makes_that_needless() {
        let late = vec![(Kind::Reordered, 20, Confidence::Likely)];
        assert_eq!(told(true, None), (late, 1));
        assert_eq!(told(false, None).1, 1);
        let off = told(true, Some(Explanation::CopyAhead));
        assert_eq!(off, (vec![], 0));
    }
}
