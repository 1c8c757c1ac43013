//! Where the engines of one flow put what they find.

use inorder_metrics::by_bytes::Late;
use inorder_metrics::by_rate::Rates;
use inorder_metrics::{Reordered, Tally};

use crate::cause::Mark;
use crate::result::{
    Bound, Bounds, Bursts, Confidence, Distribution, Event, Evidence, Half, Kind, RateClass,
    Reason, Reordering,
};

/// What an event rests on and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Basis {
    /// What shows it.
    pub evidence: Evidence,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why it is not certain.
    pub reason: Option<Reason>,
}

impl Basis {
    /// Nothing else could have left this evidence.
    pub fn certain(evidence: Evidence) -> Self {
        Basis {
            evidence,
            confidence: Confidence::Certain,
            reason: None,
        }
    }

    /// The same, one step less sure, because of `reason`.
    pub(crate) fn weaker(self, reason: Reason) -> Self {
        let confidence = match self.confidence {
            Confidence::Certain => Confidence::Likely,
            lower => lower,
        };
        Basis {
            confidence,
            reason: self.reason.or(Some(reason)),
            ..self
        }
    }

    pub(crate) fn ambiguous(evidence: Evidence, reason: Reason) -> Self {
        Basis {
            evidence,
            confidence: Confidence::Ambiguous,
            reason: Some(reason),
        }
    }
}

/// A segment as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Place {
    /// Bytes from the flow's first data byte.
    pub start: i64,
    /// Bytes.
    pub len: u32,
    /// Its frame.
    pub frame: u64,
    /// The frame that shows what happened to it.
    pub proof_frame: u64,
    /// When it happened, nanoseconds.
    pub at_ns: i64,
    /// When the original was sent (or arrived, at a receiver), for the rate.
    pub sent_ns: i64,
}

impl Place {
    /// A packet that was captured `at_ns` in `frame`, which shows by itself what happened.
    pub(crate) fn captured(start: i64, len: u32, frame: u64, at_ns: i64) -> Self {
        Place {
            start,
            len,
            frame,
            proof_frame: frame,
            at_ns,
            sent_ns: at_ns,
        }
    }

    /// What its retransmission, captured `at_ns` in `frame`, shows to have been lost.
    pub(crate) fn lost(start: i64, len: u32, frame: u64, at_ns: i64) -> Self {
        Place {
            frame: 0,
            ..Place::captured(start, len, frame, at_ns)
        }
    }
}

/// Late, lost and refused originals remembered for the causes of recoveries.
const MAX_MARKS_REMEMBERED: usize = 1 << 16;
/// The last of them, among which a late packet that is sent again is looked for: a round trip of late packets.
const MAX_MARKS_LOOKED_AT: usize = 1_024;

/// How late the packets were that are late for certain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Certain {
    /// Packets, RFC 4737 section 4.2.
    pub(crate) extents: Distribution,
    /// Nanoseconds, RFC 4737 section 4.3.
    pub(crate) late_ns: Distribution,
}

heap!(Certain: extents, late_ns);

/// What a [`Collector`] has collected.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Collected {
    /// The metrics.
    pub reordering: Reordering,
    /// Runs of reordered packets.
    pub bursts: Bursts,
    /// Reordering by sending rate, ascending.
    pub by_rate: Vec<RateClass>,
    /// Every event, in the order of time; none unless events are kept.
    pub events: Vec<Event>,
}

/// Everything one half of the path tells about the originals of one flow. It is large, and what holds it is moved when
/// the flow ends: so it lies in a box.
#[derive(Debug)]
pub struct Collector {
    half: Half,
    keep_events: bool,
    tally: Tally,
    lost: u64,
    refused: u64,
    /// Of these, outside the receiver's window, and so not late.
    outside: u64,
    /// Of these, reported before they were discarded.
    reneged: u64,
    /// How late those are that are certain; `None` while that is what all measured ones are: then the tally has it.
    certain: Option<Box<Certain>>,
    /// Bounds of the extents of those that are likely.
    bounds: Bounds,
    /// Where originals were late, lost or refused, for the causes of what followed.
    marks: Vec<Mark>,
    rates: Rates,
    events: Vec<Event>,
}

heap!(Collector: certain, marks, rates, events);

