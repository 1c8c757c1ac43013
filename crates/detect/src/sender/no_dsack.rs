//! Originals that come after their retransmission to a receiver that reports no duplicates.
//!
//! Such a receiver (DSACK, RFC 2883, is not negotiated) answers what it has already, or what PAWS
//! discards, by repeating the ACK before. Nothing in it says which segment came: time does, once
//! it is known how late the late ones of this flow are. A retransmission that was needless has
//! the same answer, a round trip after it was sent.

use super::acks::Ack;
use super::filled::{By, Filled, Trigger};
use super::paws::discarded;
use super::vote::{ALWAYS, Hole, Unexplained, common_lateness};
use super::{PATH_JITTER_NS, Sender};
use crate::collect::Basis;
use crate::result::{Evidence, Reason};

/// Retransmitted segments looked at for one ACK.
const MAX_CANDIDATES: usize = 64;
/// ACKs kept until it is known how late is usual.
const MAX_KEPT: usize = 16;

impl Sender {
    /// `ack` repeats the ACK before and no open hole explains it: a segment acknowledged before
    /// may have come once more.
    pub(super) fn came_again(&mut self, ack: &Ack, trigger: Trigger) {
        if self.dsack_seen || ack.missing > 0 {
            return;
        }
        let now = ack.seg.ts_ns;
        let candidates = self.may_come_again(now);
        if let Some(f) = candidates.iter().find(|f| self.answers_copy(f, now)) {
            if let Some(f) = self.filled.get_mut(f.place.start) {
                f.duplicates += 1;
            }
            return;
        }
        let recent = ack.seg.tsecr;
        if self.usual_lateness().is_none() && trigger == Trigger::Nothing {
            let at_ns = now;
            self.unexplained.push_back(Unexplained { at_ns, recent });
            self.learn_lateness();
            return;
        }
        if let Some(f) = self.late_as_usual(&candidates, now, recent, trigger) {
            self.note_duplicate(&f, now);
            let basis = Basis::certain(Evidence::Paws).weaker(Reason::WhichCopy);
            self.late_original_by(f.place.start, ack, basis);
        }
    }

    /// Acknowledged segments of which a further copy may still be under way, latest first.
    fn may_come_again(&self, now: i64) -> Vec<Filled> {
        let since = now.saturating_sub(self.bare_patience());
        let open = |f: &&Filled| {
            f.place.start < self.una && f.reported_ns >= since && f.duplicates < f.copies.count
        };
        let latest = self.filled.latest().take(MAX_CANDIDATES);
        latest.filter(open).copied().collect()
    }

    /// The answer to the last retransmission of what had been received already is due at `now`.
    fn answers_copy(&self, f: &Filled, now: i64) -> bool {
        let known = f.original_in || f.copies.count > 1;
        let Some(rtt) = self.min_rtt else {
            return known;
        };
        let usual = self.rtt.map_or(rtt, |r| r.max(rtt));
        let took = now.saturating_sub(f.copies.last_ns);
        let latest = usual.saturating_add(rtt / 4 + PATH_JITTER_NS);
        known && (rtt - rtt / 64..=latest).contains(&took)
    }

    fn late_as_usual(
        &self,
        candidates: &[Filled],
        now: i64,
        recent: u32,
        trigger: Trigger,
    ) -> Option<Filled> {
        let (_, spread) = self.usual_lateness()?;
        let off = |f: &Filled| {
            let due = self.due(f.due_ns, f.place.sent_ns);
            let late = now.saturating_sub(due);
            self.off_usual(late, late).unwrap_or(i64::MAX)
        };
        let lost = candidates.iter().filter(|f| f.is_lost_so_far(recent));
        let nearest = lost.min_by_key(|f| off(f)).copied()?;
        (off(&nearest) <= self.tolerance(trigger, spread)).then_some(nearest)
    }

    /// When one lateness explains several of the ACKs kept, it is the usual one. Where among the
    /// arrivals those originals came cannot be mended any more; that they came is booked.
    fn learn_lateness(&mut self) {
        if self.unexplained.len() > MAX_KEPT {
            self.unexplained.pop_front();
        }
        let latest = self.filled.latest().take(MAX_CANDIDATES);
        let lost = latest.filter(|f| f.first == By::Copy && !f.original_in);
        let filled: Vec<Filled> = lost.copied().collect();
        let hole = |f: &Filled| Hole {
            due_ns: self.due(f.due_ns, f.place.sent_ns),
            filled_ns: f.reported_ns,
            tsval: f.tsval,
        };
        let holes: Vec<Hole> = filled.iter().map(hole).collect();
        let acks = self.unexplained.make_contiguous().to_vec();
        let patience = self.bare_patience();
        let possible = |h: &Hole, a: &Unexplained| {
            let soon = h.filled_ns.saturating_add(patience);
            (h.filled_ns..=soon).contains(&a.at_ns) && discarded(h.tsval, a.recent)
        };
        let tolerance = self.jitter();
        let Some(late) = common_lateness(&holes, &acks, possible, tolerance, ALWAYS) else {
            return;
        };
        self.lateness.push(late);
        self.lateness.push(late);
        self.lateness_learnt = true;
        for ack in &acks {
            let before = |f: &&Filled| f.reported_ns <= ack.at_ns && !self.original_is_in(f);
            let open: Vec<Filled> = filled.iter().filter(before).copied().collect();
            let which = self.late_as_usual(&open, ack.at_ns, ack.recent, Trigger::Nothing);
            if let Some(f) = which {
                self.collector.late_perhaps();
                self.original_came(f.place.start, By::Copy);
            }
        }
        self.unexplained.clear();
    }

