//! What one ACK reports: which segments for the first time, and in which order they came.

use super::blocks::Blocks;
use super::outstanding::Outstanding;
use super::report::Report;
use super::timing::Timing;
use crate::result::Reason;

/// Newly reported segments of the SACK block that changed last that are read as one arrival: of more, only the first is.
const MAX_CAME_TOGETHER: usize = 4;
/// How many times the spread of lateness an ACK must span for lateness to order what it reports.
const MIN_SPAN_OF_SPREADS: i64 = 8;

/// The reports of the present ACK; kept between ACKs for its memory only.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) reports: Vec<Report>,
    news: Vec<(i64, i64)>,
    /// Where the reports of the block listed first begin.
    newest: usize,
    /// What the ACK is the first to cover and reports as a duplicate at once.
    pub(super) crossed: Option<(i64, i64)>,
    /// The last ACK SACKed bytes, or the end of the data, that none had before, whether their transmission was captured or not.
    pub(super) sacked_more: bool,
    /// The ACK does nothing but report one segment, as soon as it came.
    pub(super) alone: bool,
    /// Where among the covered reports there was something that was known to have come.
    known: Vec<usize>,
}

heap!(Reading: reports, news, known);

impl Reading {
    /// The ACK acknowledges everything below `number`. What lay at the left edge may never have been captured.
    pub(super) fn cover(&mut self, out: &mut Outstanding, number: i64) {
        self.known.clear();
        while let Some((sent, copies)) = out.board.pop_acked(number) {
            if sent.reported {
                let at = self.reports.len();
                if self.known.last() != Some(&at) {
                    self.known.push(at);
                }
            } else {
                self.reports.push(Report {
                    left_edge: sent.start <= out.una,
                    ..Report::new(sent, copies)
                });
            }
        }
        out.advance(number);
    }

    /// Collects newly SACKed segments in ascending order, with one exception: the block listed first changed
    /// last (RFC 2018 section 4), so if it lies below another that grew, its segments came last if they are
    /// few. Of many one did, and the lowest is the likeliest.
    /// `cut`: blocks have been cut off since there was no hole.
    pub(super) fn report_blocks(
        &mut self,
        out: &mut Outstanding,
        blocks: &Blocks,
        skip_first: bool,
        cut: bool,
    ) {
        let from = self.reports.len();
        let top = out.ranges.top().unwrap_or(out.una);
        self.newest = from;
        self.sacked_more = false;
        for nth in (usize::from(skip_first)..blocks.len()).rev() {
            let Some((left, right)) = blocks.get(nth) else {
                continue;
            };
            self.newest = self.reports.len();
            // One more than all bytes is the FIN.
            self.sacked_more |= right > out.highest + 1;
            let (left, right) = (left.max(out.una), right.min(out.highest));
            if left >= right {
                continue;
            }
            self.news.clear();
            let whole = out.ranges.add(left, right, &mut self.news);
            self.sacked_more |= !self.news.is_empty();
            for n in 0..self.news.len() {
                let first = self.reports.len();
                self.report_range(out, self.news[n], (whole, top));
                if cut && self.news[n].1 < whole.1 {
                    self.lag_behind(first);
                }
            }
        }
        self.ascend(from);
    }

