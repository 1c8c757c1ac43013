//! What is sent again: why, and of which segment it is a copy.

use inorder_wire::Segment;

use super::Sender;
use crate::prompt::{Prompt, Waited};
use crate::result::{Confidence, Verdict};

impl Sender {
    /// A retransmission of `[start, start + len)`.
    pub(crate) fn retransmitted(&mut self, seg: &Segment, start: i64, len: u32) {
        self.outstanding.sent_again(seg);
        let (una, highest) = (self.outstanding.una, self.outstanding.highest);
        let prompt = self.prompt(seg.ts_ns, start, start + i64::from(len) >= highest);
        let phase = self.ledger.recoveries.retransmitted(
            seg.ts_ns,
            start,
            highest,
            self.news.away_ns,
            prompt,
        );
        let verdict = self.place_copy(seg, start, len, phase);
        if verdict == Some(Verdict::Spurious) {
            self.repeats.awaited.push(seg.ts_ns);
        }
        // Its bytes had been reported when it was sent.
        let sure = match verdict {
            Some(Verdict::Spurious) => self.gaps.doubts.of_copy(start),
            _ => Confidence::Ambiguous,
        };
        let told = verdict.map(|verdict| (verdict, sure));
        self.ledger.sent_again(seg, (start, len), phase, told);
        self.note_copy(seg.ts_ns);
        let rtt = self.timing.usual_rtt();
        self.no_sack
            .retransmitted(seg.ts_ns, start, una, highest, rtt);
    }

    /// What made the sender repeat the segment at `start`, the `last` of all, at `now`.
    fn prompt(&self, now: i64, start: i64, last: bool) -> Prompt {
        let sent_ns = self.outstanding.last_sent(start);
        let news_ns = self.news.by(now);
        let heard_ns = news_ns.unwrap_or(i64::MIN).max(sent_ns.unwrap_or(i64::MIN));
        let quiet_ns = now.saturating_sub(heard_ns);
        let away_ns = self.news.away_ns;
        let usual = self.timing.usual_rtt().saturating_add(away_ns);
        let shortest = self.timing.min_rtt.map(|rtt| rtt.saturating_add(away_ns));
        let waited = Waited {
            quiet_ns,
            since_sent_ns: sent_ns.map(|at| now.saturating_sub(at)),
            rtt_ns: shortest.map(|rtt| (rtt, usual.max(rtt))),
            last,
            sack: self.receiver.has_sack(),
        };
        waited.prompt()
    }

    /// Books a copy where its segment is; `Ambiguous` while its fate is open, `None` if it is no
    /// segment's that was captured.
    fn place_copy(&mut self, seg: &Segment, start: i64, len: u32, phase: u32) -> Option<Verdict> {
        let end = start + i64::from(len);
        let out = &mut self.outstanding;
        if start >= out.una {
            let whole = out.board.get(out.board.find(start)).copied();
            if let Some(s) = whole.filter(|s| s.start == start && !s.reported) {
                let times = out.board.copies_of(&s).map_or(0, |copies| copies.count);
                self.sizes.sent_again(start, len, (s.len, times));
            }
            out.board.fit_copy(start, end);
            let i = out.board.find(start);
            match out.board.get(i) {
                // Not captured so far.
                Some(s) if s.start > start => {
                    let open = self.note_orphan(seg, start, end, phase);
                    return open.then_some(Verdict::Ambiguous);
                }
                Some(s) if !s.reported => {
                    out.mark_copies(i, seg, end, phase);
                    return Some(Verdict::Ambiguous);
                }
                Some(_) => {}
                None => return None,
            }
        }
        let whole = out.all_reported(start, end);
        match self.ledger.filled.covering(start) {
            Some(f) if !f.original_in => {
                f.copies.add(seg.ts_ns, seg.tsval, phase, true);
                if !whole {
                    return Some(Verdict::Ambiguous);
                }
                f.after += 1;
                Some(Verdict::Spurious)
            }
            Some(_) => Some(Verdict::Spurious),
            None => {
                self.ledger.copies.sent_again += 1;
                Some(Verdict::Spurious)
            }
        }
    }
}
