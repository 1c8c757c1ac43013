//! Originals that come after their retransmission to a receiver that reports no duplicates.
//!
//! Such a receiver (DSACK, RFC 2883 section 4, is not negotiated) answers what it has already, or what PAWS
//! discards, by repeating the ACK before. Nothing in it says which segment came: time does, once
//! it is known how late the late ones of this flow are ([`super::windows`]). A spurious
//! retransmission has the same answer, a round trip after it was sent.

use std::collections::VecDeque;

use super::Sender;
use super::again::Again;
use super::filled::{Filled, FilledMap};
use super::timing::{PATH_JITTER_NS, Timing};

/// Retransmitted segments looked at for one ACK.
const MAX_FILLED_PER_ACK: usize = 64;

/// Copies of what the receiver had reported that wait for their answers.
const MAX_COPIES_AWAITED: usize = 4_096;

/// When retransmissions were sent of what the receiver had reported by then: after a time-out some senders repeat all that is
/// outstanding (RFC 2018 section 8 asks for that). Each is answered (RFC 5681 section 4.2), in the order in which they were
/// sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Awaited {
    sent: VecDeque<Copied>,
    /// How many there were.
    pub(super) ever: u64,
}

/// When a retransmission was sent, nanoseconds, and the first byte of its segment if it is still open whether the receiver had that.
type Copied = (i64, Option<i64>);

heap!(Awaited: sent);

impl Awaited {
    /// One was sent at `now`.
    pub(super) fn push(&mut self, now: i64) {
        self.ever += 1;
        self.add((now, None));
    }

    /// One turns out to be, or may be, of what the receiver had.
    pub(super) fn add(&mut self, copied: Copied) {
        if self.sent.len() == MAX_COPIES_AWAITED {
            self.sent.pop_front();
        }
        let place = self.sent.partition_point(|sent| sent.0 <= copied.0);
        self.sent.insert(place, copied);
    }

    /// An ACK without new information comes at `now`: which one does it answer, which takes from `soonest` to `latest`?
    pub(super) fn answered(&mut self, now: i64, soonest: i64, latest: i64) -> Option<Copied> {
        while self.sent.front().is_some_and(|c| now - c.0 > latest) {
            self.sent.pop_front(); // It was lost, or its answer was.
        }
        let due = self.sent.front().is_some_and(|c| now - c.0 >= soonest);
        due.then(|| self.sent.pop_front()).flatten()
    }
}

impl Sender {
    /// An ACK at `now` that reports nothing is the answer to a retransmission of what had been reported when it was sent, at a
    /// receiver that reports no duplicates.
    pub(super) fn answers_what_it_had(&mut self, now: i64) -> bool {
        let Some(rtt) = self.timing.min_rtt.filter(|_| !self.receiver.dsack_seen) else {
            return false;
        };
        let latest = self
            .timing
            .usual_from(rtt)
            .saturating_add(rtt / 2 + PATH_JITTER_NS);
        let answers = self.repeats.awaited.answered(now, rtt - rtt / 64, latest);
        let answers = answers.is_some();
        self.receiver.duplicates_hidden += u32::from(answers);
        answers
    }

    /// An ACK at `now` that reports nothing is the answer to a retransmission of what the receiver had,
    /// which it does not report; `again` says where that lies, if anything does.
    pub(super) fn answers_spurious_copy(&mut self, now: i64, again: Option<Again>) -> bool {
        if self.receiver.dsack_seen {
            return false;
        }
        let since = now.saturating_sub(self.timing.patience());
        let filled = &self.ledger.filled;
        let edge = self.outstanding.una;
        let there = |f: &Filled| match again {
            Some(again) => again.may_be(f.place.start),
            None => f.place.start < edge,
        };
        let answered = may_come_again(filled, since)
            .find(|f| there(f) && self.timing.answers_copy(f, now))
            .map(|f| f.place.start);
        if let Some(f) = answered.and_then(|start| self.ledger.filled.get_mut(start)) {
            f.duplicates += 1;
            self.receiver.duplicates_hidden += u32::from(f.original_in);
        }
        answered.is_some()
    }
}

/// Segments reported not before `since` of which a further copy may still be under way, latest first.
fn may_come_again(filled: &FilledMap, since: i64) -> impl Iterator<Item = &Filled> {
    let open = move |f: &&Filled| f.reported_ns >= since && f.duplicates < f.copies.count;
    filled.latest().take(MAX_FILLED_PER_ACK).filter(open)
}

impl Timing {
    /// The answer to the last retransmission of what had been received already is due at `now`.
    fn answers_copy(&self, f: &Filled, now: i64) -> bool {
        let known = f.original_in || f.copies.count > 1;
        let Some(rtt) = self.min_rtt else {
            return known;
        };
        let usual = self.usual_from(rtt);
        let took = now.saturating_sub(f.copies.last_ns);
        let latest = usual.saturating_add(rtt / 4 + PATH_JITTER_NS);
        known && (rtt - rtt / 64..=latest).contains(&took)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use inorder_wire::{Has, Segment, TcpFlags};

    use super::super::{Options, Sender, SenderEnd};
    use crate::collect::Collected;
    use crate::result::{Confidence, Evidence, Kind};
    use inorder_base::sequence::Offsets;

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
        segment!(
            ts_ns, tsval: tsval as u32, tsecr: tsecr as u32, flags: TcpFlags(TcpFlags::ACK),
            has: Has::TIMESTAMPS, window: 500
        )
    }

