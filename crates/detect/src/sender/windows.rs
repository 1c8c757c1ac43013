//! Windows of ambiguity: unexplained ACKs, and the originals that may have caused them.
//!
//! Most ACKs have one possible cause and are decided as they come. An unexplained one waits
//! ([`super::paws`]) until what was missing has been filled. Then it and those beside it are
//! weighed together: each against every hole it may answer, by how late that original would have
//! been, and against chance, by how often such ACKs come where nothing was missing. How many of
//! the retransmitted segments came late so far, and how many never did, are the prior odds; they
//! begin on the side of loss.

use std::collections::VecDeque;

use super::assign::{Candidate, Posterior, assign_best};
use super::clutter::Clutter;
use super::filled::FilledMap;
use super::ledger::{Ledger, MIN_LIKELY, Tally};
use super::missing::{MAX_FILLED_PER_WINDOW, Missing};
use super::paws::ticks_too_old;
use super::receiver::Receiver;
use super::timing::{CLOCK_ACCURACY_NS, Timing};
use super::unexplained::{Trigger, UnexplainedAck};
use crate::explanation::{Explanation, Explanations};

/// ACKs weighed together.
const MAX_ACKS_PER_WINDOW: usize = 32;
/// Minimum posterior of a cause that counts among those an ACK may have.
const MIN_CAUSE: f64 = 0.01;
/// Maximum number of causes an ACK may have for a hole to be named where there are as many ACKs as holes: each hole was then
/// answered by one of them. If lateness has a habit there is no maximum. With more causes the right hole is often missing from
/// those weighed: of the originals named on drawn paths, one in five had been lost.
const MAX_CAUSES_TO_NAME_ONE: usize = 2;
/// Share of packets duplicated by the network above which ACKs without new information count as ACKs without a cause.
const MAX_SHARE_COPIED: f64 = 0.001;
/// Maximum number of values tried for the usual lateness while it is not known.
const MAX_LATENESSES_PROPOSED: usize = 16;
/// Maximum EM iterations for the prior odds late : lost.
const MAX_ROUNDS_OF_ODDS: usize = 3;
/// Number of late originals from which on the usual lateness is known.
const MIN_LATE_TO_KNOW_LATENESS: usize = 5;
/// Weight of the posteriors of an ACK that only holes explain, if it is undecided which one: this share goes to the holes by
/// how well they fit, the rest to all possible ones alike. How late is usual is not known so well that it rules one out, and not all
/// are weighed.
const TRUST_IN_WEIGHING: f64 = 0.5;
/// Prior that an original one timestamp tick too old was discarded: Linux tolerates one tick (`TCP_PAWS_WINDOW`), others do not.
const SHARE_REFUSED_ONE_TICK_OLD: f64 = 0.3;

/// What is weighed together.
struct Window {
    acks: Vec<UnexplainedAck>,
    holes: Vec<Missing>,
    /// Pairs that are possible: ACK and hole by index, shortest and longest lateness.
    pairs: Vec<(usize, usize, i64, i64)>,
    /// There are more holes than are looked at.
    cut_short: bool,
}

/// What the identifications of the receiver's packets tell of its ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckNumbers {
    /// They count, so that a missing one shows.
    pub(super) by_id: bool,
    /// ACKs missing so far.
    pub(super) missing: u64,
}

/// What the flow has shown so far, to weigh with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) timing: &'a Timing,
    pub(super) receiver: &'a Receiver,
    pub(super) tally: Tally,
    pub(super) acks: AckNumbers,
}

