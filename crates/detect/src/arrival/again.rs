//! Copies of the same bytes, and which of them was sent first.
//!
//! Of two that arrived, the one that was sent later was not needed, whichever came first. A retransmission of data behind
//! which nothing had come, as a probe of the tail is (RFC 8985 section 7), fills no hole: it looks like new data
//! until its original comes after it. So does every retransmission that comes by a faster way than the originals.

use inorder_wire::{Has, Segment};

use super::{Arrival, Context};
use crate::by_offset::ByOffset;
use crate::explanation::Explanation;
use crate::result::{Confidence, Verdict};

/// New data that may be a retransmission is remembered for so many segments.
const MAX_BROUGHT: usize = 1_024;

/// What tells when a packet was sent, beside others of its host; what does not count there is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mark {
    ip_id: Option<u16>,
    tsval: Option<u32>,
}

impl Mark {
    pub(super) fn of(seg: &Segment, cx: &Context) -> Self {
        Mark {
            ip_id: Some(seg.ip_id).filter(|_| cx.ip_id && seg.has(Has::IP_ID)),
            tsval: Some(seg.tsval).filter(|_| cx.timestamps && seg.has(Has::TIMESTAMPS)),
        }
    }

    /// It was sent before `other`. An identification comes round sooner than a timestamp.
    pub(super) fn is_before(&self, other: &Mark) -> bool {
        match (self.tsval, other.tsval) {
            (Some(a), Some(b)) if a != b => (a.wrapping_sub(b) as i32) < 0,
            _ => match (self.ip_id, other.ip_id) {
                (Some(a), Some(b)) => (a.wrapping_sub(b) as i16) < 0,
                _ => false,
            },
        }
    }
}

/// A copy that filled a hole before its original was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fill {
    pub(super) copies: u32,
    /// Which retransmission the first copy was of those that came, from 1: the first that was sent, where that is known.
    pub(super) number: u64,
    pub(super) phase: u32,
    /// When that one was sent, beside others.
    pub(super) mark: Mark,
    pub(super) at_ns: i64,
    pub(super) frame: u64,
    pub(super) position: u64,
    pub(super) ambiguous: bool,
    /// The receiver had the bytes: the capture lacks what brought them.
    pub(super) known: bool,
    /// The receiver has reported the only copy that was captured as a duplicate: another was not.
    pub(super) doubted: bool,
}

impl Fill {
    /// Another copy has come.
    pub(super) fn add(&mut self, copy: Fill) {
        if self.copies == 0 {
            *self = copy;
            return;
        }
        self.copies += copy.copies;
        self.phase = copy.phase;
        if copy.mark.is_before(&self.mark) {
            // It was sent first: the one that came first was not needed.
            (self.number, self.mark) = (copy.number, copy.mark);
        }
    }
}

/// The first arrival of its bytes, which may repeat what has not come yet.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    start: i64,
    end: i64,
    mark: Mark,
    frame: u64,
    at_ns: i64,
}

/// The highest of these.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstToCome {
    by_start: ByOffset<Brought>,
}

impl FirstToCome {
    fn insert(&mut self, brought: Brought) {
        self.by_start.insert(brought.start, brought);
        if self.by_start.len() > MAX_BROUGHT {
            self.by_start.pop_first();
        }
    }

    fn holding(&mut self, from: i64, to: i64) -> Option<&mut Brought> {
        let (below, _) = self.by_start.around(from.saturating_add(1));
        let start = below.filter(|b| to <= b.end)?.start;
        self.by_start.get_mut(start)
    }
}

impl Arrival {
    /// What tells when `seg` was sent; nothing if that is not to be weighed.
    pub(super) fn mark(&self, seg: &Segment, cx: &Context) -> Mark {
        if self.explanations.has(Explanation::SentOrder) {
            Mark::of(seg, cx)
        } else {
            Mark::default()
        }
    }

    /// The highest data so far comes by `seg`, first byte at `start`: it may be a retransmission if the sender has had the
    /// time to send it again, if others have been sent again, or if what was sent before it has not come.
    pub(super) fn note_first(&mut self, seg: &Segment, start: i64, cx: &Context) {
        let pause = seg.ts_ns.saturating_sub(self.top_ns);
        let perhaps = pause >= self.pause_ns || cx.vanished > 0 || self.retransmissions > 0;
        let mark = self.mark(seg, cx);
        if !perhaps || mark == Mark::default() {
            return;
        }
        self.brought.get_or_insert_default().insert(Brought {
            start,
            end: start + i64::from(seg.payload_len),
            mark,
            frame: seg.frame,
            at_ns: seg.ts_ns,
        });
    }