impl Collector {
    /// Nothing found yet in this half of the path.
    pub fn new(half: Half, keep_events: bool) -> Self {
        Collector {
            half,
            keep_events,
            tally: Tally::default(),
            lost: 0,
            refused: 0,
            outside: 0,
            reneged: 0,
            certain: None,
            bounds: Bounds::default(),
            marks: Vec::new(),
            rates: Rates::default(),
            events: Vec::new(),
        }
    }

    /// Originals that were late, lost or refused, as far as they are remembered.
    pub(crate) fn troubles(&self) -> u64 {
        self.marks.len() as u64
    }

    /// An original that begins at `start` is said to have arrived late.
    pub(crate) fn was_late(&self, start: i64) -> bool {
        let mut late = self.marks.iter().filter(|m| m.kind == Kind::Reordered);
        late.any(|mark| mark.start == start)
    }

    /// An original that begins at `start` is said to have arrived late by one of the last events. Of a flow with more events than are remembered
    /// that is not known.
    pub(crate) fn was_just_late(&self, start: i64) -> bool {
        let mut last = self.marks.iter().rev().take(MAX_MARKS_LOOKED_AT);
        last.any(|mark| mark.start == start && mark.kind == Kind::Reordered)
    }

    /// An original was sent (or, at a receiver, came by) at `now`: feeds the rate.
    #[inline]
    pub fn sent(&mut self, now: i64, bytes: u32) {
        self.rates.sent(now, bytes);
    }

    /// Originals sent (or come by) so far, and their bytes.
    pub(crate) fn all_sent(&self) -> (u64, u64) {
        self.rates.all_sent()
    }

    /// When the interval of the rate that the last original fell into begins, nanoseconds.
    pub(crate) fn interval_ns(&self) -> i64 {
        self.rates.interval_ns()
    }

    /// More originals in the same interval.
    pub(crate) fn sent_on(&mut self, packets: u64, bytes: u64) {
        self.rates.sent_on(packets, bytes);
    }

    /// An original arrived in order; `label` is its packet number.
    #[inline]
    pub fn in_order(&mut self, label: u64) {
        self.in_order_run(label, 1);
    }

    /// `packets` originals arrived in order; `first` is the packet number of the first.
    #[inline]
    pub(crate) fn in_order_run(&mut self, first: u64, packets: u64) {
        self.tally.in_order(first, packets);
    }

    /// What counted as an original in order was a retransmission.
    pub(crate) fn was_a_copy(&mut self) {
        self.tally.was_a_copy();
    }

    /// An original arrived late; its extent may be off either way, unless it is certain.
    pub fn late(&mut self, place: Place, late: Late, label: u64, basis: Basis) {
        self.late_within(place, late, label, basis, Bound::About);
    }

    /// The same, with what the extent bounds.
    pub(crate) fn late_within(
        &mut self,
        place: Place,
        late: Late,
        label: u64,
        basis: Basis,
        bound: Bound,
    ) {
        let (basis, bound) = if late.opener_unsure {
            (basis.weaker(Reason::AckCompression), Bound::About)
        } else {
            (basis, bound)
        };
        if basis.confidence == Confidence::Ambiguous {
            self.tally.late_perhaps(Some(label));
        } else {
            let how = Reordered {
                extent: late.extent.into(),
                late_ns: late.late_ns,
                byte_offset: late.bytes,
            };
            let exact = basis.confidence == Confidence::Certain && bound == Bound::About;
            if !exact && self.certain.is_none() {
                self.certain = Some(Box::new(self.all_late()));
            }
            self.tally.late(label, &how);
            self.bounds.at_most += u64::from(bound == Bound::AtMost);
            self.bounds.at_least += u64::from(bound == Bound::AtLeast);
            if exact && let Some(certain) = &mut self.certain {
                certain.extents.update(how.extent);
                certain.late_ns.update(how.late_ns.max(0).cast_unsigned());
            }
            self.rates.reordered(place.sent_ns, Some(&late));
        }
        self.push(place, Kind::Reordered, basis, Some(late));
        if self.keep_events
            && let Some(event) = self.events.last_mut()
        {
            event.bound = bound;
        }
    }

