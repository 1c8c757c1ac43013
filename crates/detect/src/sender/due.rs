//! When the ACK of a segment was due, and how late the late ones are.
//!
//! Lateness counts from when a segment would have arrived in its turn, between its neighbours, so
//! that the queues which all of them stood in do not blur it. What comes late by another way comes
//! late by much the same each time: that tells where in a compressed ACK a late arrival belongs,
//! and which discarded original ([`super::paws`]) an ACK without cause was for.

use inorder_wire::Segment;

use super::filled::Filled;
use super::{PATH_JITTER_NS, Report, Sender, Sent};
use crate::explanation::Explanation;

/// Most segments of an ACK that still count as acknowledged at once.
const PROMPT: usize = 2;
/// How many times what an ACK spans must be the spread of lateness to order what it reports.
const NARROW: i64 = 8;
/// So many late arrivals must have been as late to make that usual.
pub(super) const AGREE: usize = 3;
/// Fewest late arrivals that tell how late is usual.
const FEWEST: usize = 2;

impl Sender {
    /// Notes of the segments that `seg` is the first to report higher data than, and of those it
    /// reports in their turn, when they arrived or should have: after the one below, no sooner
    /// than the path lets them, a segment's time apart when they queued. What is reported only
    /// now was not there when the ACK before left.
    pub(super) fn expect(&mut self, seg: &Segment, number: i64) {
        let now = seg.ts_ns;
        self.turn = self.top;
        let top = self.top_reported(seg, number);
        if top <= self.top {
            return;
        }
        let from = std::mem::replace(&mut self.top, top);
        if number >= top {
            self.reached_ns = now;
            return; // No hole, nothing that may come late.
        }
        let Some(rtt) = self.min_rtt else { return };
        let since = self.last.map_or(i64::MIN / 2, |l| l.ts_ns);
        let first = self.board.find(from);
        let below = |s: &&Sent| s.start < top;
        let count = self.board.range(first).take_while(below).count();
        self.note_spacing(first, count, since, now.saturating_sub(since), rtt);
        let mut blocks = [(0, 0); 4];
        for (b, &(left, right)) in blocks.iter_mut().zip(seg.sack_blocks()) {
            *b = (self.unwrap.offset(left), self.unwrap.offset(right));
        }
        let mut at = self.reached_ns.min(now);
        let room = now.saturating_sub(at) / count.max(1) as i64;
        let spacing = self.spacing().min(room);
        for s in self.board.range_mut(first).take(count) {
            at = at
                .saturating_add(spacing)
                .max(s.sent_ns.saturating_add(rtt));
            if s.start < number || blocks.iter().any(|b| (b.0..b.1).contains(&s.start)) {
                at = at.max(since);
            }
            at = at.min(now);
            s.due_ns = at;
        }
        self.reached_ns = at;
    }

    /// When the ACK of an original was due that was sent at `sent_ns`: as noted, or at best.
    pub(super) fn due(&self, noted_ns: i64, sent_ns: i64) -> i64 {
        if noted_ns != 0 {
            return noted_ns;
        }
        sent_ns.saturating_add(self.min_rtt.unwrap_or(0))
    }

    /// When a segment that is reported now arrived, as far as that is known: in its turn, or as
    /// late as usual.
    pub(super) fn arrival_of(&self, sent: &Sent) -> i64 {
        let due = self.due(sent.due_ns, sent.sent_ns);
        if sent.start >= self.turn {
            return due;
        }
        due.saturating_add(self.usual_lateness().map_or(0, |m| m.0))
    }

