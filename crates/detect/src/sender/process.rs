//! One acknowledgement: what it reports, in which order that arrived, and what follows from it.

use inorder_wire::{Has, Segment};

use super::acks::Ack;
use super::attribute::after;
use super::blocks::Blocks;
use super::report::Report;
use super::ring::apart;
use super::windows::AckNumbers;
use super::{End, Sender};
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason};

impl Sender {
    #[inline]
    pub(super) fn process(&mut self, ack: &Ack) {
        let gap = ack.missing > 0;
        if gap && self.numbers.are_shared() {
            let ack = Ack { missing: 0, ..*ack };
            return self.process_whole(&ack);
        }
        self.process_whole(ack);
        self.numbers.note(gap, self.reading.reports.len());
    }

    fn process_whole(&mut self, ack: &Ack) {
        let seg = &ack.seg;
        if self.outstanding.sent_before_capture(seg) {
            self.outstanding.forget();
        }
        let number = self.outstanding.acknowledged_by(seg);
        if ack.missing > 0 {
            self.note_gap(ack);
        }
        self.hide_unseen(ack);
        if seg.has(Has::OPTIONS_CUT)
            && let Some(completed) = self.completed(ack, number)
        {
            return self.process_known(&completed, number);
        }
        self.process_known(ack, number);
    }

    /// An ACK of which all blocks are known that ever will be, and which acknowledges everything below `number`.
    #[inline(never)] // A segment that may be another one would be looked for with each of its fields.
    fn process_known(&mut self, ack: &Ack, number: i64) {
        let seg = &ack.seg;
        if self.receiver.may_lack_sack() {
            self.process_without_sack(ack, number);
        } else if !self.advance_in_order(ack, number) {
            self.process_with_sack(ack, number);
        }
        self.settle(seg.ts_ns);
        if !ack.stale {
            self.last = Some(*seg);
            self.receiver.note_window(seg);
        }
    }

    /// The common case of [`Sender::process_with_sack`]: nothing is missing, nothing was sent
    /// again, and the ACK does nothing but advance. False, and nothing is done, in all others.
    #[inline]
    fn advance_in_order(&mut self, ack: &Ack, number: i64) -> bool {
        let out = &mut self.outstanding;
        let advances = ack.seg.sack_len == 0 && number > out.una;
        let advances = advances && !self.gaps.unseen.untimed(number);
        if !advances || !out.ranges.is_empty() || !out.board.all_sent_once() {
            return false;
        }
        let now = ack.seg.ts_ns;
        self.timing.advance_in_order(number, now);
        let mut segments = 0;
        while let Some(sent) = out.board.pop_sent_once(number) {
            segments += 1;
            self.sizes.arrived(sent.start, sent.len);
            if !sent.reported {
                self.timing.sample_rtt(now - sent.sent_ns, false);
                let basis = Basis::certain(Evidence::Sack);
                self.ledger.log_sent(&sent, ack, basis);
            }
        }
        out.una = number;
        self.numbers.note(ack.missing > 0, segments);
        self.reading.reports.clear();
        self.reading.alone = false;
        self.receiver.compression.under_way = false;
        if segments == 1 && self.has_hidden_one() {
            self.owed(ack);
        }
        true
    }

