//! What is sent again: why, and of which segment it is a copy.

use inorder_wire::Segment;

use super::Sender;
use crate::arrival::Repeat;
use crate::prompt::{MIN_TIMEOUT_NS, Prompt, Waited};
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

    /// Which packet the retransmission was that was noted last.
    pub(crate) fn note_which(&mut self, repeat: &Repeat) {
        let Some(line) = self.ledger.list.last_mut() else {
            return;
        };
        match repeat.ahead {
            Some((frame, at_ns)) => (line.frame, line.at_ns) = (frame, at_ns),
            None => line.confidence = line.confidence.max(repeat.sure),
        }
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
            // Where nothing tells of SACK, what no retransmission timer does so soon was a probe's.
            sack: match self.receiver.sack_options() {
                Some(sack) => sack,
                None => quiet_ns < MIN_TIMEOUT_NS,
            },
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

#[cfg(test)]
mod tests {
    use inorder_wire::{Endpoint, FlowKey, Has, Segment, TcpFlags};

    use crate::{Confidence, Config, Tracker, Vantage, Verdict};

    /// On the path, 5 ms from both hosts: segment 1 comes by at 60 ms with this timestamp, is acknowledged and comes once more with that one. The
    /// retransmission: its frame, and how sure it is.
    fn needless(first: Option<u32>, second: Option<u32>) -> (u64, Confidence) {
        let (key, there) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
        let config = Config::default().vantage(Some(Vantage::Middle));
        let mut tracker = Tracker::new(config.keep_events(true).what_if(false));
        let stamped = first.is_some();
        let hello = |flags: u8| {
            let flags = TcpFlags(TcpFlags::SYN | flags);
            segment!(seq: u32::MAX, flags, tsval: 9, has: Has::SACK_PERMITTED)
        };
        let flags = TcpFlags(TcpFlags::ACK);
        let data = |seq: u32, tsval: Option<u32>| {
            let tsval = tsval.unwrap_or(0);
            segment!(seq, payload_len: 100, flags, tsval)
        };
        let ack = |number: u32| segment!(ack: number, flags);
        let back = there.reverse();
        let trace = [
            (0, there, hello(0)),
            (10, back, hello(TcpFlags::ACK)),
            (20, there, ack(0)),
            (30, there, data(0, first.map(|_| 30))),
            (40, back, ack(100)),
            (60, there, data(100, first)),
            (70, back, ack(200)),
            (71, there, data(100, second)),
        ];
        for ((ms, dir, seg), frame) in trace.into_iter().zip(1..) {
            let seg = Segment {
                ts_ns: ms * 1_000_000,
                frame,
                has: seg.has | if stamped { Has::TIMESTAMPS } else { 0 },
                ..seg
            };
            tracker.push(&key, dir, &seg);
        }
        let flows = tracker.finish();
        let list = &flows[0].records.retransmissions;
        assert_eq!((list.len(), list[0].verdict), (1, Verdict::Spurious));
        (list[0].frame, list[0].confidence)
    }

    #[test]
    fn on_the_path_the_one_that_was_sent_later_is_the_retransmission() {
        assert_eq!(needless(Some(60), Some(70)), (8, Confidence::Certain));
        assert_eq!(needless(Some(60), Some(31)), (6, Confidence::Certain));
        assert_eq!(
            needless(None, None),
            (8, Confidence::Likely),
            "nothing tells"
        );
    }
}