    fn ascend(&mut self, from: usize) {
        if self.reports.len() - from < 2 {
            return; // As usual: there is no order.
        }
        let mark = self.newest.clamp(from, self.reports.len());
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
            let last = if newest <= MAX_CAME_TOGETHER {
                newest
            } else {
                1
            };
            let behind = &mut reports[i..];
            // What overlaps an earlier block may be reported below its own first.
            behind.rotate_left(last.min(behind.len()));
        }
    }

    /// Reports the segments in `news` that lie inside `whole`, all of which has been SACKed; before, that reached up to `top`. What the
    /// receiver got may be cut differently from what was captured.
    fn report_range(
        &mut self,
        out: &mut Outstanding,
        news: (i64, i64),
        (whole, top): ((i64, i64), i64),
    ) {
        let mut i = out.board.find(news.0);
        while let Some(s) = out.board.get(i) {
            // What was SACKed before has been reported, if it had been captured by then.
            let known = s.start >= news.1 && !out.sacked_unseen();
            if known || s.start >= whole.1 {
                break;
            }
            if s.end() > whole.1 {
                if !out.board.fit(whole.1) {
                    break;
                }
                continue;
            }
            if s.start < whole.0 {
                if out.board.fit(whole.0) {
                    i = out.board.find(news.0);
                    continue;
                }
            } else if !s.reported
                && let Some((sent, copies)) = out.board.report(i, s.start < top)
            {
                self.reports.push(Report {
                    opens: news == whole && sent.start == whole.0,
                    ..Report::new(sent, copies)
                });
            }
            i += 1;
        }
    }

    /// Marks the arrival time of all `covered` reports but the first as unknown: the SACK blocks had no room for them.
    pub(super) fn doubt_covered(&mut self, covered: usize) {
        for report in self.reports.get_mut(1..covered).unwrap_or_default() {
            report.unsure = Some(Reason::BlockLimit);
        }
    }

    /// Marks the arrival time of all reports but that at the left edge as unknown: each may have come before an ACK that listed another range.
    pub(super) fn doubt_all(&mut self) {
        for report in self.reports.iter_mut().filter(|report| !report.left_edge) {
            report.unsure = Some(Reason::BlockLimit);
        }
    }

    /// What is reported from `first` on lies between known ranges, and blocks have been cut off: see [`Reading::extend_known`].
    fn lag_behind(&mut self, first: usize) {
        if let Some((_, below)) = self
            .reports
            .get_mut(first..)
            .and_then(|r| r.split_last_mut())
        {
            for report in below {
                (report.lags, report.in_turn) = (true, true);
            }
        }
    }

    /// Blocks have been cut off since there was no hole: what is covered may have come long ago, but for the left edge. Only what
    /// lies just below a known range was missing for sure when that came; the rest came behind its neighbour, most likely.
    pub(super) fn extend_known(&mut self) {
        if self.known.is_empty() {
            return;
        }
        for (at, report) in self.reports.iter_mut().enumerate() {
            report.lags = !report.left_edge;
            report.in_turn = report.lags && !self.known.contains(&(at + 1));
        }
    }

    /// Is the order of arrival of what is reported unclear? With a hole outstanding an arrival at the left edge
    /// is acknowledged at once; the rest is what SACK compression hides (Linux `tcp_comp_sack_*`).
    /// Where the ACK before is `missing`, it may have reported what lies above before anything was covered.
    pub(super) fn several(&self, covered: usize, had_hole: bool, missing: bool) -> bool {
        let n = self.reports.len();
        let above = n - covered;
        let mixed = missing && above > 0 && covered > 0;
        if had_hole { n > 1 } else { above > 1 || mixed }
    }

    /// Marks what has no known order, for `reason`; the left edge came last, for sure only if it was acknowledged `at_once`.
    pub(super) fn settle_order(
        &mut self,
        covered: usize,
        had_hole: bool,
        reason: Reason,
        at_once: bool,
    ) {
        let from = if had_hole { 0 } else { covered };
        for report in &mut self.reports[from..] {
            report.unsure = report.unsure.or(Some(reason));
        }
        if had_hole && self.reports.first().is_some_and(|r| r.left_edge) {
            // What lies right behind it may have come with it, as one packet (GRO), or before it and been held back.
            let end = self.reports.first().map_or(0, |r| r.sent.end());
            let alone = self.reports.iter().all(|r| r.sent.start != end);
            self.reports.rotate_left(1);
            if let Some(last) = self.reports.last_mut() {
                last.came_last = true;
            }
            if reason != Reason::AcksMissing
                && at_once
                && alone
                && let Some(last) = self.reports.last_mut()
            {
                last.unsure = None;
            }
        }
    }

    /// Sorts the segments that one ACK at `now` reports by the time at which they probably arrived, if late segments have nearly
    /// the same lateness. The left edge stays first. The previous ACK came at `since`.
    pub(super) fn by_time(&mut self, timing: &Timing, since: i64, now: i64) {
        let Some((late, spread)) = timing.usual_lateness() else {
            return;
        };
        let slack = spread.saturating_mul(2).saturating_add(timing.jitter());
        let span = now.saturating_sub(since);
        if slack >= span / 2 || spread >= span / MIN_SPAN_OF_SPREADS {
            return;
        }
        let arrival = |r: &Report| {
            if r.left_edge {
                return Some(i64::MIN);
            }
            let due = timing.due(r.sent.due_ns, r.sent.sent_ns);
            if r.sent.start >= timing.turn {
                return Some(due);
            }
            let at = due.saturating_add(late);
            (since.saturating_sub(slack)..=now.saturating_add(slack))
                .contains(&at)
                .then_some(at)
        };
        let known = |r: &Report| r.sent.start < timing.turn && !r.left_edge && arrival(r).is_some();
        if self.reports.iter().any(known) {
            self.reports.sort_by_key(|r| (arrival(r), r.sent.start));
        }
    }

    /// How long the first of what the ACK at `now` reports has waited for it: since the ACK before, at
    /// `before`, at most.
    pub(super) fn held_back(&self, timing: &Timing, before: i64, now: i64) -> i64 {
        let arrivals = self.reports.iter().map(|r| timing.arrival_of(&r.sent));
        arrivals.min().map_or(0, |first| {
            now.saturating_sub(first.clamp(before.min(now), now))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Explanations;
    use inorder_base::sequence::Offsets;
    use inorder_wire::Segment;

    /// Ten segments of 100 bytes, sent a millisecond apart.
    fn ten() -> Outstanding {
        let mut out = Outstanding::new(Offsets::new(0), false, Explanations::ALL);
        for i in 0..10 {
            let seg = segment!(ts_ns: i * 1_000_000);
            out.sent(&seg, i * 100, 100);
        }
        out
    }

    /// What an ACK with these blocks, in hundreds of bytes, reports: the order it is read in.
    fn read(out: &mut Outstanding, number: i64, blocks: &[(u32, u32)]) -> Reading {
        let mut seg = segment!(sack_len: blocks.len() as u8);
        for (to, &(left, right)) in seg.sack.iter_mut().zip(blocks) {
            *to = (left * 100, right * 100);
        }
        let mut reading = Reading::default();
        reading.cover(out, number * 100);
        let blocks = out.blocks(&seg);
        reading.report_blocks(out, &blocks, false, false);
        reading
    }

    fn order(reading: &Reading) -> Vec<i64> {
        let starts = reading.reports.iter().map(|r| r.sent.start / 100);
        starts.collect()
    }

    #[test]
    fn the_block_listed_first_changed_last() {
        let mut out = ten();
        assert_eq!(order(&read(&mut out, 1, &[(8, 9), (3, 5)])), [0, 3, 4, 8]);
        let reading = read(&mut out, 1, &[(3, 6), (8, 10)]);
        assert_eq!(order(&reading), [9, 5]);
        assert!(reading.reports[1].told);
    }

    #[test]
    fn what_was_captured_after_its_sack_is_reported_when_the_range_grows() {
        let mut out = ten();
        // SACKed up to 1,300 before the capture shows any of it: read as far as what was sent.
        out.highest = 1_300;
        assert_eq!(order(&read(&mut out, 0, &[(8, 13)])), [8, 9]);
        assert!(!out.sacked_unseen());
        out.sent(&Segment::default(), 1_100, 100);
        assert!(out.sacked_unseen());
        assert_eq!(order(&read(&mut out, 0, &[(7, 13)])), [7, 11]);
        read(&mut out, 13, &[]);
        assert!(!out.sacked_unseen());
    }

    /// What an ACK reports that covers three segments and two more, where those in `known` were SACKed before: the order
    /// it is put in, and which are sure.
    fn behind_a_hole(known: (u32, u32)) -> (Vec<i64>, Vec<bool>) {
        let mut out = ten();
        read(&mut out, 0, &[known]);
        let mut reading = read(&mut out, 3, &[(4, 6)]);
        let covered = reading.reports.len() - 2;
        assert!(reading.several(covered, true, false));
        reading.settle_order(covered, true, Reason::AckCompression, true);
        let sure = reading.reports.iter().map(|r| r.unsure.is_none()).collect();
        (order(&reading), sure)
    }

    #[test]
    fn the_left_edge_came_last_and_is_sure_unless_what_lies_behind_it_may_have_come_with_it() {
        let alone = (vec![4, 5, 0], vec![false, false, true]);
        assert_eq!(behind_a_hole((1, 3)), alone);
        assert_eq!(behind_a_hole((2, 3)), (vec![1, 4, 5, 0], vec![false; 4]));
    }

    #[test]
    fn behind_a_missing_ack_what_lies_above_may_have_come_before_what_was_covered() {
        let mut out = ten();
        let reading = read(&mut out, 1, &[(2, 3)]);
        assert!(!reading.several(1, false, false));
        assert!(reading.several(1, false, true));
    }

    #[test]
    fn one_lateness_tells_where_among_the_others_a_late_segment_came() {
        let mut timing = Timing::default();
        timing.note_rtt(10_000_000);
        (0..9).for_each(|_| timing.lateness.push(4_500_000));
        timing.turn = 300;
        let mut out = ten();
        // Segment 2 was due after 12 ms and came at 16.5, between 6 and 7.
        let mut reading = read(&mut out, 0, &[(2, 3), (4, 8)]);
        reading.by_time(&timing, 13_000_000, 20_000_000);
        assert_eq!(order(&reading), [4, 5, 6, 2, 7]);
    }
}
