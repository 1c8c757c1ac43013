//! Copies of the same bytes, and which of them was sent first.
//!
//! If two transmissions arrived, the one that was sent later was not needed, whichever came first. A retransmission of data behind
//! which nothing had come, as a probe of the tail is (RFC 8985 section 7), fills no hole: it looks like new data
//! until its original comes after it. So does every retransmission that comes by a faster way than the originals.

use inorder_wire::{Has, Segment};

use super::{Arrival, Context};
use crate::collect::Basis;
use crate::copies::Above;
use crate::explanation::Explanation;
use crate::result::{Evidence, Reason, Verdict};
use inorder_metrics::by_bytes::ByOffset;
use inorder_metrics::by_bytes::Hole;

/// Maximum number of segments of new data remembered because they may be retransmissions.
const MAX_BROUGHT: usize = 1_024;
/// Up to this number of them are looked at one by one.
const MAX_IN_LIST: usize = 4;

/// What tells when a packet was sent, beside others of its host; what does not count there is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mark {
    ip_id: Option<u16>,
    tsval: Option<u32>,
}

impl Mark {
    pub(super) fn of(seg: &Segment, cx: &Context) -> Self {
        Mark {
            ip_id: Some(seg.ip_id).filter(|_| cx.marks.ip_id && seg.has(Has::IP_ID)),
            tsval: Some(seg.tsval).filter(|_| cx.marks.timestamps && seg.has(Has::TIMESTAMPS)),
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

    /// It was sent before that data, whose numbers count as its own do.
    fn is_older(&self, data: &Above) -> bool {
        self.is_before(&Mark {
            ip_id: self.ip_id.map(|_| data.ip_id),
            tsval: self.tsval.map(|_| data.tsval),
        })
    }

    /// What tells it from `other`, which was sent later.
    fn evidence(&self, other: &Mark) -> Basis {
        let stamped = self.tsval.is_some() && self.tsval != other.tsval;
        let evidence = match stamped {
            true => Evidence::ArrivalTimestamps,
            false => Evidence::ArrivalIpId,
        };
        Basis::certain(evidence)
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
    /// Only its time shows that it was a retransmission.
    pub(super) unmarked: bool,
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
    /// How many originals had arrived before it.
    position: u64,
    /// The hole that newer data would have opened if this segment had not come; set when that data comes. With it is what
    /// tells when that data was sent.
    left: Option<Hole<Above>>,
}

/// The highest of these, either all in one list or all in the table.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstToCome {
    /// In this order while they are few and each is above those before: a short flow needs no table.
    few: Vec<Brought>,
    by_start: ByOffset<Brought>,
    /// The first byte of the last of them, while nothing new has come behind it.
    last: Option<i64>,
}

heap!(FirstToCome: few, by_start);

impl FirstToCome {
    fn insert(&mut self, brought: Brought) {
        self.last = Some(brought.start);
        let above = self.few.last().is_none_or(|b| b.start < brought.start);
        if self.by_start.is_empty() && self.few.len() < MAX_IN_LIST && above {
            return self.few.push(brought);
        }
        for few in std::mem::take(&mut self.few) {
            self.by_start.insert(few.start, few);
        }
        self.by_start.insert(brought.start, brought);
        if self.by_start.len() > MAX_BROUGHT {
            self.by_start.pop_first();
        }
    }

    fn holding(&mut self, from: i64, to: i64) -> Option<&mut Brought> {
        if !self.few.is_empty() {
            let mut few = self.few.iter_mut().rev();
            return few.find(|b| b.start <= from).filter(|b| to <= b.end);
        }
        let (below, _) = self.by_start.around(from.saturating_add(1));
        let start = below.filter(|b| to <= b.end)?.start;
        self.by_start.get_mut(start)
    }

    /// Newer data comes, which would have opened the hole `hole_of` a range if the last of these had not come.
    fn overtaken(&mut self, hole_of: impl FnOnce((i64, i64)) -> Hole<Above>) {
        let Some(last) = self.last.take() else {
            return;
        };
        let brought = match self.few.last_mut() {
            Some(highest) => Some(highest), // It came last.
            None => self.by_start.get_mut(last),
        };
        if let Some(brought) = brought {
            brought.left = Some(hole_of((brought.start, brought.end)));
        }
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
        self.note_overtaking(seg, start);
        let pause = seg.ts_ns.saturating_sub(self.times.top_ns);
        let perhaps = pause >= self.times.pause_ns || self.resent.total > 0;
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
            position: self.order.arrivals(),
            left: None,
        });
    }

    /// Newer data comes. If the segment before it was a retransmission whose original is still under way, this data
    /// overtakes that original: what is needed to measure its lateness is remembered.
    pub(super) fn note_overtaking(&mut self, seg: &Segment, start: i64) {
        if let Some(brought) = &mut self.brought
            && start >= self.order.next()
        {
            let (order, above) = (&self.order, Above::of(seg));
            brought.overtaken(|range| order.as_if_missing(range, seg.ts_ns, above));
        }
    }

    /// True if the highest segment so far may be a retransmission: then the next one must not join a run, because its place
    /// and time are needed should the original come late.
    pub(super) fn awaits_next(&self) -> bool {
        let brought = self.brought.as_ref();
        brought.is_some_and(|brought| brought.last.is_some())
    }

    /// Measures an original that comes after its retransmission and after newer data, which would have opened the hole
    /// `left`.
    fn came_late(
        &mut self,
        seg: &Segment,
        (from, len): (i64, u32),
        left: &Hole<Above>,
        basis: Basis,
    ) {
        let late = self.order.pass(left, from, len, seg.ts_ns);
        self.collector.was_a_copy();
        self.record_late(seg, from, len, &late, basis);
    }