    fn process_with_sack(&mut self, ack: &Ack, number: i64) {
        let seg = &ack.seg;
        let blocks = self.outstanding.blocks(seg);
        let dsack = self.outstanding.dsack(&blocks, number);
        self.reading.crossed = self.crossed_dsack(&blocks, seg.ts_ns, number);
        let ranges = self.outstanding.ranges.len();
        let had_hole = ranges > 0;
        let advanced = number > self.outstanding.una;
        self.reading.reports.clear();
        if had_hole {
            let since = self.last.map_or(seg.ts_ns, |l| l.ts_ns);
            let waited = seg.ts_ns.saturating_sub(since);
            self.windows.clutter.expose(waited);
        }
        let since = self.since();
        let reported = (number, &blocks);
        self.timing
            .expect(&mut self.outstanding, reported, since, seg.ts_ns);
        if advanced {
            self.forget_discarded(seg, number);
            self.reading.cover(&mut self.outstanding, number);
        }
        let covered = self.reading.reports.len();
        let full = covered > 1 && ranges > self.receiver.room(self.last.as_ref());
        let cut = self.receiver.cuts_blocks;
        if cut {
            self.reading.extend_known();
            self.receiver.cuts_blocks = !self.outstanding.ranges.is_empty();
        }
        self.reading
            .report_blocks(&mut self.outstanding, &blocks, dsack.is_some(), cut);
        let listed = seg.all_sack_blocks(0);
        if listed > 0 && !ack.stale {
            let ranges = self.outstanding.ranges.len();
            self.receiver.learn_blocks(listed, ranges);
        }
        let reported = self.reading.reports.len();
        if reported > 1 && had_hole && self.may_leave_out(ranges) {
            self.reading.doubt_all();
        } else if full {
            // What the blocks had no room for shows only now.
            self.reading.doubt_covered(covered);
        }
        let listed = usize::from(listed).saturating_sub(usize::from(dsack.is_some()));
        self.hide_unlisted(ack, listed);
        if !advanced {
            self.explain_flush(ack);
        }
        self.receiver.compression.flushed = None;
        self.put_in_order(ack, covered, had_hole);
        self.reading.alone = reported == 1 && !advanced && !self.receiver.compression.under_way;
        let reports = std::mem::take(&mut self.reading.reports);
        for report in &reports {
            let again = report.copies.is_some();
            self.sizes
                .perhaps_arrived(report.sent.start, report.sent.len, again);
            self.arrived(report, ack, had_hole);
        }
        self.reading.reports = reports;
        if self.end == End::Sent && self.outstanding.end_overtook(&blocks, number) {
            self.end = End::Overtook;
            // That is what the ACK answers.
            self.reading.sacked_more = true;
            self.ledger.end_came(self.outstanding.highest, seg);
        }
        self.learn_echo(seg, advanced);
        if dsack.is_none() && !ack.stale {
            self.learn_order(&blocks);
        }
        if advanced {
            self.openers.drop_below(self.outstanding.una);
        }
        self.answer(ack, dsack, advanced);
    }

    /// Of what came between two ACKs, only the last range is in one of a single block. There were `ranges` before.
    fn may_leave_out(&self, ranges: usize) -> bool {
        self.receiver.leaves_ranges_out()
            && ranges >= self.receiver.room(self.last.as_ref())
            && self.explanations.has(Explanation::UnlistedRanges)
    }

    /// `ack` lists `listed` ranges, fewer than there are. Where the receiver reports each once, and an ACK may have been lost before this one or
    /// stand for several arrivals, something may have arrived that shows only when what lies below is filled.
    fn hide_unlisted(&mut self, ack: &Ack, listed: usize) {
        if listed >= self.outstanding.ranges.len() || !self.receiver.leaves_ranges_out() {
            return;
        }
        let complete = self.queue.by_id() && ack.missing == 0;
        if !complete || self.receiver.compression.is_known() {
            self.ledger.hides_arrival();
        }
    }

    /// Data above a hole moves no TS.Recent (RFC 7323 section 4.3): what does this receiver echo for it?
    fn learn_echo(&mut self, seg: &Segment, advanced: bool) {
        let ([report], Some(last)) = (&self.reading.reports[..], self.last) else {
            return;
        };
        let sent = report.sent.tsval;
        if advanced
            || report.copies.is_some()
            || sent == last.tsecr
            || !self.outstanding.echoes(seg)
        {
            return;
        }
        self.receiver
            .learn_echo(seg.tsecr == sent, seg.tsecr == last.tsecr);
    }

    /// Does this receiver list first what has just come?
    fn learn_order(&mut self, blocks: &Blocks) {
        if let ([report], Some((left, right))) = (&self.reading.reports[..], blocks.first())
            && blocks.len() > 1
            && !report.left_edge
        {
            self.receiver
                .listing
                .learn_order((left..right).contains(&report.sent.start));
        }
    }

    /// What `ack` says beside what it reports for the first time: duplicates, or nothing.
    fn answer(&mut self, ack: &Ack, dsack: Option<(i64, i64)>, advanced: bool) {
        let reported = self.reading.reports.len();
        if let Some((left, right)) = self.reading.crossed {
            self.receiver.dsack_seen = true;
            for start in self.ledger.filled.starts_in(left, right) {
                let f = self.ledger.filled.get_mut(start);
                if let Some(f) = f.filter(|f| f.copies.count > 1) {
                    f.duplicates += 1;
                }
            }
        }
        if let Some((left, right)) = dsack {
            self.duplicate(left, right, ack);
        } else if !advanced {
            self.receiver.compression.under_way |= reported > 1;
            self.unexplained(ack, reported);
            self.learn_compression(ack, reported);
        }
        if dsack.is_some() || advanced {
            self.receiver.compression.under_way = false;
        }
    }

