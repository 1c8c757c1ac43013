//! Originals that arrive beside their receiver and that it discards.

use inorder_wire::Segment;

use super::{Arrival, Context, Fill, Note};
use crate::collect::{Basis, Place};
use crate::copies::Above;
use crate::result::{Evidence, Reason};
use inorder_metrics::by_bytes::{Hole, Late};

/// Suspects at once; beyond, one is taken for refused without waiting for what the receiver says.
const MAX_SUSPECTED_HOLES: usize = 256;

/// Ranges that fit beside timestamps, those that changed last (RFC 2018 sections 3 and 4).
const MAX_BESIDE_TIMESTAMPS: usize = 3;

/// Holes that are looked at for each acknowledgement, at most.
const MAX_HOLES_COUNTED: usize = 64;

/// An original in a hole that its receiver should have discarded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refused {
    at_ns: i64,
    pub(super) frame: u64,
    late: Option<Late>,
    /// Packet number, by estimate.
    label: u64,
    /// How it is known to be an original.
    basis: Basis,
    /// What the receiver holds against it.
    evidence: Evidence,
}

/// A hole in which something lies that its receiver should have discarded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    from: i64,
    to: i64,
    /// The receiver has said since that it lacks it.
    denied: bool,
}

impl Arrival {
    /// Data reaches the receiver beside this capture point: what speaks against its being taken.
    ///
    /// Only a retransmission can make the timestamps of originals too old, those above it included
    /// that are still under way. So in-order data need be looked at only from then until one comes that
    /// was sent after it.
    pub(super) fn offer(&mut self, seg: &Segment, start: i64, cx: &Context) -> Option<Evidence> {
        let old = start < self.order.next();
        let outside = start >= self.edge;
        let receiver = self.receiver.as_mut()?;
        if !old && !self.watchful && !outside {
            return None;
        }
        let ack = seg.seq.wrapping_add((cx.una - start) as u32);
        receiver.acknowledged(ack);
        let doubt = match outside {
            true => Some(Evidence::Window),
            false => receiver.arrives(seg),
        };
        self.watchful = old || doubt == Some(Evidence::Paws);
        doubt
    }

    /// New data that the receiver has probably discarded, by `evidence`: a hole as long as the data is noted, as if it had not come.
    pub(super) fn suspect_new(&mut self, seg: &Segment, from: i64, len: u32, evidence: Evidence) {
        let to = from + i64::from(len);
        self.collector.sent(seg.ts_ns, len);
        let note = Note {
            above: Above::of(seg),
            ..Note::default()
        };
        self.order.skip_to(to, seg.ts_ns, note);
        if let Some(hole) = self.order.holes().last() {
            let basis = Basis::certain(evidence);
            self.note_refused(seg, &hole, (from, to), (basis, evidence));
        }
    }

    /// An original that should be discarded: the hole stays, and so does the suspicion until the
    /// receiver's acknowledgements speak.
    pub(super) fn suspect(
        &mut self,
        seg: &Segment,
        hole: &Hole<Note>,
        (from, to): (i64, i64),
        (basis, evidence): (Basis, Evidence),
    ) {
        self.collector.sent(seg.ts_ns, (to - from) as u32);
        self.note_refused(seg, hole, (from, to), (basis, evidence));
    }

    fn note_refused(
        &mut self,
        seg: &Segment,
        hole: &Hole<Note>,
        (from, to): (i64, i64),
        (basis, evidence): (Basis, Evidence),
    ) {
        let late = self.order.pass(hole, from, (to - from) as u32, seg.ts_ns);
        let refused = Refused {
            at_ns: seg.ts_ns,
            frame: seg.frame,
            late: Some(late).filter(|late| late.extent > 0),
            label: late.label,
            basis,
            evidence,
        };
        self.order
            .annotate(from, to, |note| note.refused = Some(refused));
        if self.suspects.len() < MAX_SUSPECTED_HOLES {
            self.suspects.push(Suspect::new(from, to));
        }
    }