    /// A late arrival of which only the fact is known, not how far (no SACK).
    pub(crate) fn late_unmeasured(&mut self, place: Place, basis: Basis) {
        if basis.confidence == Confidence::Ambiguous {
            self.tally.late_perhaps(None);
        } else {
            self.tally.late_unmeasured();
            self.rates.reordered(place.sent_ns, None);
        }
        self.push(place, Kind::Reordered, basis, None);
    }

    /// An arrival that may have been late; nothing tells, so it is counted and no event made.
    pub(crate) fn late_perhaps(&mut self) {
        self.tally.late_perhaps(None);
    }

    /// An original never arrived; what was sent right behind it had the round trip `rtt_ns`, 0 if unknown.
    pub(crate) fn lost_before(&mut self, place: Place, basis: Basis, rtt_ns: i64) {
        let marked = self.marks.len();
        self.lost(place, basis);
        if let Some(mark) = self.marks.get_mut(marked) {
            mark.rtt_ns = rtt_ns;
        }
    }

    /// An original never arrived.
    pub fn lost(&mut self, place: Place, basis: Basis) {
        if basis.confidence == Confidence::Ambiguous {
            self.tally.ambiguous();
        } else {
            self.lost += 1;
        }
        self.push(place, Kind::Lost, basis, None);
    }

    /// An original arrived and the receiver discarded it; `late` where its place among the arrivals is
    /// known. It is not among those received, whose reordering is counted.
    pub fn refused(&mut self, place: Place, late: Option<Late>, basis: Basis) {
        if basis.confidence == Confidence::Ambiguous {
            self.tally.ambiguous();
        } else {
            self.refused += 1;
            self.outside += u64::from(basis.evidence == Evidence::Window);
            self.reneged += u64::from(basis.evidence == Evidence::Reneging);
        }
        self.push(place, Kind::Refused, basis, late);
    }

    /// One original was refused, and it is not known which: counted, without an event.
    pub(crate) fn refused_unnamed(&mut self) {
        self.refused += 1;
    }

    fn push(&mut self, place: Place, kind: Kind, basis: Basis, late: Option<Late>) {
        if basis.confidence != Confidence::Ambiguous && self.marks.len() < MAX_MARKS_REMEMBERED {
            self.marks.push(Mark {
                start: place.start,
                kind,
                rtt_ns: 0,
                sent_ns: place.sent_ns,
            });
        }
        if !self.keep_events {
            return;
        }
        self.events.push(Event {
            kind,
            confidence: basis.confidence,
            evidence: basis.evidence,
            reason: basis.reason,
            half: self.half,
            at_ns: place.at_ns,
            frame: place.frame,
            proof_frame: place.proof_frame,
            seq_offset: place.start.max(0) as u64,
            len: place.len,
            extent: late.map(|l| l.extent),
            extent_bytes: late.map(|l| l.bytes),
            late_ns: late.map(|l| l.late_ns),
            bound: Bound::About,
        });
    }

    /// In its turn or as late as others, something may have arrived after each of `unseen`, ascending, nanoseconds, that was not captured:
    /// extents across it are not certain.
    pub(crate) fn hide_arrivals(&mut self, unseen: &[i64]) {
        let latest_ns = self.events.iter().filter_map(|e| e.late_ns).max();
        let latest_ns = latest_ns.unwrap_or(0);
        let certain = |e: &&mut Event| e.confidence == Confidence::Certain;
        for event in self.events.iter_mut().filter(certain) {
            let Some(late_ns) = event.late_ns else {
                continue;
            };
            let from = event
                .at_ns
                .saturating_sub(late_ns.saturating_add(latest_ns));
            let first = unseen.partition_point(|&at| at < from);
            if unseen.get(first).is_some_and(|&at| at <= event.at_ns) {
                event.confidence = Confidence::Likely;
                event.bound = Bound::AtLeast;
                event.reason.get_or_insert(Reason::NotSeen);
            }
        }
    }

    /// Originals lost for sure.
    pub fn losses(&self) -> u64 {
        self.lost
    }

    /// Originals refused for sure.
    pub fn refusals(&self) -> u64 {
        self.refused
    }

    /// Of these, reported before they were discarded.
    pub(crate) fn reneged(&self) -> u64 {
        self.reneged
    }

    /// Of these, outside the receiver's window.
    pub(crate) fn outside_window(&self) -> u64 {
        self.outside
    }

