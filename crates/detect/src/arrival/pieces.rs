//! What a piece of data is, as it comes by: new, late, or again.

use inorder_metrics::by_bytes::{Arrived, Hole, Late};
use inorder_wire::Segment;

use super::again::Fill;
use super::begun::FromBefore;
use super::unanswered::Waiting;
use super::{Arrival, Context, Note, Piece, Repeat};
use crate::collect::{Basis, Place};
use crate::copies::{Above, Copy, MAX_USUAL_TICK_NS};
use crate::explanation::Explanation;
use crate::result::{Confidence, Evidence, Reason, Verdict};

impl Arrival {
    pub(super) fn general(
        &mut self,
        seg: &Segment,
        start: i64,
        cx: &Context,
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let end = start + i64::from(seg.payload_len);
        let next = self.order.next();
        if end <= next {
            if !cx.syn_seen && start < self.before.first {
                match self.sent_before(start, end, cx.una) {
                    FromBefore::Nothing => return,
                    FromBefore::Lacked => {}
                    FromBefore::Repeated => return self.repeated_from_before(seg, start, cx, sink),
                }
            }
            let hole = self.order.holes().beyond(start);
            let sent_before = hole.is_some_and(|hole| hole.note.announced && hole.start < end);
            if seg.payload_len <= 1 && end == next && end <= cx.una + 1 && !sent_before {
                return; // A keep-alive (RFC 9293 section 3.8.4), not data.
            }
        }
        let doubt = self.offer(seg, start, cx);
        let mut from = start;
        while from < end {
            let to = end.min(from + i64::from(cx.mss.max(1)));
            // A piece that begins in old data and reaches beyond is old up to the border.
            let to = if from < next && to > next { next } else { to };
            let len = (to - from) as u32;
            if let (Some(evidence), true) = (doubt, from >= self.order.next()) {
                self.suspect_new(seg, from, len, evidence);
                sink(Piece::New, from, len);
            } else if from >= self.order.next() {
                self.new_data(seg, from, len, sink);
            } else {
                self.old_data(seg, from, len, (cx, doubt), sink);
            }
            from = to;
        }
    }

    /// Next to its sender: what was sent first before the capture began is sent again.
    fn repeated_from_before(
        &mut self,
        seg: &Segment,
        start: i64,
        cx: &Context,
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let end = start + i64::from(seg.payload_len);
        let repeat = Repeat {
            sure: Confidence::Certain,
            ahead: None,
        };
        let mut from = start;
        while from < end {
            let to = end.min(from + i64::from(cx.mss.max(1)));
            sink(Piece::Again(repeat), from, (to - from) as u32);
            from = to;
        }
    }

    fn new_data(
        &mut self,
        seg: &Segment,
        from: i64,
        len: u32,
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let note = Note {
            above: Above::of(seg),
            ..Note::default()
        };
        self.collector.sent(seg.ts_ns, len);
        self.note_old(seg, from, len);
        if let Arrived::InOrder(label) = self.order.arrive(from, len, seg.ts_ns, false, note) {
            self.collector.in_order(label);
        }
        sink(Piece::New, from, len);
    }

    fn old_data(
        &mut self,
        seg: &Segment,
        from: i64,
        len: u32,
        (cx, doubt): (&Context, Option<Evidence>),
        sink: &mut impl FnMut(Piece, i64, u32),
    ) {
        let to = from + i64::from(len);
        let hole = self.order.holes().beyond(from);
        let Some(hole) = hole.filter(|h| h.start < to) else {
            let repeat = Repeat {
                sure: sure_to_be_later(cx),
                ahead: self.came_after_its_copy(seg, (from, to), cx),
            };
            if repeat.ahead.is_none() {
                self.repeats(seg, (from, len), cx);
            }
            sink(Piece::Again(repeat), from, len);
            return;
        };
        let copy = self.judge(seg, from, &hole, cx);
        let (Copy::Original(basis) | Copy::Retransmission(basis)) = copy;
        if basis.confidence == Confidence::Ambiguous {
            let reason = basis.reason.unwrap_or(Reason::LoneCopy);
            self.doubt_from(self.order.arrivals(), reason);
        }
        match copy {
            Copy::Original(basis) => {
                let basis = match self.doubtful {
                    Some((at, reason)) if at >= hole.opened_at => basis.weaker(reason),
                    _ => basis,
                };
                match doubt {
                    Some(evidence) if hole.note.fill.copies == 0 => {
                        let part = (from.max(hole.start), to.min(hole.end));
                        self.suspect(seg, &hole, part, (basis, evidence));
                    }
                    _ => self.late_original(seg, &hole, from, len, basis),
                }
                sink(Piece::Late(basis), from, len);
            }
            Copy::Retransmission(basis) => {
                let told = (Verdict::Ambiguous, basis.confidence);
                let phase = self.count_copy(seg, (from, len), told, cx);
                let was_open = self.was_open(&hole);
                let at_receiver = self.receiver.is_some();
                let fill = Fill {
                    copies: 1,
                    number: self.resent.total,
                    phase,
                    mark: self.mark(seg, cx),
                    at_ns: seg.ts_ns,
                    frame: seg.frame,
                    position: self.order.arrivals(),
                    ambiguous: basis.confidence == Confidence::Ambiguous,
                    unmarked: basis.confidence != Confidence::Certain,
                    known: at_receiver && to <= cx.una && self.times.una_ns < seg.ts_ns,
                    // It may be an original that left before the capture began, and counts as a packet of the flow.
                    doubted: was_open,
                };
                if was_open {
                    self.collector.sent(seg.ts_ns, len);
                }
                if doubt.is_some() && at_receiver {
                    self.suspect_copy(from, to, fill);
                } else {
                    self.confirm(from, to);
                    self.order.annotate(from, to, |note| note.fill.add(fill));
                }
                let repeat = Repeat {
                    sure: basis.confidence,
                    ahead: None,
                };
                sink(Piece::Again(repeat), from, len);
            }
        }
    }

