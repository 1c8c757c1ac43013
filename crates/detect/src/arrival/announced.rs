//! Data that its sender has shown to have sent by a segment without data, before it came by.
//!
//! A segment without data bears the number of what is sent next (RFC 9293 section 3.10.7.4: SEQ=SND.NXT): what lies below was sent before it.
//! What comes by behind it, and had not come before, was overtaken by it, or is sent again because it was lost before this point.

use inorder_wire::{Has, Segment};

use super::{Arrival, Context, MAX_BEHIND_THE_END, Note};
use crate::collect::Basis;
use crate::copies::{Above, Copy, Marks, Means, tell};
use crate::prompt::MIN_TIMEOUT_NS;
use crate::result::{Evidence, Reason};

/// Segments remembered at once; where there are more, the first ones tell of most.
const MAX_ANNOUNCED: usize = 16;
/// What was overtaken comes sooner than this or within a round trip, nanoseconds.
const SOON_NS: i64 = 1_000_000;

/// A segment without data, and the number that it bore.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    /// One past the highest byte that had been sent.
    to: i64,
    by: Above,
}

impl Arrival {
    /// The sender of the data sends `seg`, which has none, and whose number is `to`.
    #[cold]
    pub(crate) fn announces(&mut self, seg: &Segment, to: i64) {
        self.book_run();
        let next = self.order.next();
        self.announced.retain(|known| known.to > next);
        let known = self.announced.last().map_or(next, |last| last.to);
        let within = to <= self.edge && to - next <= MAX_BEHIND_THE_END;
        // What was sent before the capture began cannot have been captured.
        let since = !self.has_just_begun(seg.ts_ns);
        if to > known && within && since && self.announced.len() < MAX_ANNOUNCED {
            self.announced.push(Announced {
                to,
                by: Above::of(seg),
            });
        }
    }

    /// The byte at `start` was sent before a segment without data that has come by.
    #[inline]
    pub(super) fn is_announced(&self, start: i64) -> bool {
        self.announced.last().is_some_and(|last| start < last.to)
    }

    /// The highest data so far comes by `seg`, first byte at `start`, and had been sent before a segment that has come by. If it is sent again,
    /// its original left a hole when it was lost.
    #[cold]
    pub(super) fn note_announced(&mut self, seg: &Segment, start: i64, cx: &Context) {
        let end = start + i64::from(seg.payload_len);
        let whole = self.announced.iter().find(|known| known.to >= end);
        let Some(known) = whole.or(self.announced.last()).copied() else {
            return;
        };
        if let Copy::Retransmission(_) = told_of(seg, &known.by, cx) {
            let note = Note {
                above: known.by,
                announced: true,
                ..Note::default()
            };
            self.order.note_len(seg.payload_len.min(cx.mss));
            self.order.skip_to(known.to.min(end), seg.ts_ns, note);
            self.times.top_ns = self.times.top_ns.max(known.by.at_ns);
        }
        self.announced.retain(|known| known.to > end);
    }
}

