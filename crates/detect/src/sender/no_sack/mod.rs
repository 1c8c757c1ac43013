//! Without SACK: only fills of the left edge show, as a jump after duplicate ACKs.
//!
//! Duplicate ACKs from late data and from spurious retransmissions look alike, so a fill counts
//! only when no retransmission was under way; extents are not given.

#[cfg(test)]
mod tests;

use super::Sender;
use super::acks::Ack;
use super::board::{Copies, Sent};
use super::filled::Filled;
use super::hidden::Hidden;
use super::paws::discarded;
use super::report::Report;
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Confidence, Evidence, Reason};

/// Duplicate ACKs without a block after which a connection without handshake has no SACK.
const MIN_DUPLICATE_ACKS: u32 = 3;
/// Segments in their turn that one ACK acknowledges at most (RFC 5681 section 4.2).
const MAX_SEGMENTS_PER_DELAYED_ACK: u64 = 2;
/// Number of answers for each one to a spurious retransmission below which the count of answers is not exact enough:
/// the answer to a duplicate may acknowledge delayed data, too.
const MIN_ANSWERS_PER_SPURIOUS: u64 = 32;
/// Holes remembered until there is none left.
const MAX_HOLES_REMEMBERED: usize = 32;

/// An ACK that moves the left edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Something above had come before what fills it.
    pub(super) late: bool,
    /// That was sent once, as more duplicate ACKs than retransmissions say.
    pub(super) above: bool,
    /// Segments that it covers.
    pub(super) segments: u64,
    /// When the first of them was sent again last, nanoseconds.
    pub(super) filled_ns: Option<i64>,
}

/// What is remembered between ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoSack {
    /// Duplicate ACKs since the left edge last moved: segments above the hole.
    pub(super) above: u32,
    /// Of these, the ones no retransmission can have caused.
    pub(super) above_clean: u32,
    /// Duplicate ACKs before a retransmission moved the left edge by no more than data in its turn moves it: what they answered lies
    /// above another hole, which is sent again next, or came again.
    pub(super) unclaimed: u32,
    /// Retransmissions above a hole, which came before what filled that: each has been answered.
    pub(super) excused: u32,
    /// ACKs with blocks that do not show, behind one that had none.
    pub(super) hidden: Hidden,
    /// Duplicate ACKs ever.
    ever: u32,
    /// See [`NoSack::shown`].
    shown: bool,
    /// Segments that an ACK covers where nothing was missing and nothing was sent again, of late.
    turn: u64,
    /// Time of the last retransmission, and what had been sent by then: until it is all
    /// acknowledged, duplicate ACKs may be the retransmissions' doing.
    last_copy: Option<(i64, i64)>,
    /// A hole that had duplicate ACKs before anything was retransmitted.
    clean: Option<i64>,
    /// ACKs that did not advance since there was no hole, the window moved or not: each answers a
    /// segment that did not move the left edge. (Without SACK none is held back.)
    answers: u64,
    /// Segments acknowledged since or known to be spurious copies, which had such an answer.
    explained: u64,
    /// Of these, the spurious copies.
    spurious: u64,
    /// There were some since the left edge last moved.
    waiting: bool,
    /// When the first of those counted in `above` came, nanoseconds.
    pub(super) above_ns: i64,
    /// First bytes of the `open` holes that a retransmission filled and whose originals PAWS
    /// would discard.
    discardable: [i64; MAX_HOLES_REMEMBERED],
    open: usize,
}

impl NoSack {
    pub(crate) fn evident(&self) -> bool {
        self.ever >= MIN_DUPLICATE_ACKS
    }

    /// Data waited above a hole, and no duplicate ACK had a block (RFC 2018 section 4: each has, where SACK was negotiated).
    pub(crate) fn shown(&self) -> bool {
        self.shown
    }

    /// There was a duplicate ACK.
    pub(crate) fn duplicates(&self) -> bool {
        self.ever > 0
    }

    /// An ACK covers `segments`, and nothing has been sent again.
    fn in_order(&mut self, segments: u64) {
        if self.above == 0 && self.unclaimed == 0 {
            self.turn = segments.max(self.turn - self.turn / 8);
        }
    }

