//! A duplicate of what was retransmitted: of a retransmission, of the original, or of a copy that the network made?
//!
//! A DSACK names the bytes that came again, not which copy brought them (RFC 2883 section 4). Timestamps and times tell,
//! and where they do not, neither copy is said to have come.

use super::Sender;
use super::acks::Ack;
use super::attribute::after;
use super::filled::{By, Filled};
use super::ledger::Came;
use super::log::Status;
use super::pair::{Guess, Pair};
use super::paws::discarded;
use super::timing::Timing;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::habits::TooOld;
use crate::result::{Confidence, Evidence, Reason};

/// Number of packets for each late one at which lateness still counts as frequent.
const PACKETS_PER_LATE_WHERE_MANY_ARE: u64 = 10;

impl Timing {
    /// Where nothing is known of how late is usual, one retransmission that came when it was due
    /// leaves only the original for a duplicate that comes at `now`, when none was.
    fn learn_from_pair(&mut self, f: &Filled, now: i64) {
        let Some(rtt) = self.min_rtt else { return };
        let due = f.copies.first_ns + self.usual_from(rtt);
        let near = |at: i64| (at - due).abs() <= rtt / 8;
        if near(f.reported_ns) && !near(now) {
            self.note_duplicate(f, now);
        }
    }

    /// A further retransmission, not the original, may be what the DSACK is about: when there are
    /// more copies than duplicates, and it comes when that copy's answer is due rather than when
    /// an original as late as usual would.
    fn another_copy(&self, f: &Filled, now: i64) -> bool {
        if f.copies.count < 2 || f.duplicates >= f.copies.count {
            return false;
        }
        let Some(rtt) = self.min_rtt else { return true };
        let due = f.copies.last_ns + rtt - rtt / 64;
        let usual = self.usual_from(rtt);
        if let Some((late, _)) = self.usual_lateness() {
            let original = self.due(f.due_ns, f.place.sent_ns).saturating_add(late);
            if now.abs_diff(original) < now.abs_diff(due) {
                return false;
            }
        }
        (due..=due + usual + 5_000_000).contains(&now)
    }
}

/// There are more retransmissions of `f` than duplicates: one may be of another retransmission.
fn several_left(f: &Filled) -> bool {
    f.copies.count > 1 && f.duplicates < f.copies.count
}

impl Sender {
    /// A DSACK for `[left, right)`: both copies have arrived, the second just now.
    pub(super) fn duplicate(&mut self, left: i64, right: i64, ack: &Ack) {
        self.receiver.dsack_seen = true;
        let starts = self.ledger.filled.starts_in(left, right);
        // Of several retransmissions whose original has not come by, one came again.
        if starts.is_empty() && !self.gaps.orphans.hold(left, right) {
            self.ledger.copies.reported += 1;
        }
        let copied_by_network = self.explanations.has(Explanation::NetworkCopies)
            && self.ledger.maybe_copied_by_network();
        let came_now = self.outstanding.first_block_reaches_above(&ack.seg, right);
        for start in starts {
            let Some(f) = self.ledger.filled.get_mut(start) else {
                continue;
            };
            f.duplicates += 1;
            let f = *f;
            self.learn_reports(&f, ack);
            if f.original_in {
                continue;
            }
            let other_copy = copied_by_network || self.sent_unseen(f.copies.first_ns);
            self.ledger.tally.perhaps_copied += u64::from(copied_by_network);
            match f.first {
                By::Original => {}
                By::Copy if other_copy => self.doubt_loss(start),
                By::Doubtful(id) if other_copy => {
                    self.ledger.copy_was(start, id);
                    self.doubt_loss(start);
                }
                // It repeats data that was not acknowledged before as well, so it comes just now, and what came before was the original.
                By::Doubtful(id) if came_now && f.copies.count == 1 => {
                    let basis = self.both_came(Evidence::Dsack);
                    self.ledger.original_was(start, id, basis);
                }
                By::Doubtful(id) => self.doubtful_pair(&f, id, ack),
                By::Copy if several_left(&f) => self.either_copy(&f, ack),
                By::Copy => {
                    let guess = self.who_came(&f, ack, true);
                    let other = match guess {
                        Some(guess) => guess.pair == Pair::CopiesOnly,
                        None => self.timing.another_copy(&f, ack.seg.ts_ns),
                    };
                    if !other {
                        self.late_or_first(&f, ack, guess);
                    }
                }
            }
        }
    }

    /// A duplicate of `f` is reported. If the only other copy that can have come is an original that was too old, the
    /// receiver reports such data.
    fn learn_reports(&mut self, f: &Filled, ack: &Ack) {
        let recent = self.last.filter(|l| self.outstanding.echoes(l));
        let old = recent.is_some_and(|l| discarded(f.tsval, l.tsecr));
        let named = f.first == By::Copy && f.named && f.copies.count == 1;
        if old && named && !ack.stale {
            self.receiver.learn_too_old(TooOld::Reported);
        }
    }

    /// Both have come, and the first report was taken to be the retransmission's because no duplicate was reported in
    /// time. So the original came later, if a timestamp named the retransmission or `guess` is a clear one.
    fn late_or_first(&mut self, f: &Filled, ack: &Ack, guess: Option<Guess>) {
        let sure = f.named || guess.is_some_and(|g| !g.close);
        let basis = if f.named || !self.explanations.has(Explanation::PairOrder) {
            self.both_came(Evidence::TimestampsDsack)
        } else if sure {
            Basis::certain(Evidence::Dsack).weaker(Reason::WhichCopy)
        } else {
            Basis::ambiguous(Evidence::Dsack, Reason::WhichCopy)
        };
        if basis.confidence != Confidence::Ambiguous {
            self.timing.note_duplicate(f, ack.seg.ts_ns);
        }
        // Which of the two came first is a guess, that one was too many is not.
        let needless = basis.confidence.min(Confidence::Likely);
        let came = Came { basis, needless };
        self.ledger.late_original(f.place.start, ack, came);
    }