    /// An ACK that does not advance reports `reported` segments: did the receiver hold them back?
    fn learn_compression(&mut self, ack: &Ack, reported: usize) {
        let known = self.receiver.compression.is_known();
        match reported {
            0 => {}
            // Nobody asks before it is known, which several reported at once make it.
            1 if !known => self.receiver.compression.reported_at_once = false,
            _ => {
                let waited = self.held_back(ack.seg.ts_ns);
                let at_once = reported == 1 && waited <= self.timing.jitter();
                self.receiver.compression.reported_at_once = at_once;
                if reported > 1 && ack.missing == 0 {
                    self.receiver.compression.learn(waited);
                }
            }
        }
    }

    /// When the ACK before left, as far as that is known.
    #[inline]
    pub(super) fn since(&self) -> i64 {
        self.last.map_or(i64::MIN / 2, |l| l.ts_ns)
    }

    /// A duplicate among what the ACK is the first to cover: an original and its retransmission have
    /// both come since the ACK before, as when a probe of the tail crosses a delayed ACK. A stack that
    /// lists first whatever moved the left edge does so of data that was sent once, too.
    fn crossed_dsack(&mut self, blocks: &Blocks, now: i64, number: i64) -> Option<(i64, i64)> {
        if !self.explanations.has(Explanation::Crossed) {
            return None;
        }
        let out = &self.outstanding;
        let (block, again) = out.first_block_crossed(blocks, now, number)?;
        self.receiver.listing.edge_first |= !again;
        (!self.receiver.listing.edge_first).then_some(block)
    }

    /// Puts the reports of one ACK into the order of arrival, as far as it can be known.
    #[inline]
    fn put_in_order(&mut self, ack: &Ack, covered: usize, had_hole: bool) {
        if had_hole && covered > 0 && ack.missing == 0 {
            self.receiver.learn_fill(self.reading.reports.len() == 1);
        }
        if self.reading.several(covered, had_hole, ack.missing > 0) {
            self.order_several(ack, covered, had_hole);
        }
    }

    fn order_several(&mut self, ack: &Ack, covered: usize, had_hole: bool) {
        let reason = if ack.missing > 0 {
            Reason::AcksMissing
        } else {
            Reason::AckCompression
        };
        if self.explanations.has(Explanation::Lateness) {
            let since = self.since();
            self.reading.by_time(&self.timing, since, ack.seg.ts_ns);
        }
        let at_once = self.fill_came_last(&ack.seg);
        self.reading
            .settle_order(covered, had_hole, reason, at_once);
    }

    /// Did what fills the left edge make the receiver send `ack`, which reports more? It did where the rest had been held back, and not
    /// where an ACK of the rest may have been lost, which only numbers of ACKs rule out. What has just come may have come after it, if the
    /// receiver delays the acknowledgement of what fills a hole (RFC 5681 section 4.2 only says that it SHOULD not), and what moved the
    /// left edge after it leaves a later timestamp (RFC 7323 section 4.3).
    fn fill_came_last(&self, ack: &Segment) -> bool {
        let just =
            |r: &Report| apart(self.timing.arrival_of(&r.sent), ack.ts_ns) <= self.timing.jitter();
        let by_rule = self.receiver.echoes_by_rule() && self.outstanding.echoes(ack);
        let passed = |r: &Report| r.copies.is_none() && by_rule && after(ack.tsecr, r.sent.tsval);
        let denies = |r: &Report| if r.left_edge { passed(r) } else { just(r) };
        self.queue.by_id()
            && self.receiver.answers_fills_at_once()
            && !self.reading.reports.iter().any(denies)
    }

    pub(super) fn settle(&mut self, now: i64) {
        if self.ledger.log.is_empty() {
            return;
        }
        let acks = AckNumbers {
            by_id: self.queue.by_id(),
            missing: self.queue.missing,
        };
        let (ledger, timing) = (&mut self.ledger, &mut self.timing);
        self.windows
            .explain(now, ledger, timing, &self.receiver, acks);
        let (gaps, told) = (&mut self.gaps, self.explanations.has(Explanation::TooSoon));
        self.ledger.settle(now, |ledger, f| {
            let took = f.reported_ns.saturating_sub(f.copies.first_ns);
            let basis = timing.sooner_than_a_copy(took, &ledger.tally)?;
            told.then(|| gaps.doubts.weaken(f.place.start, basis))
        });
    }

    pub(super) fn trim_filled(&mut self) {
        if self.ledger.filled.is_full() {
            let telling = self.telling();
            self.ledger.trim(&telling);
        }
    }
}