    fn original_is_in(&self, f: &Filled) -> bool {
        let now = self.filled.from(f.place.start).next();
        now.is_none_or(|now| now.place.start != f.place.start || now.original_in)
    }
}

impl Filled {
    /// Only a retransmission has come, and a receiver at TS.Recent `recent` discards the original.
    fn is_lost_so_far(&self, recent: u32) -> bool {
        self.first == By::Copy && !self.original_in && discarded(self.tsval, recent)
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Has, Segment, TcpFlags};

    use super::super::{Options, Sender, SenderEnd};
    use crate::result::{Confidence, Evidence, Kind};
    use crate::unwrap::Unwrapper;

    const MS: i64 = 1_000_000;
    const LEN: i64 = 1_000;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum What {
        Send,
        SendAgain,
        Arrive,
        ArriveAgain,
    }

    fn stamped(ts_ns: i64, tsval: i64, tsecr: i64) -> Segment {
        Segment {
            ts_ns,
            tsval: tsval as u32,
            tsecr: tsecr as u32,
            flags: TcpFlags(TcpFlags::ACK),
            has: Has::TIMESTAMPS,
            window: 500,
            ..Segment::default()
        }
    }

    /// Segment i is sent after i ms, 10 ms from its ACK. Those `held` miss their turn and are sent
    /// again 14 ms later; the originals of those in `late` come 24.5 ms late, when the receiver
    /// discards them and repeats its last ACK.
    fn play(held: &[i64], late: &[i64]) -> SenderEnd {
        let mut steps = Vec::new();
        for i in 0..300 {
            steps.push((i * MS, What::Send, i));
            if !held.contains(&i) {
                steps.push((i * MS + 10 * MS, What::Arrive, i));
                continue;
            }
            steps.push((i * MS + 14 * MS, What::SendAgain, i));
            steps.push((i * MS + 24 * MS + 1, What::Arrive, i));
            if late.contains(&i) {
                steps.push((i * MS + 34 * MS + MS / 2, What::ArriveAgain, i));
            }
        }
        steps.sort_unstable();
        let options = Options {
            sack: Some(true),
            timestamps: true,
        };
        let mut sender = Sender::new(Unwrapper::new(0), options, true);
        sender.note_rtt(10 * MS);
        let (mut next, mut top, mut recent) = (0, 0, 0);
        for (at, what, i) in steps {
            let data = stamped(at, 1_000 + at / MS, 0);
            match what {
                What::Send => sender.sent(&data, i * LEN, LEN as u32),
                What::SendAgain => sender.retransmitted(&data, i * LEN, LEN as u32),
                What::Arrive => {
                    top = top.max(i + 1);
                    if i == next {
                        recent = 1_000 + at / MS - 10;
                        next = top;
                    }
                    sender.acknowledged(&ack(at, recent, next, top), false);
                }
                What::ArriveAgain => sender.acknowledged(&ack(at, recent, next, top), false),
            }
        }
        sender.finish()
    }

    fn ack(at: i64, recent: i64, next: i64, top: i64) -> Segment {
        let mut seg = stamped(at, 0, recent);
        seg.ack = (next * LEN) as u32;
        if top > next {
            seg.sack_len = 1;
            seg.sack[0] = (((next + 1) * LEN) as u32, (top * LEN) as u32);
        }
        seg
    }

    #[test]
    fn repeated_acks_of_one_lateness_are_originals_that_came_after_all() {
        let end = play(&[20, 70, 120, 170, 220], &[20, 70, 170, 220]);
        assert_eq!((end.needed, end.spurious), (1, 4));
        let (reordering, .., events) = end.collector.finish();
        // The first two tell how late is usual; then it is too late to say where they came.
        assert_eq!((reordering.reordered, reordering.ambiguous), (2, 2));
        let told: Vec<_> = events
            .iter()
            .map(|e| (e.kind, e.seq_offset / 1_000, e.evidence, e.confidence))
            .collect();
        let late = |i| (Kind::Reordered, i, Evidence::Paws, Confidence::Likely);
        let lost = (Kind::Lost, 120, Evidence::Timestamps, Confidence::Likely);
        assert_eq!(told, [lost, late(170), late(220)]);
    }

    #[test]
    fn one_repeated_ack_alone_proves_nothing() {
        let end = play(&[20, 70, 120], &[70]);
        assert_eq!((end.needed, end.spurious), (3, 0));
        assert_eq!(end.collector.reordered(), 0);
    }
}