    /// `[start, ..)` was retransmitted while `una` was the left edge.
    pub(crate) fn retransmitted(&mut self, now: i64, start: i64, una: i64, highest: i64, rtt: i64) {
        if start == una && self.above_clean > 0 && !self.tainted(now, una, rtt) {
            self.clean = Some(start);
        }
        self.above_clean = 0;
        self.last_copy = Some((now, highest));
    }

    /// An ACK acknowledges `segments`; the first was sent again or not. What a hole had kept back
    /// was answered before; what comes in its turn is acknowledged two at once at most.
    fn filled(&mut self, segments: u64, again: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        if self.answers > 0 && (again || waiting || segments > MAX_SEGMENTS_PER_DELAYED_ACK) {
            self.explained += segments - 1;
        } else if self.last_copy.is_none() {
            // No hole, and nothing sent again: it begins anew.
            (self.answers, self.explained) = (0, 0);
        }
    }

    /// An ACK that moves the left edge covers `more` segments beyond those that duplicate ACKs since the last one answered; the first
    /// had been sent `again` or not. How many of the duplicate ACKs that were set aside answered something else than what is covered now or
    /// waits above another hole.
    fn claim(&mut self, again: bool, more: u64) -> u32 {
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        self.unclaimed = self.unclaimed.saturating_sub(more);
        if again {
            return 0;
        }
        let excused = std::mem::take(&mut self.excused);
        std::mem::take(&mut self.unclaimed).saturating_sub(excused)
    }

    fn note_discardable(&mut self, start: i64) {
        if let Some(place) = self.discardable.get_mut(self.open) {
            *place = start;
            self.open += 1;
        }
    }

    /// May a retransmission explain what the ACKs up to `una` show at `now`?
    fn tainted(&self, now: i64, una: i64, rtt: i64) -> bool {
        self.last_copy
            .is_some_and(|(at, highest)| una <= highest || now - at < 2 * rtt)
    }
}

impl Sender {
    pub(super) fn process_without_sack(&mut self, ack: &Ack, number: i64) {
        if self.receiver.hides_blocks {
            self.note_hidden(ack, number);
        }
        if number > self.outstanding.una {
            self.advance_without_sack(ack, number);
            return;
        }
        let seg = &ack.seg;
        let repeats = number == self.outstanding.una
            && !ack.stale
            && seg.payload_len == 0
            && self.last.is_some_and(|l| l.ack == seg.ack);
        if repeats && self.answers_needless(seg.ts_ns) {
            return;
        }
        let open = self.outstanding.board.get(0);
        let answer = repeats && open.is_some_and(|s| s.sent_ns < seg.ts_ns);
        if answer {
            self.no_sack.answers += 1;
            self.no_sack.waiting = true;
        }
        // Where blocks were cut off, that there were some tells more than that the window stands still.
        let duplicate = match self.receiver.hides_blocks {
            true => answer && seg.all_sack_blocks(0) > 0,
            false => answer && self.last.is_some_and(|l| l.window == seg.window),
        };
        if duplicate {
            let rtt = self.timing.usual_rtt();
            if self.no_sack.above == 0 {
                self.no_sack.above_ns = seg.ts_ns;
                self.note_opener(seg.ts_ns);
            }
            self.no_sack.above += 1;
            self.no_sack.ever += 1;
            if !self.no_sack.tainted(seg.ts_ns, number, rtt) {
                self.no_sack.above_clean += 1;
            }
        }
    }

    /// The first duplicate ACK answers what was sent behind the left edge.
    fn note_opener(&mut self, now: i64) {
        if let Some(behind) = self.outstanding.board.get(1).filter(|s| s.sent_ns < now) {
            self.openers.push(behind.start, now - behind.sent_ns);
        }
    }