impl Known<'_> {
    /// How many ACKs of a kind without any cause a first round trip of holes is expected to bring.
    fn expected(&self, trigger: Trigger) -> f64 {
        let reports_duplicates = self.receiver.dsack_seen;
        match trigger {
            // A receiver that reports duplicates repeats an ACK for what it discards only. One that
            // does not may have had a copy too many; without identifications one ACK may be there twice.
            // Nothing but a duplicate, and what else came twice than a late original is rare.
            Trigger::Again => 1e-3,
            Trigger::Nothing if reports_duplicates && self.acks.by_id => 1e-4,
            Trigger::Nothing if reports_duplicates => 1e-3,
            Trigger::Nothing => 1e-2,
            Trigger::Window | Trigger::Reader | Trigger::Owed => 0.5,
            Trigger::EarlyFlush => 1.0,
            Trigger::Timer => 4.0,
            Trigger::Lost => 1.0 + self.acks.missing as f64,
        }
    }
}

/// Unexplained ACKs that wait for their hole, and how often such ACKs mean nothing.
#[derive(Debug)]
pub(super) struct Windows {
    waiting: VecDeque<UnexplainedAck>,
    pub(super) clutter: Clutter,
    explanations: Explanations,
}

heap!(Windows: waiting);

impl Windows {
    pub(super) fn new(explanations: Explanations) -> Self {
        Windows {
            waiting: VecDeque::new(),
            clutter: Clutter::default(),
            explanations,
        }
    }

    /// One more waits.
    pub(super) fn push(&mut self, ack: UnexplainedAck) {
        self.waiting.push_back(ack);
    }

    /// A reason has been found for the ACK whose entry in the log is `id`: as good a one as a timer.
    pub(super) fn triggered(&mut self, id: u64) {
        if let Some(ack) = self.waiting.iter_mut().find(|a| a.id == id) {
            ack.trigger = Trigger::Timer;
        }
    }

    /// Decides on the unexplained ACKs whose time is up at `now`, and on those not much younger.
    pub(super) fn explain(
        &mut self,
        now: i64,
        ledger: &mut Ledger,
        timing: &mut Timing,
        receiver: &Receiver,
        acks: AckNumbers,
    ) {
        while self.waiting.front().is_some_and(|a| a.deadline_ns <= now) {
            let window = self.window(&ledger.filled, timing, receiver);
            let known = Known {
                timing,
                receiver,
                tally: ledger.tally,
                acks,
            };
            let posterior = self.weigh(&window, &known);
            let until = now.saturating_add(timing.patience() / 4);
            let ripe = window.acks.iter().take_while(|a| a.deadline_ns <= until);
            let ripe = ripe.count().max(1);
            for ack in 0..ripe {
                self.commit(&window, &posterior, ack, (ledger, timing));
            }
            self.waiting.drain(..ripe);
        }
    }

    fn window(&self, filled: &FilledMap, timing: &Timing, receiver: &Receiver) -> Window {
        let silent = receiver.hides_duplicates();
        let acks: Vec<UnexplainedAck> = self
            .waiting
            .iter()
            .take(MAX_ACKS_PER_WINDOW)
            .copied()
            .collect();
        let until = acks.last().map_or(i64::MIN, |a| a.at_ns);
        let una = acks.iter().map(|a| a.una).min().unwrap_or(i64::MAX);
        let since = acks.first().map_or(i64::MAX, |a| a.since_ns);
        // Filled long before the first ACK, a hole has no part in this.
        let recent = since.saturating_sub(timing.patience());
        let above = || filled.latest().take_while(|f| f.place.start >= una);
        let cut_short = above().nth(MAX_FILLED_PER_WINDOW).is_some();
        let holes: Vec<Missing> = above()
            .take(MAX_FILLED_PER_WINDOW)
            .filter(|f| f.original_may_come(silent) && f.reported_ns >= recent)
            .map(|f| Missing::of(f, timing))
            .filter(|m| m.due_ns <= until)
            .collect();
        let mut pairs = Vec::new();
        for (a, ack) in acks.iter().enumerate() {
            let possible = |h: &(usize, &Missing)| h.1.possible(ack, self.explanations);
            for (h, hole) in holes.iter().enumerate().filter(possible) {
                let late = |at: i64| at.saturating_sub(hole.due_ns);
                let (from, to) = (late(ack.since_ns), late(ack.at_ns).max(0));
                pairs.push((a, h, from.min(to - CLOCK_ACCURACY_NS), to));
            }
        }
        Window {
            acks,
            holes,
            pairs,
            cut_short,
        }
    }

