//! Which copy arrived: the original or a retransmission.

use super::Sender;
use super::acks::Ack;
use super::board::Copies;
use super::ledger::{MIN_LIKELY, Tally};
use super::paws::discarded;
use super::report::Report;
use super::timing::Timing;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::habits::TooOld;
use crate::result::{Evidence, Reason};

/// What the first report of a retransmitted segment was about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum First {
    Original(Basis),
    /// `named`: by an echoed timestamp that can be nothing else's.
    Retransmission {
        named: bool,
    },
    Unknown,
}

/// Chance that a round trip is shorter by a sixteenth than all seen so far, at least.
const MIN_CHANCE_OF_SHORTER_RTT: f64 = 0.02;
/// With fewer round trips than this, one that is shorter than all of them is no surprise.
const MIN_ROUND_TRIPS_TO_COMPARE: u64 = 16;

pub(super) fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Timing {
    /// Is a report `took` after the first retransmission too soon to be about that? The smallest
    /// round trip seen so far is no bound: a queue that was full may have drained since. How often
    /// what was retransmitted came after all, the flow's decided ones tell.
    pub(super) fn sooner_than_a_copy(&self, took: i64, tally: &Tally) -> Option<Basis> {
        let rtt = self.min_rtt.filter(|_| !self.is_coarse())?;
        if took >= rtt - rtt / 16 {
            return None;
        }
        if took < rtt / 2 {
            return Some(Basis::certain(Evidence::Timing));
        }
        let late = tally.late_copied as f64 + 0.25;
        let lost = (tally.only_copies as f64 + 1.0) * self.undercut();
        let posterior = late / (late + lost);
        // Each that is taken to be late makes the next one more likely, so they never add up to a certainty.
        let basis = Basis::certain(Evidence::Timing).weaker(Reason::WhichCopy);
        Some(basis).filter(|_| posterior >= MIN_LIKELY)
    }

    /// Few round trips are known, and a report `took` after the first retransmission is sooner than each of them: more of them may show that it
    /// was too soon for that.
    pub(super) fn may_turn_out_too_soon(&self, took: i64) -> bool {
        self.rtt_samples < MIN_ROUND_TRIPS_TO_COMPARE && self.sooner_than_any(took)
    }

    /// Is a report `took` after the first retransmission too soon to be about any?
    pub(super) fn sooner_than_any(&self, took: i64) -> bool {
        let rtt = self.min_rtt.filter(|_| !self.is_coarse());
        rtt.is_some_and(|rtt| took < rtt - rtt / 16)
    }

    /// The chance that a round trip is shorter than all seen so far: that the next of n + 1 samples is the smallest
    /// has a chance of one in n + 1, were they drawn for themselves; a queue's are not.
    pub(super) fn undercut(&self) -> f64 {
        (1.0 / (self.rtt_samples as f64 + 1.0)).max(MIN_CHANCE_OF_SHORTER_RTT)
    }
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
        // Of what one retransmission repeats, only the first segment counts it.
        let one = copies.count <= 1 && copies.first_ns == copies.last_ns;
        if one && self.reading.crossed.is_some_and(both) {
            // The ACK that is the first to cover it says that it came twice.
            return First::Original(Basis::certain(Evidence::Dsack));
        }
        // What the blocks had no room for arrived at some earlier time: TSecr is not about it.
        let prompt = report.unsure != Some(Reason::BlockLimit);
        if prompt && self.outstanding.echoes(&ack.seg) {
            let before = self.last.map(|l| l.tsecr);
            if report.left_edge && self.receiver.echoes_by_rule() {
                // TS.Recent is taken from what filled the left edge (RFC 7323 section 4.3).
                if after(copies.first_tsval, ack.seg.tsecr) {
                    return First::Original(Basis::certain(Evidence::Timestamps));
                }
                // Within one tick of the sender's clock, the original has the same stamp.
                let differ = after(copies.first_tsval, report.sent.tsval);
                if differ && before.is_none_or(|recent| after(copies.first_tsval, recent)) {
                    // A duplicate moves TS.Recent, too, and its ACK may be among those that are missing.
                    return First::Retransmission {
                        named: ack.missing == 0,
                    };
                }
            }
            if self.too_old(report) && self.receiver.too_old != TooOld::Taken {
                let named = self.receiver.too_old == TooOld::Reported;
                return First::Retransmission { named };
            }
        }
        match self.too_soon(copies, ack) {
            Some(basis) => First::Original(basis),
            None => First::Unknown,
        }
    }

    /// Would a receiver that follows RFC 7323 section 5 have discarded the original of what is reported?
    pub(super) fn too_old(&self, report: &Report) -> bool {
        let by_rule = self.receiver.echoes_by_rule();
        let recent = self.last.filter(|l| by_rule && self.outstanding.echoes(l));
        recent.is_some_and(|l| discarded(report.sent.tsval, l.tsecr))
    }

    /// Did `ack` come too soon to be about the first of `copies`?
    fn too_soon(&self, copies: &Copies, ack: &Ack) -> Option<Basis> {
        if !self.explanations.has(Explanation::TooSoon) {
            return None;
        }
        let took = ack.seg.ts_ns.saturating_sub(copies.first_ns);
        self.timing.sooner_than_a_copy(took, &self.ledger.tally)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// The last segment of a burst is retransmitted, as a tail loss probe is, after `acks_lost` ACKs have been lost: then
    /// an ACK of newer data is the first to cover it. Otherwise that of the retransmission is.
    fn told(acks_lost: u16) -> Told {
        let mut trace = Trace::stamped(None);
        trace.in_order(0, 0, 20);
        trace.late(50, 20);
        // On a path that loses much.
        trace.sender.ledger.tally.only_copies = 1_000;
        trace.send(100, 25);
        trace.send_again(130, 25);
        if acks_lost == 0 {
            trace.ack(140, 26, &[]);
        }
        trace.lose_acks(acks_lost);
        trace.in_order(200, 26, 46);
        trace.in_order(900, 46, 66);
        let told = trace.end().into_iter();
        told.filter(|t| t.1 == 25).collect()
    }

    /// Without SACK the third segment is sent again and acknowledged 6 ms later, where a round trip takes 10 ms, of which two are known by then; the
    /// answer to the retransmission comes after 10 ms. How many retransmissions turn out to have been needless.
    fn sooner_than_two(without: Option<Explanation>) -> u64 {
        let mut trace = Trace::new(false, without);
        trace.in_order(0, 0, 2);
        trace.send(40, 2);
        trace.send_again(44, 2);
        trace.ack(50, 3, &[]);
        trace.ack(54, 3, &[]);
        trace.in_order(100, 3, 40);
        trace.sender.settle(i64::MAX);
        trace.sender.ledger.spurious
    }

    #[test]
    fn what_came_sooner_than_few_round_trips_waits_for_more() {
        assert_eq!(sooner_than_two(None), 1);
        assert_eq!(sooner_than_two(Some(Explanation::AnsweredCopies)), 0);
    }

    /// A segment is sent again within the tick of the sender's clock in which it was sent, and acknowledged sooner than that can be.
    #[test]
    fn within_one_tick_an_echo_names_neither_copy() {
        let mut trace = Trace::stamped(None);
        trace.in_order(0, 0, 20);
        (0..5).for_each(|n| trace.send(50 + n, 20 + n));
        (1..5).for_each(|n| trace.sack(60 + n, 20, &[(21, 21 + n)]));
        trace.send_again_as_at(64, 20, 50);
        trace.ack_echoing(65, 25, &[], 1_050);
        trace.in_order(200, 25, 45);
        assert_eq!(trace.end(), [(Kind::Reordered, 20, Confidence::Certain)]);
    }

    #[test]
    fn behind_lost_acks_an_echo_is_no_proof_that_the_retransmission_came_first() {
        let lost = |sure| vec![(Kind::Lost, 25, sure)];
        assert_eq!(told(0), lost(Confidence::Certain));
        assert_eq!(told(2), lost(Confidence::Likely));
    }
}