    fn advance_without_sack(&mut self, ack: &Ack, number: i64) {
        let now = ack.seg.ts_ns;
        self.reading.reports.clear();
        // What the capture lacks has answers, too, and so has each of several small ones.
        let segments = self.outstanding.segments_up_to(number);
        self.reading.cover(&mut self.outstanding, number);
        let reports = std::mem::take(&mut self.reading.reports);
        let segments = segments.max(reports.len() as u64);
        // What had come above the hole is acknowledged with it: duplicate ACKs beyond that answered something else.
        let surplus = u64::from(self.no_sack.above).saturating_sub(segments - 1);
        // Or for what lies above the next hole, where there is one: what cut blocks do not hide.
        let more = self.receiver.hides_blocks && ack.seg.all_sack_blocks(0) > 0;
        let above = self.new_above(now);
        let edge = Edge {
            late: (surplus == 0 || more || above) && self.no_sack.above > 0,
            above,
            segments,
            filled_ns: reports.first().and_then(|r| r.copies).map(|c| c.last_ns),
        };
        self.learn_fills(&edge);
        if edge.filled_ns.is_none() && self.no_sack.last_copy.is_none() {
            self.no_sack.in_order(segments);
        }
        self.no_sack.shown |= self.waited_without_blocks(segments);
        for (i, report) in reports.iter().enumerate() {
            self.sizes.arrived(report.sent.start, report.sent.len);
            let copies = report.copies.filter(|c| c.first_ns < now);
            match (edge.late && i == 0, copies) {
                (true, None) => self.late_left_edge(report, ack, &edge),
                (_, Some(copies)) if i > 0 => self.behind_edge(report, &copies, ack, &edge),
                (_, Some(copies)) => self.retransmitted_report(report, &copies, ack, &edge),
                (false, None) => {
                    let had_hole = self.no_sack.above > 0;
                    self.timing.sample_rtt(now - report.sent.sent_ns, had_hole);
                    self.log_original(report, ack, Basis::certain(Evidence::CumulativeAck));
                }
            }
        }
        let rtt = self.timing.usual_rtt();
        if let Some(first) = reports.first() {
            self.no_sack
                .filled(reports.len() as u64, first.copies.is_some());
        }
        if self.no_sack.last_copy.is_some() && !self.no_sack.tainted(now, number, rtt) {
            self.discarded_without_sack();
            // The episode is over; what it left in the count was not late data.
            self.no_sack = NoSack {
                hidden: self.no_sack.hidden,
                ever: self.no_sack.ever,
                shown: self.no_sack.shown,
                turn: self.no_sack.turn,
                excused: self.no_sack.excused,
                unclaimed: self.no_sack.unclaimed,
                ..NoSack::default()
            };
        }
        self.openers.drop_below(number);
        let again = reports.first().is_some_and(|r| r.copies.is_some());
        if segments <= self.in_turn() && !self.receiver.hides_blocks {
            // Nothing had waited for this, or no more than it covers behind what was sent again.
            let waited = if again { segments as u32 - 1 } else { 0 };
            let above = std::mem::take(&mut self.no_sack.above);
            self.no_sack.unclaimed += above.saturating_sub(waited);
            self.no_sack.above_clean = 0;
        }
        let more = match segments {
            0..=MAX_SEGMENTS_PER_DELAYED_ACK => 0,
            _ => (segments - 1).saturating_sub(self.no_sack.above.into()),
        };
        let claimed = self.no_sack.claim(again, more);
        if self.sent_again_of_late(now) {
            self.ledger.unplaced += f64::from(claimed);
        }
        let absorbed = segments.saturating_sub(1) as u32;
        self.no_sack.above = self.no_sack.above.saturating_sub(absorbed);
        self.no_sack.above_clean = self.no_sack.above_clean.saturating_sub(absorbed);
        self.reading.reports = reports;
    }

    /// Segments that an ACK covers at most where none is missing.
    fn in_turn(&self) -> u64 {
        MAX_SEGMENTS_PER_DELAYED_ACK.max(self.numbers.usual() as u64)
    }

    /// The same, as those have shown that came while nothing was sent again.
    pub(super) fn undisturbed(&self) -> u64 {
        MAX_SEGMENTS_PER_DELAYED_ACK.max(self.no_sack.turn)
    }

    fn late_left_edge(&mut self, report: &Report, ack: &Ack, edge: &Edge) {
        let now = ack.seg.ts_ns;
        let rtt = self.timing.usual_rtt();
        let clean =
            self.no_sack.above_clean > 0 && !self.no_sack.tainted(now, report.sent.start, rtt);
        let sure = clean || edge.above;
        self.late_without_sack(report, ack, Evidence::CumulativeAck, sure);
        if let Some(copies) = report.copies {
            self.spurious_and_answered(&report.sent, &copies, i64::MIN);
        }
    }