    /// How likely each pair of the window is.
    fn weigh(&self, window: &Window, known: &Known<'_>) -> Posterior {
        if window.pairs.is_empty() {
            return Posterior::default();
        }
        let (density, lateness) = (known.timing.density(), &known.timing.lateness);
        let learnt = |from: i64, to: i64| density.of(lateness, from, to);
        let mut posterior = self.posterior(window, known, &learnt);
        if lateness.len() >= MIN_LATE_TO_KNOW_LATENESS {
            return posterior;
        }
        // Not known how late is usual: as many readings as lateness is proposed, each by its weight.
        let telling = window
            .pairs
            .iter()
            .filter(|p| matches!(window.acks[p.0].trigger, Trigger::Nothing | Trigger::Again));
        let mut centers: Vec<i64> = telling.map(|p| p.3).collect();
        centers.truncate(MAX_LATENESSES_PROPOSED);
        let prior = |center: i64| density.of(lateness, center, center + CLOCK_ACCURACY_NS);
        centers.retain(|&center| prior(center) > 0.0);
        let sum: f64 = centers.iter().map(|&c| prior(c)).sum();
        let agreed = centers.iter().map(|&center| {
            let around = |from: i64, to: i64| density.around(center, from, to);
            (prior(center) / sum, self.posterior(window, known, &around))
        });
        let all: Vec<(f64, Posterior)> = std::iter::once((1.0, posterior.clone()))
            .chain(agreed)
            .collect();
        let most = all.iter().map(|r| r.1.evidence).fold(f64::MIN, f64::max);
        let weight = |r: &(f64, Posterior)| r.0 * libm::exp(r.1.evidence - most);
        let sum: f64 = all.iter().map(weight).sum();
        for (i, p) in posterior.pairs.iter_mut().enumerate() {
            *p = all.iter().map(|r| weight(r) / sum * r.1.pairs[i]).sum();
        }
        posterior
    }

    /// The same for one reading of how late is usual. How many of the holes were refused is learnt
    /// with it: what the first odds make likely belongs to the odds of the next round.
    fn posterior(
        &self,
        window: &Window,
        known: &Known<'_>,
        late: &dyn Fn(i64, i64) -> f64,
    ) -> Posterior {
        let tally = known.tally;
        let (came, never) = (tally.late_copied as f64, tally.only_copies as f64);
        let mut candidates = self.candidates(window, known, late);
        let mut odds = (came + 0.25) / (never + 1.0);
        let mut posterior = Posterior::default();
        for _ in 0..MAX_ROUNDS_OF_ODDS {
            candidates.iter_mut().for_each(|c| c.ratio *= odds);
            posterior = assign_best(window.acks.len(), &candidates);
            let refused: f64 = posterior.pairs.iter().sum();
            let next = (came + refused + 0.25) / ((never - refused).max(0.0) + 1.0);
            if next < 1.2 * odds {
                break;
            }
            candidates.iter_mut().for_each(|c| c.ratio /= odds);
            odds = next;
        }
        posterior
    }

    /// The pairs of the window, weighed against chance, were late and lost as frequent.
    fn candidates(
        &self,
        window: &Window,
        known: &Known<'_>,
        late: &dyn Fn(i64, i64) -> f64,
    ) -> Vec<Candidate> {
        if !self.explanations.has(Explanation::Refused) {
            return Vec::new();
        }
        let rtt = known.timing.some_min_rtt() as f64;
        let weigh = |&(ack, target, from, to): &(usize, usize, i64, i64)| {
            let heard = &window.acks[ack];
            let first = known.expected(heard.trigger);
            let seen = self.clutter.rate(heard.trigger, first, rtt);
            let clutter = seen.max(known.receiver.compression.held_back_rate(heard.trigger));
            let one_tick = ticks_too_old(window.holes[target].tsval, heard.recent) == 1;
            let passes = if one_tick {
                SHARE_REFUSED_ONE_TICK_OLD
            } else {
                1.0
            };
            let ratio = passes * late(from, to) / clutter;
            Candidate { ack, target, ratio }
        };
        window.pairs.iter().map(weigh).collect()
    }