    /// A retransmission came first, and of what came now only time tells whether it was another one
    /// or the original. Where that is as good either way, the original is not said to be lost.
    fn either_copy(&mut self, f: &Filled, ack: &Ack) {
        let guess = self.who_came(f, ack, true);
        let start = f.place.start;
        match guess.filter(|g| !g.close).map(|g| g.pair) {
            Some(Pair::OriginalSecond) => {
                let basis = Basis::certain(Evidence::TimestampsDsack).weaker(Reason::WhichCopy);
                self.ledger.late_original(start, ack, basis);
            }
            Some(_) => {}
            None => {
                let sure = guess.is_none()
                    && self.timing.another_copy(f, ack.seg.ts_ns)
                    && self.ledger.tally.late_copied == 0;
                if let Some(f) = self.ledger.filled.get_mut(start)
                    && !sure
                {
                    f.refused += 0.5;
                }
            }
        }
    }

    /// A duplicate was reported: the original and a retransmission have come, unless the network made copies.
    fn both_came(&self, evidence: Evidence) -> Basis {
        let basis = Basis::certain(evidence);
        let weighed = self.explanations.has(Explanation::NetworkCopies);
        if weighed && self.ledger.perhaps_copied_by_network() {
            basis.weaker(Reason::WhichCopy)
        } else {
            basis
        }
    }

    /// See [`Timing::who_came`].
    fn who_came(&self, f: &Filled, ack: &Ack, by_copy: bool) -> Option<Guess> {
        let late = self.ledger.collector.reordered();
        let often = late.saturating_mul(PACKETS_PER_LATE_WHERE_MANY_ARE)
            >= self.ledger.data_packets
            && self.explanations.has(Explanation::LateCopies);
        self.timing.who_came(f, ack.seg.ts_ns, (by_copy, often))
    }

    /// The duplicate of a segment that nothing told of yet which copy came first.
    fn doubtful_pair(&mut self, f: &Filled, id: u64, ack: &Ack) {
        let start = f.place.start;
        let guess = self.who_came(f, ack, false);
        let guess = guess.filter(|_| !self.outstanding.echoes(&ack.seg));
        let certain = self.both_came(Evidence::Dsack);
        // Times are no proof: extents hang on which copy came first, and of several retransmissions the duplicate may be another one.
        let basis = certain.weaker(Reason::WhichCopy);
        let came = match several_left(f) {
            true => basis.into(),
            false => Came {
                basis,
                needless: certain.confidence,
            },
        };
        match guess.map(|g| g.pair) {
            Some(Pair::OriginalFirst) => self.ledger.original_was(start, id, came),
            Some(Pair::OriginalSecond) => {
                let clear = guess.is_some_and(|g| !g.close) && !several_left(f);
                if clear && certain.reason.is_none() {
                    self.timing.note_duplicate(f, ack.seg.ts_ns);
                }
                self.ledger.log.decide(id, Status::Nothing);
                self.ledger.late_original(start, ack, came);
            }
            Some(Pair::CopiesOnly) => {
                self.ledger.copy_was(start, id);
            }
            None if several_left(f) => {
                self.ledger.copy_was(start, id);
                if let Some(f) = self.ledger.filled.get_mut(start) {
                    f.refused += 0.5;
                }
            }
            None => match self.original_was_first(f, ack) {
                Some(Evidence::Timestamps) => self.ledger.original_was(start, id, certain),
                Some(_) => self.ledger.original_was(start, id, came),
                None => {
                    self.timing.learn_from_pair(f, ack.seg.ts_ns);
                    self.ledger.log.decide(id, Status::Nothing);
                    self.ledger.late_original(start, ack, came);
                }
            },
        }
    }

    /// What says, if anything, that the original of a doubtful pair arrived first, so that the duplicate was the retransmission.
    fn original_was_first(&self, f: &Filled, ack: &Ack) -> Option<Evidence> {
        let before = self.last.map(|l| l.tsecr);
        if self.outstanding.echoes(&ack.seg) {
            let jumped = before.is_some_and(|recent| after(f.copies.first_tsval, recent))
                && !after(f.copies.first_tsval, ack.seg.tsecr);
            if jumped {
                return Some(Evidence::Timestamps);
            }
        }
        let expected = f.copies.first_ns + self.timing.usual_rtt();
        let (first, second) = (
            (f.reported_ns - expected).abs(),
            (ack.seg.ts_ns - expected).abs(),
        );
        (second <= first).then_some(Evidence::Timing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use super::*;
    use crate::result::Kind;

    #[test]
    fn without_timestamps_and_habits_nothing_tells_which_of_two_came_first() {
        let told = |without| -> Told {
            let mut trace = Trace::new(true, without);
            trace.in_order(0, 0, 20);
            trace.lost(40, 20);
            // Nothing came in the time in which a duplicate would have been the retransmission.
            trace.in_order(70, 25, 45);
            trace.ack(101, 45, &[(20, 21)]);
            trace.end()
        };
        assert_eq!(told(None), [(Kind::Reordered, 20, Confidence::Ambiguous)]);
        let asserted = told(Some(Explanation::PairOrder));
        assert_eq!(asserted, [(Kind::Reordered, 20, Confidence::Certain)]);
    }
}