    /// Puts what one ACK reports into the order of arrival by time, when late segments come late
    /// by so much the same that it tells. The left edge stays first.
    pub(super) fn by_time(&mut self, now: i64) {
        let weighed = self.options.explanations.has(Explanation::Lateness);
        let Some((late, spread)) = self.usual_lateness().filter(|_| weighed) else {
            return;
        };
        let since = self.last.map_or(i64::MIN / 2, |l| l.ts_ns);
        let slack = spread.saturating_mul(2).saturating_add(self.jitter());
        let span = now.saturating_sub(since);
        if slack >= span / 2 || spread >= span / NARROW {
            return;
        }
        let (turn, rtt) = (self.turn, self.min_rtt.unwrap_or(0));
        let arrival = |r: &Report| {
            if r.left_edge {
                return Some(i64::MIN);
            }
            let due = match r.sent.due_ns {
                0 => r.sent.sent_ns.saturating_add(rtt),
                noted => noted,
            };
            if r.sent.start >= turn {
                return Some(due);
            }
            let at = due.saturating_add(late);
            (since.saturating_sub(slack)..=now.saturating_add(slack))
                .contains(&at)
                .then_some(at)
        };
        let known = |r: &Report| r.sent.start < turn && !r.left_edge && arrival(r).is_some();
        if self.reports.iter().any(known) {
            let mut reports = std::mem::take(&mut self.reports);
            reports.sort_by_key(|r| (arrival(r), r.sent.start));
            self.reports = reports;
        }
    }

    /// How far off an arrival may be from where it is expected: the segments before and after
    /// it are as near, and clocks and hosts are no better.
    pub(super) fn jitter(&self) -> i64 {
        let spacing = self.spacing();
        spacing.saturating_add(spacing / 4).max(PATH_JITTER_NS)
    }

    /// One past the highest byte that `seg` acknowledges or SACKs.
    fn top_reported(&self, seg: &Segment, number: i64) -> i64 {
        let edges = seg.sack_blocks().iter().map(|b| self.unwrap.offset(b.1));
        edges.fold(number, i64::max).min(self.highest)
    }

    /// Segments acknowledged at once that could have been there before the ACK before came one
    /// behind the other out of a queue.
    fn note_spacing(&mut self, first: usize, count: usize, since: i64, span: i64, rtt: i64) {
        let queued = self
            .board
            .range(first)
            .take(count)
            .all(|s| s.sent_ns.saturating_add(rtt) < since);
        if queued && (1..=PROMPT).contains(&count) && span > 0 {
            self.spacing.push(span / count as i64);
        }
    }

    /// Time between two segments behind one another out of a queue. What waits for its ACK or
    /// comes out of an empty queue takes longer, so the lower values are the ones to believe.
    fn spacing(&self) -> i64 {
        self.spacing.quartiles().map_or(0, |q| q.0)
    }

    /// What is acknowledged at once is exact in its lateness: what fills the left edge, and what
    /// is reported alone while SACKs are not held back.
    pub(super) fn note_lateness(&mut self, report: &Report, now: i64, had_hole: bool) {
        let alone = self.reports_alone && report.sent.start < self.turn;
        if had_hole && (report.left_edge || alone) && report.sent.due_ns != 0 {
            self.lateness.push(now.saturating_sub(report.sent.due_ns));
        }
    }

    /// So is a duplicate, when nothing but the original can be it.
    pub(super) fn note_duplicate(&mut self, f: &Filled, now: i64) {
        if f.copies.count == 1 && f.due_ns != 0 {
            self.lateness.push(now.saturating_sub(f.due_ns));
        }
    }

    /// How far a lateness between `least_ns` and `most_ns` is from what some late ones were (three
    /// of them, so that no chance one counts): the late ones may have more than one habit, as when
    /// every other must wait for a packet to leave before it.
    pub(super) fn off_usual(&self, least_ns: i64, most_ns: i64) -> Option<i64> {
        let off = self.lateness.nth_nearest(least_ns, most_ns, AGREE);
        off.filter(|_| self.lateness.len() >= FEWEST)
    }

    /// How late the late ones usually are, and how much that varies (half the distance between
    /// the quartiles), nanoseconds.
    pub(super) fn usual_lateness(&self) -> Option<(i64, i64)> {
        let (late, spread) = self.lateness.middle(FEWEST)?;
        let few = self.lateness.len() < 5;
        Some((
            late,
            if few {
                spread.max(self.jitter())
            } else {
                spread
            },
        ))
    }
}
