//! What an ACK reports: which segments for the first time, and in which order they came.

use inorder_wire::Segment;

use super::acks::Ack;
use super::{FEW, Report, Sender};
use crate::collect::Basis;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason};

/// The order of arrivals hidden in one ACK is guessed from why the one before was sent only where
/// one original in so many comes late: the guess would make something of nothing elsewhere.
const DENSE: u64 = 20;

impl Sender {
    /// The common case of [`Sender::process_with_sack`]: nothing is missing, nothing was sent
    /// again, and the ACK does nothing but advance. False, and nothing is done, in all others.
    #[inline]
    pub(super) fn advance_in_order(&mut self, ack: &Ack, number: i64) -> bool {
        let advances = ack.seg.sack_len == 0 && number > self.una;
        if !advances || !self.ranges.is_empty() || !self.board.all_sent_once() {
            return false;
        }
        let now = ack.seg.ts_ns;
        self.turn = self.top;
        if number > self.top {
            (self.top, self.reached_ns) = (number, now);
        }
        while let Some(sent) = self.board.pop_sent_once(number) {
            if !sent.reported {
                self.sample_rtt(now - sent.sent_ns, false);
                self.log_sent(&sent, None, false, ack, Basis::certain(Evidence::Sack));
            }
        }
        self.una = number;
        self.new_block_came = false;
        self.reports_alone = false;
        self.compressing = false;
        true
    }

    pub(super) fn process_with_sack(&mut self, ack: &Ack, number: i64) {
        let dsack = self.dsack(&ack.seg, number);
        let had_hole = !self.ranges.is_empty();
        self.crossed = self.crossed_dsack(&ack.seg, number);
        let full = self.ranges.len() > self.room();
        let advanced = number > self.una;
        self.reports.clear();
        if had_hole {
            let since = self.last.map_or(ack.seg.ts_ns, |l| l.ts_ns);
            self.clutter.expose(ack.seg.ts_ns.saturating_sub(since));
        }
        self.expect(&ack.seg, number);
        if advanced {
            self.pop_acked(number);
        }
        let covered = self.reports.len();
        self.report_blocks(&ack.seg, dsack.is_some());
        let reported = self.reports.len();
        if full {
            // What the blocks had no room for shows only now.
            for report in self.reports.iter_mut().take(covered).skip(1) {
                report.unsure = Some(Reason::BlockLimit);
            }
        }
        if !advanced {
            self.explain_flush(ack);
        }
        self.flushed = None;
        self.put_in_order(ack, covered, had_hole);
        self.new_block_came = false;
        self.reports_alone = reported == 1 && !advanced && !self.compressing;
        let reports = std::mem::take(&mut self.reports);
        for report in &reports {
            self.arrived(report, ack, had_hole);
        }
        self.reports = reports;
        if let Some((left, right)) = self.crossed {
            self.dsack_seen = true;
            for start in self.filled.starts_in(left, right) {
                if let Some(f) = self.filled.get_mut(start).filter(|f| f.copies.count > 1) {
                    f.duplicates += 1;
                }
            }
        }
        if let Some((left, right)) = dsack {
            self.duplicate(left, right, ack);
        } else if !advanced {
            self.compressing |= reported > 1;
            self.bare(ack, reported);
            if reported > 0 {
                let at_once = self.held_back(ack.seg.ts_ns) <= self.jitter();
                self.reported_at_once = reported == 1 && at_once;
            }
            if reported > 1 && ack.missing == 0 {
                self.compression.push(self.held_back(ack.seg.ts_ns));
            }
        }
        if dsack.is_some() || advanced {
            self.compressing = false;
        }
    }

    /// How many ranges the ACK before had room for. RFC 2018 section 3 and RFC 7323: three blocks
    /// beside timestamps, four without; a duplicate takes one, and so does data that is
    /// acknowledged already, which some stacks list first.
    fn room(&self) -> usize {
        let most = if self.options.timestamps { 3 } else { 4 };
        let known = |l: &Segment| {
            let first = l.sack_blocks().first();
            first.is_some_and(|b| (l.ack.wrapping_sub(b.1) as i32) >= 0)
        };
        most - usize::from(self.last.as_ref().is_some_and(known))
    }

    pub(super) fn pop_acked(&mut self, number: i64) {
        while let Some((sent, copies)) = self.board.pop_acked(number) {
            if !sent.reported {
                self.reports.push(Report {
                    sent,
                    copies,
                    unsure: None,
                    told: false,
                    left_edge: false,
                    joined: false,
                    opens: false,
                });
            }
        }
        self.una = number;
        self.ranges.drop_below(number);
    }

    /// The duplicate a first block reports (RFC 2883 section 4). All of it must have been
    /// acknowledged before: some stacks put what has just moved the left edge first, which
    /// RFC 2018 section 4 tells them not to.
    fn dsack(&self, seg: &Segment, number: i64) -> Option<(i64, i64)> {
        let block = |i: usize| {
            let &(l, r) = seg.sack_blocks().get(i)?;
            let (l, r) = (self.unwrap.offset(l), self.unwrap.offset(r));
            (l < r).then_some((l, r))
        };
        let first = block(0)?;
        let inside = |outer: (i64, i64)| outer.0 <= first.0 && first.1 <= outer.1;
        let below = first.1 <= number.min(self.una);
        (below || block(1).is_some_and(inside)).then_some(first)
    }