    /// A retransmission that should be discarded: it fills nothing, unless the receiver's acknowledgements say so.
    pub(super) fn suspect_copy(&mut self, from: i64, to: i64, copy: Fill) {
        self.confirm(from, to);
        let watched = self.suspects.len() < MAX_SUSPECTED_HOLES;
        self.order.annotate(from, to, |note| {
            let kept = if watched {
                &mut note.refused_copy
            } else {
                &mut note.fill
            };
            kept.add(copy);
        });
        if watched {
            self.suspects.push(Suspect::new(from, to));
        }
    }

    /// Another copy of `[from, to)` comes: from here on an acknowledgement may be for that one. What came before was refused if the
    /// receiver has said since that it lacks it.
    pub(super) fn confirm(&mut self, from: i64, to: i64) {
        let meets = |suspect: &mut Suspect| suspect.from < to && from < suspect.to;
        for suspect in self.suspects.extract_if(.., meets) {
            if !suspect.denied {
                self.order.annotate(suspect.from, suspect.to, |note| {
                    // That it takes nothing beyond its window the receiver has said before.
                    let open = note.refused.filter(|r| r.evidence != Evidence::Window);
                    note.refused = open.map(Refused::unanswered).or(note.refused);
                });
            }
        }
    }

    /// True while acknowledgements may show that something was taken after all.
    #[inline]
    pub(crate) fn suspects_refusal(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// The receiver acknowledges everything below `ack`, and has `listed` ranges above; `sacked` says of a range whether it shares bytes with one.
    /// That it lacks something it says at its left edge, or by ranges none of which names it: by as many as there are holes, or as fit. Fewer leave
    /// some out.
    pub(crate) fn answered(&mut self, ack: i64, listed: usize, sacked: impl Fn(i64, i64) -> bool) {
        let mut accepted = Vec::new();
        let all = listed > 0 && listed >= self.ranges_above(ack).min(MAX_BESIDE_TIMESTAMPS);
        self.suspects.retain_mut(|suspect| {
            let held = suspect.from < ack || sacked(suspect.from, suspect.to);
            if held {
                accepted.push((suspect.from, suspect.to));
            }
            suspect.denied |= all || suspect.from == ack;
            !held
        });
        for (from, to) in accepted {
            self.taken_after_all(from, to);
        }
    }

    /// How many ranges the receiver has above `ack`, as far as the highest holes tell: one above each in which nothing came.
    fn ranges_above(&self, ack: i64) -> usize {
        let open = |hole: &&Hole<Note>| hole.end > ack && hole.note.fill.copies == 0;
        let highest = self.order.holes().iter().rev().take(MAX_HOLES_COUNTED);
        let mut above = i64::MAX;
        let open = highest.filter(open);
        open.filter(|hole| std::mem::replace(&mut above, hole.start) != hole.end)
            .count()
    }

    /// The receiver reports `[from, to)` as a duplicate. If all that was captured of it is one retransmission, the
    /// capture lacks what came before.
    pub(crate) fn reported_twice(&mut self, from: i64, to: i64) {
        self.order.annotate(from, to, |note| {
            note.fill.doubted |= note.fill.copies == 1;
        });
    }

    fn taken_after_all(&mut self, from: i64, to: i64) {
        let mut by_copy = false;
        self.order.annotate(from, to, |note| {
            if note.refused_copy.copies > 0 {
                note.fill.add(std::mem::take(&mut note.refused_copy));
                by_copy = true;
            }
        });
        if by_copy {
            return;
        }
        let mut refused = None;
        self.order
            .clear(from, to, |note| refused = refused.or(note.refused));
        let Some(refused) = refused else { return };
        let place = refused.place(from, to);
        let basis = refused.basis;
        match refused.late {
            Some(late) => self.collector.late(place, late, late.label, basis),
            None => self.collector.in_order(refused.label),
        }
    }

    /// At the end: the hole was filled by a retransmission although its original had come.
    pub(super) fn refused(&mut self, hole: &Hole<Note>, refused: &Refused) {
        let place = refused.place(hole.start, hole.end);
        let basis = Basis {
            evidence: refused.evidence,
            ..refused.basis
        };
        self.collector.refused(place, refused.late, basis);
    }
}

impl Suspect {
    fn new(from: i64, to: i64) -> Self {
        Suspect {
            from,
            to,
            denied: false,
        }
    }
}

impl Refused {
    /// The same where nothing shows that the receiver did not take it.
    fn unanswered(self) -> Self {
        Refused {
            basis: Basis::ambiguous(self.basis.evidence, Reason::WhichCopy),
            ..self
        }
    }