    /// `[from, to)` comes again by `seg`. If what brought it first was sent after `seg`, that was the retransmission,
    /// and is counted; false if not.
    pub(super) fn came_after_its_copy(
        &mut self,
        seg: &Segment,
        (from, to): (i64, i64),
        cx: &Context,
    ) -> bool {
        let mark = self.mark(seg, cx);
        let first = self.brought.as_mut().and_then(|b| b.holding(from, to));
        let Some(first) = first.filter(|first| mark.is_before(&first.mark)) else {
            return false;
        };
        let copy = *first;
        (first.mark, first.frame, first.at_ns) = (mark, seg.frame, seg.ts_ns);
        let told = (Verdict::Spurious, Confidence::Certain);
        self.count_copy(seg, (from, (to - from) as u32), told, cx);
        if let Some(line) = self.list.last_mut() {
            (line.frame, line.at_ns) = (copy.frame, copy.at_ns);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Explanations;
    use crate::result::Half;

    fn mark(ip_id: u16, tsval: Option<u32>) -> Mark {
        Mark {
            ip_id: Some(ip_id),
            tsval,
        }
    }

    const MS: i64 = 1_000_000;
    const LEN: u32 = 1_000;

    /// Segments of 1,000 bytes as a receiver gets them: time (ms), which, identification. Frames are numbered from 1. The
    /// retransmissions that are listed: frame and verdict.
    fn told(arrivals: &[(i64, i64, u16)], without: Option<Explanation>) -> Vec<(u64, Verdict)> {
        let all = Explanations::default();
        let weighed = without.map_or(all, |off| all.without(off));
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, weighed);
        let cx = Context {
            mss: LEN,
            ip_id: true,
            sack: true,
            to_sender_ns: Some(20 * MS),
            syn_seen: true,
            ..Context::default()
        };
        for (&(at_ms, i, ip_id), frame) in arrivals.iter().zip(1..) {
            let seg = Segment {
                ts_ns: at_ms * MS,
                payload_len: LEN,
                ip_id,
                has: Has::IP_ID,
                frame,
                ..Segment::default()
            };
            arrival.data(&seg, i * i64::from(LEN), &cx, |_, _, _| {});
        }
        let end = arrival.finish(&cx);
        end.list.iter().map(|r| (r.frame, r.verdict)).collect()
    }

    #[test]
    fn a_probe_that_came_before_its_late_original_was_the_retransmission() {
        let arrivals = [(0, 0, 1), (1, 1, 2), (90, 2, 9), (100, 2, 3)];
        assert_eq!(told(&arrivals, None), [(3, Verdict::Spurious)]);
        let off = told(&arrivals, Some(Explanation::SentOrder));
        assert_eq!(
            off,
            [(4, Verdict::Spurious)],
            "taken for the retransmission"
        );
    }

    #[test]
    fn a_retransmission_that_overtakes_originals_by_a_faster_way_opens_a_hole_and_is_known_when_its_own_comes()
     {
        let arrivals = [
            (0, 0, 1),
            (1, 1, 2),
            (90, 4, 9),
            (95, 2, 3),
            (96, 3, 4),
            (100, 4, 5),
        ];
        assert_eq!(told(&arrivals, None), [(3, Verdict::Spurious)]);
        let off = told(&arrivals, Some(Explanation::SentOrder));
        assert_eq!(off, [(6, Verdict::Spurious)], "taken for the later one");
    }

    #[test]
    fn of_two_retransmissions_the_one_that_was_sent_first_was_needed() {
        let arrivals = [(0, 0, 1), (1, 2, 3), (40, 1, 9), (50, 1, 6)];
        let needed_first = [(3, Verdict::Spurious), (4, Verdict::Needed)];
        assert_eq!(told(&arrivals, None), needed_first);
        let off = told(&arrivals, Some(Explanation::SentOrder));
        assert_eq!(off, [(3, Verdict::Needed), (4, Verdict::Spurious)]);
    }

    #[test]
    fn a_timestamp_tells_more_than_an_identification_that_has_come_round() {
        assert!(mark(7, None).is_before(&mark(8, None)));
        assert!(mark(65_535, None).is_before(&mark(3, None)));
        assert!(mark(40_000, Some(5)).is_before(&mark(9, Some(6))));
        assert!(mark(8, Some(5)).is_before(&mark(9, Some(5))));
        assert!(!mark(9, Some(u32::MAX)).is_before(&Mark::default()));
    }
}