    /// A duplicate among what the ACK is the first to cover: an original and its retransmission have
    /// both come since the ACK before, as when a probe of the tail crosses a delayed ACK. A stack that
    /// lists first whatever moved the left edge does so of data that was sent once, too.
    fn crossed_dsack(&mut self, seg: &Segment, number: i64) -> Option<(i64, i64)> {
        let &(left, right) = seg.sack_blocks().first()?;
        let (left, right) = (self.unwrap.offset(left), self.unwrap.offset(right));
        let weighed = self.options.explanations.has(Explanation::Crossed);
        if !weighed || left >= right || left < self.una || right > number {
            return None;
        }
        let within = self
            .board
            .range(self.board.find(left))
            .take_while(|s| s.start < right);
        let mut again = within.map(|s| {
            self.board
                .copies_of(s)
                .is_some_and(|c| c.first_ns < seg.ts_ns)
        });
        self.lists_edge |= !again.all(|again| again);
        (!self.lists_edge).then_some((left, right))
    }

    /// Collects newly SACKed segments in ascending order, with one exception: the block listed
    /// first changed last (RFC 2018 section 4), so if it lies below another that grew, its
    /// segments came last if they are few. Of many one did, and the lowest is the likeliest.
    fn report_blocks(&mut self, seg: &Segment, skip_first: bool) {
        let from = self.reports.len();
        self.block_mark = from;
        for i in (usize::from(skip_first)..seg.sack_blocks().len()).rev() {
            if i == usize::from(skip_first) {
                self.block_mark = self.reports.len();
            }
            let (left, right) = seg.sack[i];
            let (left, right) = (self.unwrap.offset(left), self.unwrap.offset(right));
            let (left, right) = (left.max(self.una), right.min(self.highest));
            if left >= right {
                continue;
            }
            self.news.clear();
            let whole = self.ranges.add(left, right, &mut self.news);
            for n in 0..self.news.len() {
                self.report_range(self.news[n], whole);
            }
        }
        self.ascend(from);
    }

    fn ascend(&mut self, from: usize) {
        let mark = self.block_mark.clamp(from, self.reports.len());
        let first = self.reports.get(mark).map(|r| r.sent.start);
        let newest = self.reports.len() - mark;
        let reports = &mut self.reports[from..];
        let highest = reports[..mark - from].iter().map(|r| r.sent.start).max();
        reports.sort_unstable_by_key(|r| r.sent.start);
        if let (Some(first), Some(highest)) = (first, highest)
            && first < highest
            && let Some(i) = reports.iter().position(|r| r.sent.start == first)
        {
            reports[i].told = newest == 1;
            reports[i..].rotate_left(if newest <= FEW { newest } else { 1 });
        }
    }

    /// Reports the segments in `news` that lie inside `whole`, all of which has been SACKed. What
    /// the receiver got may be cut differently from what was captured.
    fn report_range(&mut self, news: (i64, i64), whole: (i64, i64)) {
        let mut i = self.board.find(news.0);
        while let Some(s) = self.board.get(i) {
            if s.end() > whole.1 {
                break;
            }
            if !s.reported
                && s.start >= whole.0
                && let Some((sent, copies)) = self.board.report(i)
            {
                let below = sent.start == news.0 && news.0 > whole.0;
                let above = sent.end() == news.1 && news.1 < whole.1;
                self.reports.push(Report {
                    sent,
                    copies,
                    unsure: None,
                    told: false,
                    left_edge: false,
                    joined: below || above,
                    opens: news == whole && sent.start == whole.0,
                });
            }
            i += 1;
        }
    }

    /// A segment that touched nothing SACKed before had made the receiver send the ACK before
    /// this one, and is reported only now: it came first. If it has grown together with older
    /// blocks since, what lies between came after it. Of several it is taken to be the first.
    fn new_block_first(&mut self) {
        let (reordered, arrived) = (self.collector.reordered(), self.collector.arrived());
        let weighed = self.options.explanations.has(Explanation::NewBlock);
        if !weighed || reordered * DENSE < arrived {
            return;
        }
        if let Some(i) = self.reports.iter().position(|r| !r.joined) {
            self.reports[..=i].rotate_right(1);
        }
    }

    /// Puts the reports of one ACK into the order of arrival, as far as it can be known.
    ///
    /// With a hole outstanding an arrival at the left edge is acknowledged at once, so it came
    /// last; the rest is what SACK compression hides (Linux `tcp_comp_sack_*`), in no known order.
    fn put_in_order(&mut self, ack: &Ack, covered: usize, had_hole: bool) {
        let n = self.reports.len();
        if covered > 0 {
            self.reports[0].left_edge = true;
        }
        let sacked = n - covered;
        let several = if had_hole { n > 1 } else { sacked > 1 };
        if !several {
            return;
        }
        let reason = if ack.missing > 0 {
            Reason::AcksMissing
        } else {
            Reason::AckCompression
        };
        self.by_time(ack.seg.ts_ns);
        if std::mem::take(&mut self.new_block_came) && covered == 0 && ack.missing == 0 {
            self.new_block_first();
        }
        let from = if had_hole { 0 } else { covered };
        for report in &mut self.reports[from..] {
            report.unsure = report.unsure.or(Some(reason));
        }
        if had_hole && covered > 0 {
            self.reports.rotate_left(1);
            if ack.missing == 0 {
                self.reports[n - 1].unsure = None;
            }
        }
    }
}