    /// What it says at `start` is of the packet in `frame` that ends at the byte `end`.
    pub(super) fn is_of(&self, (frame, end): (u64, i64), start: i64) -> bool {
        self.frame == frame && start < end
    }

    fn place(&self, from: i64, to: i64) -> Place {
        Place::captured(from, (to - from) as u32, self.frame, self.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::{Explanation, Explanations};
    use crate::result::{Confidence, Half, Kind, Verdict};
    use inorder_wire::Has;

    const MS: i64 = 1_000_000;
    const LEN: u32 = 1_000;

    fn receiver() -> Context {
        Context::beside_receiver().stamped()
    }

    /// Segments of 1,000 bytes as a receiver gets them: time (ms), which, timestamp; it has the first of them.
    fn arrive(arrival: &mut Arrival, cx: &Context, arrivals: &[(i64, u32, u32)]) {
        for (&(at_ms, i, tsval), frame) in arrivals.iter().zip(1..) {
            let seg = segment!(
                ts_ns: at_ms * MS, seq: i * LEN, payload_len: LEN, tsval, has: Has::TIMESTAMPS,
                frame
            );
            let una = if i > 0 { i64::from(LEN) } else { 0 };
            arrival.data(
                &seg,
                i64::from(i * LEN),
                &Context { una, ..*cx },
                |_, _, _| {},
            );
        }
    }

    /// The retransmission of 1 makes the timestamp of 3 too old, which comes twice. How many retransmissions there were.
    fn told(without: Option<Explanation>) -> Vec<Verdict> {
        let all = Explanations::default();
        let weighed = without.map_or(all, |off| all.without(off));
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, weighed);
        let cx = receiver();
        let arrivals = [
            (0, 0, 5),
            (1, 2, 7),
            (2, 4, 9),
            (40, 1, 30),
            (50, 3, 8),
            (51, 3, 8),
        ];
        arrive(&mut arrival, &cx, &arrivals);
        let end = arrival.finish(&cx, None);
        end.list.iter().map(|r| r.verdict).collect()
    }

    /// Segments 3 and 5 are missing when the receiver, whose acknowledgement has `listed` blocks, does not name 5, which came too late. How sure
    /// it is that this was refused, once another copy has come.
    fn not_named(listed: usize) -> Option<Confidence> {
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, Explanations::default());
        let cx = receiver();
        let arrivals = [
            (0, 0, 5),
            (1, 2, 7),
            (2, 4, 9),
            (3, 6, 11),
            (40, 1, 30),
            (50, 5, 10),
        ];
        arrive(&mut arrival, &cx, &arrivals);
        arrival.answered(i64::from(3 * LEN), listed, |_, _| false);
        arrive(&mut arrival, &cx, &[(70, 5, 60)]);
        let events = arrival.finish(&cx, None).collector.finish().events;
        let refused = events.iter().find(|event| event.kind == Kind::Refused);
        refused.map(|event| event.confidence)
    }

    #[test]
    fn a_list_that_leaves_ranges_out_denies_nothing() {
        assert_eq!(not_named(2), Some(Confidence::Certain));
        assert_eq!(not_named(1), Some(Confidence::Ambiguous));
    }

    #[test]
    fn an_original_that_was_refused_does_not_come_again() {
        assert_eq!(told(None).len(), 2);
        assert_eq!(told(Some(Explanation::RefusedOnce)).len(), 1);
    }
}
