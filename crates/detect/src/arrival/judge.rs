//! Data below the highest seen: an original, or a retransmission?

use inorder_wire::{Has, Segment};

use super::announced::told_of;
use super::{Arrival, Context, NEVER_NS, Note};
use crate::collect::Basis;
use crate::copies::{Above, Copy, Means, by_timing, tell};
use crate::explanation::Explanation;
use crate::result::{Confidence, Evidence, Reason};
use inorder_metrics::by_bytes::Hole;

impl Arrival {
    fn means(&self, hole: &Hole<Note>, cx: &Context) -> Means {
        // Without SACK the sender hears of a hole only when it is the left edge; the holes below
        // it were filled by whatever came last.
        let news_ns = if cx.sack || hole.start <= cx.una {
            hole.opened_ns
        } else {
            self.times.last_ns()
        };
        Means {
            marks: cx.marks,
            news_ns: news_ns.max(hole.opened_ns),
            overtaken_by: { self.early.often() }
                .then(|| self.order.arrivals().saturating_sub(hole.opened_at)),
            likelier_late: self.early.holes > 0 || self.kept_ids.hardly_suspected(),
            delays: self.early.just_before,
            only_losses: self.early.only_losses(self.order.arrivals()),
        }
    }

    /// What `seg`, which is `told` to be this, shows of the path and of its sender's identifications.
    fn learn(&mut self, seg: &Segment, told: Copy, (above, means): (&Above, &Means), cx: &Context) {
        let old = (seg.ip_id.wrapping_sub(above.ip_id) as i16) < 0;
        if means.is_early(seg) {
            self.early.holes += 1;
            self.early.just_before |= means.is_nearly_a_round_trip(seg);
        }
        let arrivals = self.order.arrivals();
        self.early.note(means.may_be_asked_for(seg), arrivals);
        let counts = cx.counts && seg.has(Has::IP_ID);
        let again = counts && means.perhaps_again(seg, above);
        self.kept_ids.note_part(seg, cx.mss);
        if !counts {
            return;
        }
        if again || means.perhaps_soon_again(seg, above) {
            self.kept_ids.suspect();
        }
        if !old && matches!(told, Copy::Retransmission(_)) {
            self.kept_ids.renewed();
        } else if again && (cx.marks.rtt_ns().is_some() || self.times.una_ns > NEVER_NS) {
            // Where no acknowledgement was captured either, as in one direction alone, nothing comes too late for an original.
            self.kept_ids
                .perhaps_again(seg.ts_ns, cx.marks.rtt_ns(), self.early.holes);
        }
    }

    pub(super) fn judge(
        &mut self,
        seg: &Segment,
        from: i64,
        hole: &Hole<Note>,
        cx: &Context,
    ) -> Copy {
        let means = self.means(hole, cx);
        let told = match self.was_open(hole) {
            true => by_timing(seg, &means),
            false if hole.note.announced => told_of(seg, &hole.note.above, cx),
            false => tell(seg, &hole.note.above, &means),
        };
        if !hole.note.announced {
            // Its receiver did not hear of it by the segment that told of it: times tell nothing of the path.
            self.learn(seg, told, (&hole.note.above, &means), cx);
        }
        let told = match told {
            Copy::Original(_) if from <= cx.una && self.resent_unasked(seg, hole, cx) => {
                Copy::Retransmission(Basis::ambiguous(
                    Evidence::ArrivalTimestamps,
                    Reason::CoarseClock,
                ))
            }
            Copy::Original(basis)
                if cx.marks.ip_id && self.tail.may_repeat(seg, hole.start, self.times.pause_ns) =>
            {
                Copy::Original(Basis::ambiguous(basis.evidence, Reason::LoneCopy))
            }
            Copy::Original(basis)
                if hole.note.refused.is_some()
                    && self.explanations.has(Explanation::RefusedOnce) =>
            {
                // The original of these bytes has come before, and was refused.
                Copy::Retransmission(Basis::ambiguous(basis.evidence, Reason::LoneCopy))
            }
            told => told,
        };
        let fill = hole.note.fill;
        let (Copy::Original(basis) | Copy::Retransmission(basis)) = told;
        let marked = basis.confidence == Confidence::Certain;
        if fill.copies > 0 {
            self.early.note(false, self.order.arrivals());
        }
        if fill.copies == 0 || !fill.unmarked || marked {
            return told;
        }
        // Two transmissions and no mark on either: the one that comes nearest to a round trip
        // after the hole was reported is the retransmission. The other is the original.
        let Some(usual) = cx.marks.rtt_ns() else {
            return told;
        };
        let (first, second) = (fill.at_ns - means.news_ns, seg.ts_ns - means.news_ns);
        let basis = Basis {
            evidence: Evidence::ArrivalTiming,
            confidence: Confidence::Likely,
            reason: Some(Reason::WhichCopy),
        };
        if (first - usual).abs() <= (second - usual).abs() {
            Copy::Original(basis)
        } else {
            Copy::Retransmission(basis)
        }
    }

    /// Nothing but equal timestamps speaks for an original at the left edge, and the sender may have sent it again
    /// without having heard of the hole: a partial acknowledgement makes it do so, and send new data in the same
    /// instant (RFC 6582 section 3.2, step 3).
    fn resent_unasked(&self, seg: &Segment, hole: &Hole<Note>, cx: &Context) -> bool {
        let no_counter = !cx.marks.ip_id || !seg.has(Has::IP_ID);
        let same_tick = cx.marks.timestamps && seg.tsval == hole.note.above.tsval;
        let first = hole.note.fill.copies == 0 && !cx.sack;
        if !(no_counter && same_tick && first) {
            return false;
        }
        // It left no sooner than what it follows was sent again, and the acknowledgement had time to
        // reach the sender.
        let no_older = (seg.tsval.wrapping_sub(self.resent.tsval) as i32) >= 0;
        let waited = seg.ts_ns.saturating_sub(self.times.una_ns);
        let heard = cx.marks.rtt_ns().is_none_or(|rtt| waited >= rtt / 2);
        let delay = cx.marks.rtt_ns().unwrap_or(i64::MAX / 4);
        no_older && heard && self.recoveries.under_way(seg.ts_ns, delay)
    }
}