    /// Segment i is sent after i ms (121 together with 120), 10 ms from its ACK. Those `held` miss their turn and are sent
    /// again 14 ms later; the originals of those in `late` come 24.5 ms late, when the receiver
    /// discards them and repeats its last ACK.
    fn play(held: &[i64], late: &[i64]) -> SenderEnd {
        let mut steps = Vec::new();
        for i in 0..300 {
            let at = if i == 121 { 120 * MS } else { i * MS };
            steps.push((at, What::Send, i));
            if !held.contains(&i) {
                steps.push((at + 10 * MS, What::Arrive, i));
                continue;
            }
            steps.push((at + 14 * MS, What::SendAgain, i));
            steps.push((at + 24 * MS + 1, What::Arrive, i));
            if late.contains(&i) {
                steps.push((at + 34 * MS + MS / 2, What::ArriveAgain, i));
            }
        }
        steps.sort_unstable();
        let options = Options {
            sack: Some(true),
            timestamps: true,
            ..Options::default()
        };
        let mut sender = Sender::new(Offsets::new(0), options, true);
        sender.note_rtt(10 * MS);
        let mut have = BTreeSet::new();
        let (mut next, mut recent) = (0, 0);
        for (at, what, i) in steps {
            let data = stamped(at, 1_000 + at / MS, 0);
            match what {
                What::Send => sender.sent(&data, i * LEN, LEN as u32),
                What::SendAgain => sender.retransmitted(&data, i * LEN, LEN as u32),
                What::Arrive => {
                    have.insert(i);
                    if i == next {
                        recent = 1_000 + at / MS - 10;
                    }
                    while have.contains(&next) {
                        next += 1;
                    }
                    sender.acknowledged(&ack(at, recent, next, &have), false);
                }
                What::ArriveAgain => sender.acknowledged(&ack(at, recent, next, &have), false),
            }
        }
        Box::new(sender).finish(0, true)
    }

    /// Retransmissions that were needed, and those that were not.
    fn verdicts(end: &SenderEnd) -> (u64, u64) {
        let of = &end.data.retransmissions;
        (of.needed, of.spurious)
    }

    fn ack(at: i64, recent: i64, next: i64, have: &BTreeSet<i64>) -> Segment {
        let mut seg = stamped(at, 0, recent);
        seg.ack = (next * LEN) as u32;
        let mut above = have.range(next..);
        if let (Some(first), Some(last)) = (above.next(), have.last()) {
            seg.sack_len = 1;
            seg.sack[0] = ((first * LEN) as u32, ((last + 1) * LEN) as u32);
        }
        seg
    }

    #[test]
    fn repeated_acks_of_one_lateness_are_originals_that_came_after_all() {
        let end = play(&[20, 70, 120, 170, 220], &[20, 70, 170, 220]);
        assert_eq!(verdicts(&end), (1, 4));
        let Collected {
            reordering, events, ..
        } = end.data.collector.finish();
        assert_eq!((reordering.reordered, reordering.ambiguous), (4, 0));
        let mut told: Vec<_> = events
            .iter()
            .map(|e| (e.kind, e.seq_offset / 1_000, e.evidence, e.confidence))
            .collect();
        told.sort_by_key(|e| e.1);
        let late = |i| (Kind::Reordered, i, Evidence::Paws, Confidence::Likely);
        let lost = (Kind::Lost, 120, Evidence::Timestamps, Confidence::Likely);
        assert_eq!(told, [late(20), late(70), lost, late(170), late(220)]);
        // 24.5 ms late, overtaken by the 24 segments behind it.
        let extents: Vec<_> = events.iter().filter_map(|e| e.extent).collect();
        assert_eq!(extents, [24, 24, 24, 24]);
    }

    #[test]
    fn of_two_sent_at_once_one_came_late_and_which_is_not_asserted() {
        let end = play(&[20, 70, 120, 121, 170, 220], &[20, 70, 121, 170, 220]);
        assert_eq!(verdicts(&end), (0, 4));
        let events = end.data.collector.finish().events;
        let late = events.iter().filter(|e| e.kind == Kind::Reordered);
        assert!(late.map(|e| e.confidence).eq([Confidence::Likely; 4]));
        let lost = events.iter().filter(|e| e.kind == Kind::Lost);
        let either: Vec<_> = lost.map(|e| (e.seq_offset, e.confidence)).collect();
        let unsure = Confidence::Ambiguous;
        assert_eq!(either, [(120_000, unsure), (121_000, unsure)]);
    }

    #[test]
    fn both_of_two_sent_at_once_came_late() {
        let end = play(&[20, 70, 120, 121, 170], &[20, 70, 120, 121, 170]);
        assert_eq!(verdicts(&end), (0, 5));
        let reordering = end.data.collector.finish().reordering;
        assert_eq!((reordering.reordered, reordering.ambiguous), (5, 0));
    }

    #[test]
    fn one_repeated_ack_alone_proves_nothing() {
        let end = play(&[20, 70, 120], &[70]);
        // It is that of 20 or of 70: neither is asserted, nor that both were lost.
        assert_eq!(verdicts(&end), (1, 0));
        assert_eq!(
            (end.data.collector.reordered(), end.data.collector.losses()),
            (0, 1)
        );
    }
}