    /// Counts a late left edge; only a sure one is worth an event.
    pub(super) fn late_without_sack(
        &mut self,
        report: &Report,
        ack: &Ack,
        evidence: Evidence,
        sure: bool,
    ) {
        if sure
            && !self
                .receiver
                .unknown_sack(self.no_sack.evident(), self.no_sack.shown())
        {
            let basis = Basis::certain(evidence).weaker(Reason::NoSack);
            self.ledger
                .collector
                .late_unmeasured(report.sent.place(&ack.seg), basis);
        } else {
            self.ledger.collector.late_perhaps();
        }
    }

    /// What fills the left edge had been sent again.
    fn retransmitted_report(&mut self, report: &Report, copies: &Copies, ack: &Ack, edge: &Edge) {
        let report = Report {
            left_edge: true,
            opens: false,
            ..*report
        };
        match self.attribute(&report, copies, ack) {
            super::First::Original(basis) => {
                self.spurious_and_answered(&report.sent, copies, i64::MIN);
                if edge.late {
                    // The duplicate ACKs came before any retransmission could cause them.
                    let sure = basis.evidence == Evidence::Timestamps
                        && self.no_sack.clean == Some(report.sent.start);
                    let sure = sure || edge.above;
                    self.late_without_sack(&report, ack, basis.evidence, sure);
                } else {
                    self.log_original(&report, ack, basis);
                }
            }
            super::First::Unknown if !edge.late && self.may_be_answered(copies, ack) => {
                self.doubtful(&report, copies, ack);
                self.repeats
                    .awaited
                    .add((copies.last_ns, Some(report.sent.start)));
            }
            super::First::Retransmission { .. } | super::First::Unknown => {
                let recent = self
                    .last
                    .filter(|l| self.outstanding.echoes(l))
                    .map(|l| l.tsecr);
                if recent.is_some_and(|r| discarded(report.sent.tsval, r)) {
                    self.no_sack.note_discardable(report.sent.start);
                }
                self.ledger.filled.insert(Filled {
                    rtt_behind_ns: self.rtt_behind(&report),
                    ..Filled::by_copy(&report.sent, *copies, &ack.seg, 0)
                });
            }
        }
        self.trim_filled();
    }

    /// What `ack` reports first came sooner than each round trip so far, and few are known: if it was the original, more of them may show that, and the
    /// answer to the last of `copies` is still to come.
    fn may_be_answered(&self, copies: &Copies, ack: &Ack) -> bool {
        let took = ack.seg.ts_ns.saturating_sub(copies.first_ns);
        let told =
            self.explanations.has(Explanation::AnsweredCopies) && !self.receiver.hides_blocks;
        told && self.timing.may_turn_out_too_soon(took)
    }

    /// The episode is over. Every arrival that did not move the left edge was answered by an ACK
    /// of its own; those that nothing explains were for originals that PAWS discarded (RFC 7323
    /// section 5.3) while the hole was open: they came, as many as can be, the highest rather than
    /// the lowest, which had less time. Which is a guess; how many is what counts without SACK.
    fn discarded_without_sack(&mut self) {
        let n = &self.no_sack;
        // With SACK several that came may be answered at once.
        if self.receiver.hides_blocks || n.spurious * MIN_ANSWERS_PER_SPURIOUS > n.explained {
            return;
        }
        let excess = n.answers.saturating_sub(n.explained);
        let holes = n.discardable;
        let first = n
            .open
            .saturating_sub(usize::try_from(excess).unwrap_or(MAX_HOLES_REMEMBERED));
        for &start in &holes[first..n.open] {
            if let Some(f) = self.ledger.filled.get_mut(start).filter(|f| !f.original_in) {
                f.refused += 0.5;
                self.ledger.collector.refused_unnamed();
            }
        }
    }

    /// As [`Ledger::all_spurious`](super::ledger::Ledger::all_spurious); each copy had an ACK of its own, or will have it if it was
    /// sent after `since_ns`.
    pub(super) fn spurious_and_answered(&mut self, sent: &Sent, copies: &Copies, since_ns: i64) {
        let awaited = self.await_answer(copies, since_ns);
        let answered = copies.count.saturating_sub(u32::from(awaited));
        self.no_sack.explained += u64::from(answered);
        self.no_sack.spurious += u64::from(copies.count);
        self.ledger.all_spurious(sent, copies, Confidence::Likely);
    }
}