    /// Originals found to be late, not counting ambiguous ones.
    pub(crate) fn reordered(&self) -> u64 {
        self.tally.counts().1
    }

    /// How many extents are bounds.
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What the causes of recoveries are found by: marks by offset, and the certain late packets.
    pub(crate) fn take_marks(&mut self) -> (Vec<Mark>, Certain) {
        let mut marks = std::mem::take(&mut self.marks);
        sort_nearly_sorted(&mut marks);
        let certain = self.certain.take();
        (marks, certain.map_or_else(|| self.all_late(), |some| *some))
    }

    /// How late all late packets are whose lateness was measured.
    fn all_late(&self) -> Certain {
        let (extents, late_ns) = self.tally.lateness();
        Certain {
            extents: extents.clone(),
            late_ns: late_ns.clone(),
        }
    }

    /// All that was collected.
    pub fn finish(mut self: Box<Self>) -> Collected {
        self.events.sort_by_key(|e| (e.at_ns, e.seq_offset));
        let by_rate = self.rates.finish();
        let reordering = self.tally.finish();
        let bursts = Bursts {
            count: reordering.bursts.count(),
            lengths: reordering.bursts.clone(),
        };
        Collected {
            reordering,
            bursts,
            by_rate,
            events: self.events,
        }
    }

    /// The summary, and what was lost before the capture point: what came by and was never acknowledged is not among it.
    pub(crate) fn finish_upstream(mut self: Box<Self>) -> (Reordering, Vec<Event>) {
        let told =
            |e: &Event| e.confidence != Confidence::Ambiguous && e.evidence != Evidence::Silence;
        let lost = |e: &Event| e.kind == Kind::Lost && told(e);
        self.events.retain(lost);
        (self.tally.finish(), self.events)
    }
}
/// Sorts marks of which each comes near its place, as late packets mostly do: each goes down past the few above it. Where that takes
/// long, they are sorted as any others.
fn sort_nearly_sorted(marks: &mut [Mark]) {
    const MAX_MOVES: usize = 16;
    let mut left = marks.len().saturating_mul(MAX_MOVES);
    for nth in 1..marks.len() {
        let (mark, mut at) = (marks[nth], nth);
        while at > 0 && marks[at - 1] > mark {
            marks[at] = marks[at - 1];
            at -= 1;
        }
        marks[at] = mark;
        match left.checked_sub(nth - at) {
            Some(rest) => left = rest,
            None => return marks.sort_unstable(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_are_sorted_however_they_come(
            starts in prop::collection::vec((0i64..400, 0i64..3), 0..80),
            near in any::<bool>(),
        ) {
            let mark = |(nth, (start, sent_ns)): (i64, (i64, i64))| Mark {
                start: if near { 9 * nth + start % 40 } else { start },
                kind: Kind::Reordered,
                rtt_ns: 0,
                sent_ns,
            };
            let mut marks: Vec<Mark> = (0..).zip(starts).map(mark).collect();
            let mut sorted = marks.clone();
            sorted.sort();
            sort_nearly_sorted(&mut marks);
            prop_assert_eq!(marks, sorted);
        }

        /// The straightforward twin keeps the certain ones apart from the first on.
        #[test]
        fn how_late_certain_ones_are_is_what_those_say(
            lates in prop::collection::vec((1u32..90, 0i64..5_000, 0u8..12), 0..40),
        ) {
            let mut collector = Collector::new(Half::EndToEnd, false);
            let mut twin = Certain::default();
            for (nth, (extent, late_ns, sure)) in (0..).zip(lates) {
                let certain = Basis::certain(Evidence::Sack);
                let basis = match sure {
                    0 => certain.weaker(Reason::LoneCopy),
                    1 => Basis::ambiguous(Evidence::Sack, Reason::LoneCopy),
                    _ => certain,
                };
                let late = Late { extent, late_ns, bytes: 1, opener_unsure: false, label: nth };
                collector.late(Place::default(), late, nth, basis);
                if basis.confidence == Confidence::Certain {
                    twin.extents.update(extent.into());
                    twin.late_ns.update(late_ns.cast_unsigned());
                }
            }
            let (_, certain) = collector.take_marks();
            prop_assert_eq!(certain.extents, twin.extents);
            prop_assert_eq!(certain.late_ns, twin.late_ns);
        }
    }
}