/// Was `seg` sent again after a segment without data, `by`, whose number lies above it? By its marks it was, or it was not; without any, a timer
/// may have expired between the two, and less than a round trip tells of none.
pub(super) fn told_of(seg: &Segment, by: &Above, cx: &Context) -> Copy {
    let counts = cx.marks.ip_id && seg.has(Has::IP_ID) && by.ip_id != 0;
    let stamped = cx.marks.timestamps && seg.has(Has::TIMESTAMPS) && by.tsval != 0;
    if counts || stamped && seg.tsval != by.tsval {
        let means = Means {
            marks: Marks {
                ip_id: counts,
                timestamps: stamped,
                follows: false,
                ..cx.marks
            },
            news_ns: by.at_ns,
            likelier_late: true,
            ..Means::default()
        };
        return tell(seg, by, &means);
    }
    let waited = seg.ts_ns.saturating_sub(by.at_ns);
    let rtt = cx.marks.rtt_ns().unwrap_or(0);
    let likely = Basis::certain(Evidence::ArrivalTiming).weaker(Reason::LoneCopy);
    if waited < SOON_NS.max(rtt - rtt / 8) {
        Copy::Original(likely)
    } else if waited >= MIN_TIMEOUT_NS.max(rtt.saturating_mul(2)) {
        Copy::Retransmission(likely)
    } else {
        Copy::Retransmission(Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Explanations;
    use crate::result::{Confidence, Half, Kind};

    const MS: i64 = 1_000_000;
    const LEN: u32 = 1_000;

    /// Packets of 1,000 bytes, or segments without data, as a receiver gets them: time (ms), first byte, length and identification, which is 0 where
    /// there is none. What is told of them, and how many were counted.
    fn told(came: &[(i64, i64, u32, u16)]) -> (Vec<(Kind, u64, Confidence)>, u64) {
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, Explanations::default());
        let (mut una, mut arrived) = (0, Vec::new());
        for (&(at_ms, start, payload_len, ip_id), frame) in came.iter().zip(1..) {
            let cx = Context {
                una,
                ..Context::beside_receiver().numbered(ip_id > 0)
            };
            let has = if ip_id > 0 { Has::IP_ID } else { 0 };
            let seg = segment!(ts_ns: at_ms * MS, payload_len, ip_id, has, frame);
            if payload_len == 0 {
                arrival.announces(&seg, start);
            } else if !arrival.in_order(&seg, start, LEN) {
                arrival.data(&seg, start, &cx, |_, _, _| {});
            }
            arrived.push((start, start + i64::from(payload_len)));
            while let Some(next) = arrived.iter().find(|&&(from, to)| from <= una && una < to) {
                una = next.1;
            }
            arrival.acknowledged(una, at_ms * MS);
        }
        let numbered = came.iter().any(|packet| packet.3 > 0);
        let cx = Context {
            una,
            ..Context::beside_receiver().numbered(numbered)
        };
        let end = arrival.finish(&cx, Some(1_000 * MS));
        let packets = end.packets;
        let events = end.collector.finish().events;
        let events = events.iter();
        let events = events.map(|e| (e.kind, e.seq_offset, e.confidence));
        (events.collect(), packets)
    }

    #[test]
    fn what_is_sent_after_a_segment_with_a_higher_number_is_sent_again() {
        let certain = |start| (Kind::Lost, start, Confidence::Certain);
        let lost = [
            (0, 0, LEN, 1),
            (30, 3_000, 0, 4),
            (230, 1_000, LEN, 5),
            (250, 2_000, LEN, 6),
            (270, 3_000, LEN, 7),
        ];
        assert_eq!(told(&lost), (vec![certain(1_000), certain(2_000)], 4));
        // The last comes first, as a probe repeats it.
        let probed = [
            (0, 0, LEN, 1),
            (30, 3_000, 0, 4),
            (230, 2_000, LEN, 5),
            (250, 1_000, LEN, 6),
        ];
        assert_eq!(told(&probed), (vec![certain(2_000), certain(1_000)], 3));
    }

    #[test]
    fn what_was_sent_before_it_is_in_order() {
        let overtaken = [
            (0, 0, LEN, 1),
            (30, 3_000, 0, 4),
            (230, 1_000, LEN, 2),
            (250, 2_000, LEN, 3),
            (270, 3_000, LEN, 5),
        ];
        assert_eq!(told(&overtaken), (Vec::new(), 4));
    }

    #[test]
    fn of_a_packet_that_reaches_beyond_its_number_a_part_is_sent_again() {
        let longer = [(0, 0, LEN, 1), (30, 1_400, 0, 3), (230, 1_000, LEN, 4)];
        assert_eq!(
            told(&longer),
            (vec![(Kind::Lost, 1_000, Confidence::Certain)], 3)
        );
    }

    #[test]
    fn a_byte_that_was_announced_is_no_keep_alive() {
        let byte = [(0, 0, LEN, 1), (30, 1_001, 0, 3), (230, 1_000, 1, 4)];
        assert_eq!(
            told(&byte),
            (vec![(Kind::Lost, 1_000, Confidence::Certain)], 2)
        );
    }

    #[test]
    fn without_a_mark_time_tells_of_a_timer() {
        let waited = |ms: i64| told(&[(0, 0, LEN, 0), (30, 2_000, 0, 0), (30 + ms, 1_000, LEN, 0)]);
        let lost = |sure| (vec![(Kind::Lost, 1_000, sure)], 2);
        assert_eq!(waited(5), (Vec::new(), 2));
        assert_eq!(waited(60), lost(Confidence::Ambiguous));
        assert_eq!(waited(210), lost(Confidence::Likely));
    }
}