    /// `[from, to)` comes again by `seg`. If what brought it first was sent after `seg`, that was the retransmission, and is
    /// counted: its frame and its time, nanoseconds.
    pub(super) fn came_after_its_copy(
        &mut self,
        seg: &Segment,
        (from, to): (i64, i64),
        cx: &Context,
    ) -> Option<(u64, i64)> {
        let mark = self.mark(seg, cx);
        let first = self.brought.as_mut().and_then(|b| b.holding(from, to));
        let first = first.filter(|first| mark.is_before(&first.mark))?;
        let copy = *first;
        (first.mark, first.frame, first.at_ns) = (mark, seg.frame, seg.ts_ns);
        let len = (to - from) as u32;
        let told = self.both_came();
        self.resent.unclear += u64::from(told.0 == Verdict::Ambiguous);
        self.count_copy(seg, (from, len), told, cx);
        if let Some(line) = self.resent.list.last_mut() {
            (line.frame, line.at_ns) = (copy.frame, copy.at_ns);
        }
        if let Some(left) = copy.left.filter(|left| mark.is_older(&left.note)) {
            let told = mark.evidence(&copy.mark);
            // What comes sooner behind the copy than the sender can have heard of it may be another retransmission.
            let basis = match left.opened_ns - copy.at_ns >= self.times.pause_ns {
                true => told.weaker(Reason::LoneCopy),
                false => Basis::ambiguous(told.evidence, Reason::LoneCopy),
            };
            self.came_late(seg, (from, len), &left, basis);
            // The copy had taken the place of an original among those before it.
            self.doubt_from(copy.position, Reason::LoneCopy);
        }
        Some((copy.frame, copy.at_ns))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use inorder_metrics::by_bytes::Order;
    use proptest::prelude::*;

    use super::*;
    use crate::collect::Collected;
    use crate::engine_end::EngineEnd;
    use crate::explanation::Explanations;
    use crate::result::{Confidence, Half};

    proptest! {
        /// The straightforward twin is a tree. Some are few, some are more than are kept in a list, and some do not ascend.
        #[test]
        fn what_came_first_is_found_in_the_list_and_in_the_table(
            starts in prop::collection::vec(0i64..40, 1..12),
            ascend in any::<bool>(),
        ) {
            let (mut first, mut twin) = (FirstToCome::default(), BTreeMap::new());
            for (nth, start) in (0..).zip(starts) {
                let start = 10 * if ascend { 4 * nth } else { start };
                first.insert(Brought { start, end: start + 7, ..Brought::default() });
                twin.insert(start, start + 7);
                for at in 0..500 {
                    let below = twin.range(..=at).next_back().filter(|(_, end)| at + 2 <= **end);
                    let found = first.holding(at, at + 2).map(|brought| brought.start);
                    prop_assert_eq!(found, below.map(|(start, _)| *start));
                }
                first.overtaken(|range| Order::<()>::new(0).as_if_missing(range, 0, Above::default()));
                let left = first.holding(start, start + 1).and_then(|brought| brought.left);
                prop_assert_eq!(left.map(|left| (left.start, left.end)), Some((start, start + 7)));
            }
        }
    }

    fn mark(ip_id: u16, tsval: Option<u32>) -> Mark {
        Mark {
            ip_id: Some(ip_id),
            tsval,
        }
    }

    const MS: i64 = 1_000_000;
    const LEN: u32 = 1_000;

    /// Segments of 1,000 bytes as a receiver gets them: time (ms), which, identification. Frames are numbered from 1.
    fn end_of(arrivals: &[(i64, i64, u16)], weighed: Explanations) -> EngineEnd {
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, weighed);
        let cx = Context::beside_receiver().numbered(true);
        for (&(at_ms, i, ip_id), frame) in arrivals.iter().zip(1..) {
            let seg = segment!(ts_ns: at_ms * MS, payload_len: LEN, ip_id, has: Has::IP_ID, frame);
            let start = i * i64::from(LEN);
            if !arrival.in_order(&seg, start, LEN) {
                arrival.data(&seg, start, &cx, |_, _, _| {});
            }
        }
        // Everything is acknowledged in the end.
        let una = 10 * i64::from(LEN);
        arrival.acknowledged(una, 200 * MS);
        arrival.finish(&Context { una, ..cx }, Some(200 * MS))
    }

    /// The retransmissions that are listed: frame and verdict.
    fn told(arrivals: &[(i64, i64, u16)], without: Option<Explanation>) -> Vec<(u64, Verdict)> {
        let all = Explanations::default();
        let end = end_of(arrivals, without.map_or(all, |off| all.without(off)));
        end.list.iter().map(|r| (r.frame, r.verdict)).collect()
    }

    #[test]
    fn an_original_behind_newer_data_is_late_though_a_probe_had_brought_its_bytes() {
        let arrivals = [
            (0, 0, 1),
            (1, 1, 2),
            (60, 2, 9),
            (91, 3, 10),
            (92, 4, 11),
            (100, 2, 3),
            (101, 6, 13),
            (103, 5, 12),
        ];
        assert_eq!(told(&arrivals, None), [(3, Verdict::Spurious)]);
        let end = end_of(&arrivals, Explanations::default());
        let Collected {
            reordering, events, ..
        } = end.collector.finish();
        let late: Vec<_> = events
            .iter()
            .map(|e| (e.frame, e.extent, e.extent_bytes, e.late_ns, e.confidence))
            .collect();
        assert_eq!(
            late,
            [
                (6, Some(2), Some(2_000), Some(9 * MS), Confidence::Likely),
                (8, Some(1), Some(1_000), Some(2 * MS), Confidence::Certain),
            ]
        );
        assert_eq!((reordering.received, reordering.reordered), (7, 2));
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