    /// Learns from the ACK `heard`, explained with probability `explained` by `possible` holes, how often such ACKs have no cause.
    /// Returns the probability that remains for all these holes alike.
    fn learn(
        &mut self,
        window: &Window,
        heard: &UnexplainedAck,
        (possible, explained): (usize, f64),
        ledger: &mut Ledger,
    ) -> f64 {
        let unexplained = (1.0 - explained).max(0.0);
        let means_nothing = possible == 0 && !window.cut_short;
        // A copy that the network made, and that is too old, is answered in the same way.
        let copied = ledger.copies.share(ledger.data_packets) > MAX_SHARE_COPIED;
        let answers = matches!(heard.trigger, Trigger::Nothing | Trigger::Again);
        let learnt = !answers || means_nothing || copied;
        if learnt || !self.explanations.has(Explanation::LeftOver) {
            self.clutter.note(heard.trigger, unexplained);
            return 0.0;
        }
        if window.cut_short {
            ledger.unplaced += unexplained;
            return 0.0;
        }
        unexplained
    }

    /// Decides on one ACK. It is a hole's if that is likely, or if it is likely some hole's and the
    /// hole likely has one: then the fact is sure, and which of several ACKs it was a guess.
    fn commit(
        &mut self,
        window: &Window,
        posterior: &Posterior,
        ack: usize,
        (ledger, timing): (&mut Ledger, &mut Timing),
    ) {
        let heard = window.acks[ack];
        let pairs = || window.pairs.iter().zip(&posterior.pairs);
        let of_hole = |h: usize| pairs().filter(|p| p.0.1 == h).map(|p| p.1).sum::<f64>();
        let explained: f64 = pairs().filter(|p| p.0.0 == ack).map(|p| p.1).sum();
        let possible = pairs().filter(|p| p.0.0 == ack).count();
        let left_over = self.learn(window, &heard, (possible, explained), ledger);
        let causes = pairs().filter(|p| p.0.0 == ack && *p.1 >= MIN_CAUSE);
        let few = causes.count() <= MAX_CAUSES_TO_NAME_ONE || timing.late_by_habit();
        let few = few || !self.explanations.has(Explanation::FewCauses);
        let together = few && heard.trigger != Trigger::Window && explained >= MIN_LIKELY;
        let told = |&(&(a, h, ..), &p): &(&(usize, usize, i64, i64), &f64)| {
            let hole = ledger.filled.get(window.holes[h].start);
            let free = hole.is_some_and(|f| f.original_may_come(true));
            a == ack
                && free
                && !window.cut_short
                && (p >= MIN_LIKELY || together && of_hole(h) >= MIN_LIKELY)
        };
        let best = pairs().filter(told).max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((pair, _)) = best {
            let start = window.holes[pair.1].start;
            if matches!(heard.trigger, Trigger::Nothing | Trigger::Again)
                && let Some(f) = ledger.filled.get(start)
            {
                timing.note_duplicate(f, heard.at_ns);
            }
            return ledger.adopt(start, &heard);
        }
        let lacking = |p: &(usize, usize, i64, i64)| heard.at_ns <= window.holes[p.1].filled_ns;
        let of_ack = pairs().filter(|p| p.0.0 == ack && lacking(p.0));
        if of_ack.map(|p| p.1).sum::<f64>() >= MIN_LIKELY {
            // One was refused; whose it was is not known.
            ledger.collector.refused_unnamed();
        }
        let possible = possible.max(1);
        let trust = match heard.trigger {
            Trigger::Nothing | Trigger::Again => TRUST_IN_WEIGHING,
            _ => 1.0,
        };
        let any = ((1.0 - trust) * explained + left_over) / possible as f64;
        for (pair, &p) in pairs().filter(|p| p.0.0 == ack) {
            let hole = window.holes[pair.1];
            if let Some(f) = ledger.filled.get_mut(hole.start) {
                f.refused += trust * p + any;
                if heard.at_ns > hole.filled_ns {
                    f.doubled += p;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SenderEnd;
    use super::super::trace::Trace;
    use super::*;
    use crate::result::{Confidence, Kind};

    const LOST: (Kind, Confidence) = (Kind::Lost, Confidence::Ambiguous);

    /// A hole is answered the moment its original is due, and nothing is known of lateness.
    #[test]
    fn no_lateness_is_weighed_that_nothing_can_have() {
        let mut timing = Timing::default();
        timing.note_rtt(10_000_000);
        let heard = UnexplainedAck {
            id: 0,
            at_ns: 0,
            since_ns: 0,
            deadline_ns: 0,
            recent: 0,
            una: 0,
            trigger: Trigger::Nothing,
            again: None,
        };
        let hole = Missing {
            start: 0,
            due_ns: 0,
            filled_ns: 1,
            tsval: 0,
        };
        let window = Window {
            acks: vec![heard],
            holes: vec![hole],
            pairs: vec![(0, 0, -CLOCK_ACCURACY_NS, 0)],
            cut_short: false,
        };
        let known = Known {
            timing: &timing,
            receiver: &Receiver::default(),
            tally: Tally::default(),
            acks: AckNumbers {
                by_id: true,
                missing: 0,
            },
        };
        let told = Windows::new(Explanations::ALL).weigh(&window, &known);
        assert!(told.pairs[0] < 0.5, "{told:?}");
    }

    /// A receiver that has reported a duplicate, and nine originals that came late: the first by `late` ms, each further
    /// one by `more` ms more.
    fn after_late_ones((late, more): (i64, i64), without: Option<Explanation>) -> Trace {
        let mut trace = Trace::stamped(without);
        trace.in_order(0, 0, 20);
        trace.late(40, 20);
        let lateness = (0..9).map(|n| (late + n * more) * 1_000_000);
        lateness.for_each(|ns| trace.sender.timing.lateness.push(ns));
        trace
    }

    /// Three segments that were sent at once miss their turn and are sent again; before these come the receiver repeats an
    /// ACK at each of the times `answers`. Originals came late before as
    /// [`after_late_ones`] says.
    fn three_holes(
        answers: &[i64],
        lateness: (i64, i64),
        without: Option<Explanation>,
    ) -> SenderEnd {
        let mut trace = after_late_ones(lateness, without);
        trace.in_order(100, 25, 40);
        (0..3).for_each(|n| trace.send(200, 40 + n));
        (3..8).for_each(|n| trace.send(200 + n, 40 + n));
        (3..8).for_each(|n| trace.sack(210 + n, 40, &[(43, 41 + n)]));
        (0..3).for_each(|n| trace.send_again(225, 40 + n));
        answers
            .iter()
            .for_each(|&at| trace.ack(at, 40, &[(43, 48)]));
        trace.ack(235, 41, &[(43, 48)]);
        trace.ack(235, 42, &[(43, 48)]);
        trace.ack(235, 48, &[]);
        trace.in_order(300, 48, 400);
        Box::new(trace.sender).finish(0, true)
    }

    /// What is said of the three of [`three_holes`], and how many originals were refused.
    fn told(
        answers: &[i64],
        lateness: (i64, i64),
        without: Option<Explanation>,
    ) -> (Vec<(Kind, Confidence)>, u64) {
        let end = three_holes(answers, lateness, without);
        let refused = end.data.collector.refusals();
        let events = end.data.collector.finish().events;
        let of_three = events
            .iter()
            .filter(|e| (40_000..43_000).contains(&e.seq_offset));
        (of_three.map(|e| (e.kind, e.confidence)).collect(), refused)
    }

    #[test]
    fn of_more_holes_than_answers_one_was_lost() {
        let lost = |answers: &[i64], without| {
            let end = three_holes(answers, (10, 4), without);
            end.data
                .recoveries
                .list
                .last()
                .map(|p| p.facts.lost.round())
        };
        assert_eq!(lost(&[228, 230], None), Some(1.0));
        assert_eq!(lost(&[228, 230, 232], None), Some(0.0));
        let off = Some(Explanation::MoreHoles);
        assert_eq!(lost(&[228, 230], off), Some(0.0));
    }

    #[test]
    fn as_many_answers_as_holes_name_no_original_where_lateness_has_no_habit() {
        let answers = [228, 230, 232];
        assert_eq!(told(&answers, (10, 4), None), (vec![LOST; 3], 3));
        let (named, number) = told(&answers, (10, 4), Some(Explanation::FewCauses));
        assert_eq!(named, [(Kind::Refused, Confidence::Likely); 3]);
        assert_eq!(number, 3);
    }

    /// Originals come late by 30 ms. Of one that is missing the receiver repeats an ACK three thousand times, all too soon; of the
    /// next once, in time: what is said of that.
    fn told_after_unexplained_acks(without: Option<Explanation>) -> Option<Kind> {
        let mut trace = after_late_ones((30, 0), without);
        trace.in_order(100, 25, 40);
        for (at, first, answers) in [(200, 40, [215; 3_000].as_slice()), (600, 100, &[640])] {
            (0..5).for_each(|n| trace.send(at + n, first + n));
            (1..5).for_each(|n| trace.sack(at + 10 + n, first, &[(first + 1, first + 1 + n)]));
            trace.send_again(at + 31, first);
            let block = [(first + 1, first + 5)];
            answers
                .iter()
                .for_each(|&now| trace.ack(now, first, &block));
            trace.ack(at + 41, first + 5, &[]);
            trace.in_order(at + 100, first + 5, first + 60);
        }
        let told = trace.end();
        told.iter().find(|t| t.1 == 100).map(|t| t.0)
    }

    #[test]
    fn what_nothing_explains_is_not_learnt_to_mean_nothing() {
        assert_eq!(told_after_unexplained_acks(None), Some(Kind::Refused));
        let off = told_after_unexplained_acks(Some(Explanation::LeftOver));
        assert_eq!(off, Some(Kind::Lost));
    }

    /// Originals come late by 8 ms. One misses its turn at the left edge, and 8 ms later an ACK is missing, behind which its
    /// hole is still there until its retransmission fills it: what is said of it.
    fn told_behind_a_missing_ack(without: Option<Explanation>) -> Option<(Kind, Confidence)> {
        let mut trace = after_late_ones((8, 0), without);
        // On a path that loses as much as it delays.
        trace.sender.ledger.tally.late_copied = 5;
        trace.sender.ledger.tally.only_copies = 5;
        trace.in_order(100, 25, 40);
        // Another one was lost just before.
        trace.lost(180, 40);
        (0..12).for_each(|n| trace.send(210 + n, 45 + n));
        // What came in its turn before has left the receiver a timestamp older than the original's.
        (1..8).for_each(|n| trace.ack_echoing(220 + n, 45, &[(46, 46 + n)], 1_194));
        trace.lose_acks(1);
        (9..12).for_each(|n| trace.ack_echoing(220 + n, 45, &[(46, 46 + n)], 1_194));
        trace.send_again(232, 45);
        trace.ack(242, 57, &[]);
        trace.in_order(300, 57, 400);
        let told = trace.end();
        told.iter().find(|t| t.1 == 45).map(|t| (t.0, t.2))
    }

    #[test]
    fn behind_a_missing_ack_a_hole_that_is_still_open_was_not_filled_by_its_original() {
        let lost = |sure| Some((Kind::Lost, sure));
        assert_eq!(told_behind_a_missing_ack(None), lost(Confidence::Certain));
        let off = told_behind_a_missing_ack(Some(Explanation::StillOpen));
        assert_eq!(off, lost(Confidence::Ambiguous));
    }
}
