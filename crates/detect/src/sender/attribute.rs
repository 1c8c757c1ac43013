//! Which copy arrived: the original or a retransmission.

use super::Sender;
use super::acks::Ack;
use super::board::Copies;
use super::filled::{By, Filled};
use super::ledger::{MIN_CERTAIN, MIN_LIKELY, Tally};
use super::log::Status;
use super::pair::Pair;
use super::paws::discarded;
use super::report::Report;
use super::timing::Timing;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason};

/// What the first report of a retransmitted segment was about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum First {
    Original(Basis),
    Retransmission,
    Unknown,
}

/// Chance that a round trip is shorter by a sixteenth than all seen so far, at least.
const MIN_CHANCE_OF_SHORTER_RTT: f64 = 0.02;

/// Share of the retransmissions that are lost, or whose DSACK is, where a report came too soon for one, at least: how
/// many are lost is not known so well that it could outweigh that.
const MIN_LOST_SHARE_WHEN_SOON: f64 = 0.05;

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Timing {
    /// Is a report `took` after the first retransmission too soon to be about that? The smallest
    /// round trip seen so far is no bound: a queue that was full may have drained since. How often
    /// what was retransmitted came after all, the flow's decided ones tell.
    fn sooner_than_a_copy(&self, took: i64, tally: &Tally) -> Option<Basis> {
        let rtt = self.min_rtt?;
        if took >= rtt - rtt / 16 {
            return None;
        }
        if took < rtt / 2 {
            return Some(Basis::certain(Evidence::Timing));
        }
        let late = tally.late_copied as f64 + 0.25;
        let lost = (tally.only_copies as f64 + 1.0) * self.undercut();
        let posterior = late / (late + lost);
        let basis = Basis::certain(Evidence::Timing);
        match posterior {
            p if p >= MIN_CERTAIN => Some(basis),
            p if p >= MIN_LIKELY => Some(basis.weaker(Reason::WhichCopy)),
            _ => None,
        }
    }

    /// Is a report `took` after the first retransmission too soon to be about any?
    pub(super) fn sooner_than_any(&self, took: i64) -> bool {
        self.min_rtt.is_some_and(|rtt| took < rtt - rtt / 16)
    }

    /// The chance that a round trip is shorter than all seen so far: that the next of n + 1 samples is the smallest
    /// has a chance of one in n + 1, were they drawn for themselves; a queue's are not.
    fn undercut(&self) -> f64 {
        (1.0 / (self.rtt_samples as f64 + 1.0)).max(MIN_CHANCE_OF_SHORTER_RTT)
    }

    /// A report came `took` after the first retransmission, and no DSACK followed: how likely was it about the
    /// original all the same, which came late while the retransmission was lost, as `lost_share` of all are? A report
    /// that is too soon for the retransmission would need a round trip shorter than all. It fits an original as
    /// late as usual by so much better as `fit` says.
    pub(super) fn silent_original(
        &self,
        took: i64,
        tally: &Tally,
        lost_share: f64,
        fit: f64,
    ) -> f64 {
        let soon = self.sooner_than_any(took);
        let (share, undercut) = if soon {
            (lost_share.max(MIN_LOST_SHARE_WHEN_SOON), self.undercut())
        } else {
            (lost_share, 1.0)
        };
        let late = (tally.late_copied as f64 + 0.25) * share * fit;
        let lost = (tally.only_copies as f64 + 1.0) * undercut;
        late / (late + lost)
    }

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
    /// Decides for a segment that was retransmitted before `ack` came.
    pub(super) fn attribute(&self, report: &Report, copies: &Copies, ack: &Ack) -> First {
        match self.attribute_captured(report, copies, ack) {
            First::Original(basis) => {
                let sent_ns = report.sent.sent_ns;
                First::Original(self.unless_sent_unseen(basis, sent_ns, ack.seg.ts_ns))
            }
            other => other,
        }
    }

    /// The same, if all copies were captured.
    fn attribute_captured(&self, report: &Report, copies: &Copies, ack: &Ack) -> First {
        let both = |c: (i64, i64)| report.sent.start < c.1 && c.0 < report.sent.end();
        if copies.count == 1 && self.reading.crossed.is_some_and(both) {
            // The ACK that is the first to cover it says that it came twice.
            return First::Original(Basis::certain(Evidence::Dsack));
        }
        // What the blocks had no room for arrived at some earlier time: TSecr is not about it.
        let prompt = report.unsure != Some(Reason::BlockLimit);
        if prompt && self.outstanding.echoes(&ack.seg) {
            let before = self.last.map(|l| l.tsecr);
            if before.is_some_and(|recent| discarded(report.sent.tsval, recent)) {
                return First::Retransmission;
            }
            if report.left_edge {
                // TS.Recent is taken from what filled the left edge (RFC 7323 section 4.3).
                if after(copies.first_tsval, ack.seg.tsecr) {
                    return First::Original(Basis::certain(Evidence::Timestamps));
                }
                if before.is_none_or(|recent| after(copies.first_tsval, recent)) {
                    return First::Retransmission;
                }
            }
        }
        match self.too_soon(copies, ack) {
            Some(basis) => First::Original(basis),
            None => First::Unknown,
        }
    }

    /// Did `ack` come, or leave, too soon to be about the first of `copies`?
    fn too_soon(&self, copies: &Copies, ack: &Ack) -> Option<Basis> {
        let sooner = |at_ns: i64| {
            let took = at_ns.saturating_sub(copies.first_ns);
            self.timing.sooner_than_a_copy(took, &self.ledger.tally)
        };
        let has = |explanation| self.explanations.has(explanation);
        if let Some(basis) = has(Explanation::TooSoon)
            .then(|| sooner(ack.seg.ts_ns))
            .flatten()
        {
            return Some(basis);
        }
        let left_ns = self
            .clock
            .latest_ns(&ack.seg)
            .filter(|_| has(Explanation::ReceiverClock));
        let basis = sooner(left_ns?)?;
        Some(basis.weaker(Reason::WhichCopy))
    }

    /// A DSACK for `[left, right)`: both copies have arrived, the second just now.
    pub(super) fn duplicate(&mut self, left: i64, right: i64, ack: &Ack) {
        self.receiver.dsack_seen = true;
        let starts = self.ledger.filled.starts_in(left, right);
        if starts.is_empty() {
            self.ledger.copies.reported += 1;
        }
        let copied_by_network = self.ledger.maybe_copied_by_network();
        for start in starts {
            let Some(f) = self.ledger.filled.get_mut(start) else {
                continue;
            };
            f.duplicates += 1;
            let f = *f;
            if f.original_in {
                continue;
            }
            let other_copy = copied_by_network || self.sent_unseen(f.copies.first_ns);
            match f.first {
                By::Original => {}
                By::Copy if other_copy => self.doubt_loss(start),
                By::Doubtful(id) if other_copy => {
                    self.ledger.copy_was(start, id);
                    self.doubt_loss(start);
                }
                By::Doubtful(id) => self.doubtful_pair(&f, id, ack),
                By::Copy if several_left(&f) => self.either_copy(&f, ack),
                By::Copy => {
                    let guess = self.timing.who_came(&f, ack.seg.ts_ns, true);
                    let other = match guess {
                        Some(guess) => guess.pair == Pair::CopiesOnly,
                        None => self.timing.another_copy(&f, ack.seg.ts_ns),
                    };
                    if !other {
                        let sure = f.named || guess.is_some_and(|g| !g.close);
                        self.late_or_first(&f, ack, sure);
                    }
                }
            }
        }
    }

    /// Both have come: the original later, if it is `sure` that the first report was not about it. It was taken to be the
    /// retransmission's because no duplicate was reported in time.
    fn late_or_first(&mut self, f: &Filled, ack: &Ack, sure: bool) {
        let basis = if f.named {
            Basis::certain(Evidence::TimestampsDsack)
        } else if sure {
            Basis::certain(Evidence::Dsack).weaker(Reason::WhichCopy)
        } else {
            Basis::ambiguous(Evidence::Dsack, Reason::WhichCopy)
        };
        if sure {
            self.timing.note_duplicate(f, ack.seg.ts_ns);
        }
        self.ledger.late_original(f.place.start, ack, basis);
    }

    /// A retransmission came first, and of what came now only time tells whether it was another one
    /// or the original. Where that is as good either way, the original is not said to be lost.
    fn either_copy(&mut self, f: &Filled, ack: &Ack) {
        let guess = self.timing.who_came(f, ack.seg.ts_ns, true);
        let start = f.place.start;
        // Only the first and the last are remembered: of more, any time is some copy's.
        let all_known = f.copies.count <= 2;
        match guess.filter(|g| !g.close && all_known).map(|g| g.pair) {
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

    /// The duplicate of a segment that nothing told of yet which copy came first.
    fn doubtful_pair(&mut self, f: &Filled, id: u64, ack: &Ack) {
        let start = f.place.start;
        let guess = self.timing.who_came(f, ack.seg.ts_ns, false);
        let guess = guess.filter(|_| !self.outstanding.echoes(&ack.seg));
        let basis = Basis::certain(Evidence::Dsack);
        let basis = match guess {
            Some(guess) if guess.close => basis.weaker(Reason::WhichCopy),
            _ => basis,
        };
        match guess.map(|g| g.pair) {
            Some(Pair::OriginalFirst) => self.ledger.original_was(start, id, basis),
            Some(Pair::OriginalSecond) => {
                if basis.reason.is_none() {
                    self.timing.note_duplicate(f, ack.seg.ts_ns);
                }
                self.ledger.log.decide(id, Status::Nothing);
                self.ledger.late_original(start, ack, basis);
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
                Some(basis) => self.ledger.original_was(start, id, basis),
                None => {
                    self.timing.learn_from_pair(f, ack.seg.ts_ns);
                    self.ledger.log.decide(id, Status::Nothing);
                    self.ledger.late_original(start, ack, basis);
                }
            },
        }
    }

    /// Of a doubtful pair, was the duplicate the retransmission?
    fn original_was_first(&self, f: &Filled, ack: &Ack) -> Option<Basis> {
        let before = self.last.map(|l| l.tsecr);
        if self.outstanding.echoes(&ack.seg) {
            let jumped = before.is_some_and(|recent| after(f.copies.first_tsval, recent))
                && !after(f.copies.first_tsval, ack.seg.tsecr);
            if jumped {
                return Some(Basis::certain(Evidence::Dsack));
            }
        }
        let expected = f.copies.first_ns + self.timing.usual_rtt();
        let (first, second) = (
            (f.reported_ns - expected).abs(),
            (ack.seg.ts_ns - expected).abs(),
        );
        if second > first {
            return None;
        }
        let basis = Basis::certain(Evidence::Dsack);
        let close = self
            .timing
            .min_rtt
            .is_some_and(|rtt| first - second < rtt / 8);
        Some(if close {
            basis.weaker(Reason::WhichCopy)
        } else {
            basis
        })
    }
}