    /// What came by before, and was not late, comes again by `seg`.
    fn repeats(&mut self, seg: &Segment, (from, len): (i64, u32), cx: &Context) {
        if cx.counts && cx.newest {
            self.kept_ids.renewed();
        }
        self.early.note(false, self.order.arrivals());
        let sure = sure_to_be_later(cx);
        if (cx.una..self.order.forgotten_to()).contains(&from) {
            let told = (Verdict::Ambiguous, Confidence::Ambiguous);
            self.count_copy(seg, (from, len), told, cx);
            self.resent.unclear += 1;
        } else if from < cx.una {
            // The receiver has it: whatever this is, it was not needed.
            self.count_copy(seg, (from, len), (Verdict::Spurious, sure), cx);
        } else {
            // So soon behind what it repeats, a copy without any mark may be the network's.
            let sure = match cx.marks.ip_id || cx.marks.timestamps {
                true => sure,
                false => Confidence::Ambiguous,
            };
            let told = (Verdict::Ambiguous, sure);
            let phase = self.count_copy(seg, (from, len), told, cx);
            self.await_answer(Waiting {
                from,
                len,
                number: self.resent.total,
                phase,
                at_ns: seg.ts_ns,
                frame: seg.frame,
                late: self.is_unheard()
                    && self.explanations.has(Explanation::AskedFor)
                    && self.collector.was_just_late(from),
            });
        }
    }

    fn late_original(
        &mut self,
        seg: &Segment,
        hole: &Hole<Note>,
        from: i64,
        len: u32,
        basis: Basis,
    ) {
        let fill = hole.note.fill;
        let basis = if seg.ts_ns < hole.opened_ns {
            // By its time it came before what it is behind in the file.
            Basis::ambiguous(basis.evidence, Reason::NotSeen)
        } else if self.began_with(hole) {
            // What opened the hole may be older than the capture. Identifications say that this was sent before what
            // overtook it, whenever that was.
            match basis.evidence {
                Evidence::ArrivalIpId => basis.weaker(Reason::NotSeen),
                _ => Basis::ambiguous(basis.evidence, Reason::NotSeen),
            }
        } else {
            basis
        };
        self.collector.sent(seg.ts_ns, len);
        let arrived = self
            .order
            .arrive(from, len, seg.ts_ns, false, Note::default());
        match arrived {
            Arrived::Late(late) if late.extent > 0 => {
                self.record_late(seg, from, len, &late, basis);
            }
            // Nothing sent later had arrived: in order, but after its retransmission.
            Arrived::Late(late) => self.collector.in_order(late.label),
            _ => return,
        }
        // A retransmission cut differently may have split the hole: all of it is filled now.
        let mut fills = vec![fill];
        self.order.clear(from, from + i64::from(len), |note| {
            fills.extend([note.fill, note.refused_copy]);
        });
        let (verdict, sure) = self.both_came();
        for fill in fills.iter().filter(|f| f.copies > 0) {
            self.recoveries.resolve(fill.phase, verdict, fill.copies);
            if verdict == Verdict::Ambiguous {
                self.resent.unclear += u64::from(fill.copies);
            }
        }
        if fills.iter().any(|f| f.copies > 0) {
            let sure = basis.confidence.max(sure);
            self.resent.settle_copies(from, len, (verdict, sure));
        }
    }

    pub(super) fn record_late(
        &mut self,
        seg: &Segment,
        from: i64,
        len: u32,
        late: &Late,
        basis: Basis,
    ) {
        let place = Place::captured(from, len, seg.frame, seg.ts_ns);
        self.collector.late(place, *late, late.label, basis);
    }
}

/// How sure it is that what repeats data was sent after what brought that first. Where nothing marks it, what came first may have been the
/// retransmission; an identification tells if it is the highest, and a timestamp if its clock ticks before a retransmission comes.
fn sure_to_be_later(cx: &Context) -> Confidence {
    let ticks = |rtt| rtt >= cx.marks.tick_ns.max(MAX_USUAL_TICK_NS);
    let stamped = cx.marks.timestamps && cx.marks.rtt_ns().is_none_or(ticks);
    match if cx.marks.ip_id { cx.newest } else { stamped } {
        true => Confidence::Certain,
        false => Confidence::Likely,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_may_be_the_retransmission_where_no_mark_says_otherwise() {
        let counted = |newest| Context {
            newest,
            ..Context::default().numbered(true)
        };
        let stamped = |rtt_ns| Context::default().stamped().away(rtt_ns);
        let (certain, likely) = (Confidence::Certain, Confidence::Likely);
        for (cx, sure) in [
            (counted(true), certain),
            (counted(false), likely),
            (stamped(20_000_000), certain),
            // Within a tick of the clock.
            (stamped(300_000), likely),
            (Context::default(), likely),
        ] {
            assert_eq!(sure_to_be_later(&cx), sure, "{cx:?}");
        }
    }
}
