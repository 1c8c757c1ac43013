//! The end of a direction's arrivals: what became of the holes that are left.

use super::{Arrival, Context, Fill, Note};
use crate::collect::{Basis, Place};
use crate::engine_end::{EngineEnd, Replaced, Replacement};
use crate::result::{Confidence, Evidence, Reason, Retransmissions, Verdict};
use inorder_metrics::by_bytes::Hole;

/// What the holes that are left come to.
#[derive(Default)]
struct Account {
    /// Packets of which it is open whether they arrived.
    undecided: u64,
    /// Packets that arrived and that the capture lacks.
    missing: u64,
    replaced: Replaced,
    /// Packets below this byte have been counted.
    counted_to: i64,
    /// The frame and the end of a packet that was refused: retransmissions that are cut anew split it.
    one_refused: (u64, i64),
}

/// What all holes have in common at the end.
struct AtEnd {
    mss: i64,
    una: i64,
    ip_id: bool,
    /// The capture lacks something, which may have been an original that was refused.
    lacks: bool,
}

/// A hole as one of several that are parts of one.
struct Part<'a> {
    hole: &'a Hole<Note>,
    /// Packets may reach into it from the part before.
    follows: bool,
    /// It may be a part of a packet that is sent again in parts: one of these may be lost, and nothing tells it from an original.
    within: bool,
}

impl Arrival {
    /// The end: what was filled by a retransmission alone was lost. The receiver could be heard until `heard_ns`, if at all.
    pub(crate) fn finish(mut self, cx: &Context, heard_ns: Option<i64>) -> EngineEnd {
        self.book_run();
        let holes = self.order.holes().iter().map(|hole| taken(*hole, cx));
        let holes: Vec<Hole<Note>> = holes.collect();
        self.hide_what_never_came(&holes, cx.una, heard_ns.is_none());
        let account = self.settle_holes(&holes, cx);
        let retransmissions = self.settle_copies(&holes, cx, heard_ns);
        let (came, bytes) = self.collector.all_sent();
        EngineEnd {
            // Originals, lost ones included: the flow's, not the capture's.
            packets: came + account.replaced.packets,
            bytes: bytes + account.replaced.bytes,
            collector: self.collector,
            recoveries: self.recoveries.finish(),
            list: self.resent.list,
            retransmissions,
            undecided: account.undecided,
            // Every gap that is left lies below something that came.
            unfilled: account.undecided,
            missing: account.missing,
            forgot: self.order.forgotten_to() > i64::MIN,
            replaced: account.replaced,
        }
    }

    fn settle_holes(&mut self, holes: &[Hole<Note>], cx: &Context) -> Account {
        let lacking = |h: &Hole<Note>| h.note.fill.copies == 0 && h.end <= cx.una;
        let at_end = AtEnd {
            mss: i64::from(cx.mss.max(1)),
            una: cx.una,
            ip_id: cx.marks.ip_id,
            lacks: holes.iter().any(|h| h.note.fill.known || lacking(h)),
        };
        let mut account = Account {
            counted_to: i64::MIN,
            one_refused: (0, i64::MIN),
            ..Account::default()
        };
        let (cuts, mss) = (self.kept_ids.cuts(), at_end.mss);
        for parts in holes.chunk_by(are_parts) {
            let full = are_of_full_packets(parts, mss);
            let within = cuts && (parts[parts.len() - 1].end - parts[0].start) % mss != 0;
            for (at, hole) in parts.iter().enumerate() {
                let follows = full && at > 0;
                let part = Part {
                    hole,
                    follows,
                    within,
                };
                self.settle_hole(&part, &at_end, &mut account);
            }
        }
        account
    }

    fn settle_hole(&mut self, part: &Part, at_end: &AtEnd, account: &mut Account) {
        let hole = part.hole;
        let fill = hole.note.fill;
        let packets = ((hole.end - hole.start) as u64).div_ceil(at_end.mss as u64);
        match (hole.note.refused, fill.copies) {
            _ if fill.known => {
                self.recoveries
                    .resolve(fill.phase, Verdict::Spurious, fill.copies);
                account.missing += packets;
            }
            (Some(refused), 1..) => {
                self.recoveries
                    .resolve(fill.phase, Verdict::Needed, fill.copies);
                if !refused.is_of(account.one_refused, hole.start) {
                    self.refused(hole, &refused);
                    account.one_refused = (refused.frame, hole.start + at_end.mss);
                }
            }
            (None, 1..) => self.settle_lost(part, at_end, account),
            _ if hole.end <= at_end.una => account.missing += packets,
            _ => account.undecided += packets,
        }
    }

    /// What only retransmissions filled was lost.
    fn settle_lost(&mut self, part: &Part, at_end: &AtEnd, account: &mut Account) {
        let &Part { hole, within, .. } = part;
        let from = match part.follows {
            true => account.counted_to.max(hole.start),
            false => hole.start,
        };
        let basis = match self.how_sure_lost(hole, at_end.ip_id, at_end.lacks) {
            basis if within => Basis::ambiguous(basis.evidence, Reason::LoneCopy),
            basis => basis,
        };
        let told = basis.confidence != Confidence::Ambiguous;
        account.counted_to = self.lost(hole, (from, at_end.mss), basis);
        let replaced = &mut account.replaced;
        // What may have left before the capture began was counted when it came.
        if !self.was_open(hole) {
            let uncounted = (hole.end - from).max(0) as u64;
            let packets = uncounted.div_ceil(at_end.mss as u64);
            replaced.packets += packets;
            replaced.bytes += (hole.end - hole.start) as u64;
            replaced.lost += u64::from(told) * packets;
        }
        if self.receiver.is_none() && told {
            let fill = hole.note.fill;
            replaced.by.push(Replacement {
                number: fill.number,
                frame: fill.frame,
                start: hole.start,
                at_ns: fill.at_ns,
                confidence: basis.confidence,
            });
        }
    }

    /// Which retransmissions were needed.
    fn settle_copies(
        &mut self,
        holes: &[Hole<Note>],
        cx: &Context,
        heard_ns: Option<i64>,
    ) -> Retransmissions {
        let needed = fills(holes, |fill| !fill.known && !fill.doubted);
        let open = fills(holes, |fill| fill.doubted && !fill.known);
        // Of what nothing acknowledged, no copy is known to have been one too many.
        let unknown = { holes.iter() }.filter(|h| h.end > cx.una && !h.note.fill.known);
        let unknown = unknown.map(|h| h.note.fill.copies + h.note.refused_copy.copies);
        let unknown = unknown.map(|copies| u64::from(copies.saturating_sub(1)));
        let unknown: u64 = unknown.sum();
        self.settle_list(&needed, &open, cx.una, heard_ns.is_some());
        let (unanswered, undecided_copies) = self.settle_unanswered(cx, heard_ns);
        let needed = needed.len() as u64 + unanswered;
        let open = open.len() as u64 + undecided_copies + unknown;
        let (total, unclear) = (self.resent.total, self.resent.unclear);
        let spurious = total.saturating_sub(needed + open + unclear);
        Retransmissions::split(total, needed, spurious)
    }

    /// What the receiver has although nothing brought it, and in silence what it may have, has arrived at a time that is not known.
    fn hide_what_never_came(&mut self, holes: &[Hole<Note>], una: i64, silent: bool) {
        let never_came = |h: &&Hole<Note>| h.note.fill.copies == 0 && (silent || h.end <= una);
        let mut since: Vec<i64> = { holes.iter() }
            .filter(never_came)
            .map(|h| h.opened_ns)
            .collect();
        since.sort_unstable();
        self.collector.hide_arrivals(&since);
    }

    /// What lay in `hole`, which only retransmissions filled, was lost: as sure as this.
    fn how_sure_lost(&self, hole: &Hole<Note>, ip_id: bool, lacks: bool) -> Basis {
        let fill = hole.note.fill;
        // What was refused may have been the original.
        let basis = if fill.ambiguous || hole.note.refused_copy.ambiguous {
            Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy)
        } else if fill.doubted || self.began_with(hole) {
            Basis::ambiguous(Evidence::ArrivalTimestamps, Reason::NotSeen)
        } else if ip_id {
            Basis::certain(Evidence::ArrivalIpId)
        } else {
            Basis::certain(Evidence::ArrivalTimestamps)
        };
        if fill.unmarked {
            basis.weaker(Reason::LoneCopy)
        } else if lacks {
            basis.weaker(Reason::NotSeen)
        } else {
            basis
        }
    }

    /// The packets of `hole` from the byte `from` on, of `mss` bytes each, were lost. Where the last of them ends.
    fn lost(&mut self, hole: &Hole<Note>, (mut from, mss): (i64, i64), basis: Basis) -> i64 {
        let fill = hole.note.fill;
        for fill in [fill, hole.note.refused_copy] {
            self.recoveries
                .resolve(fill.phase, Verdict::Needed, fill.copies);
        }
        while from < hole.end {
            let to = from + mss;
            let len = (hole.end.min(to) - from) as u32;
            let place = Place::lost(from, len, fill.frame, fill.at_ns);
            self.collector.lost(place, basis);
            from = to;
        }
        from
    }

    fn settle_list(&mut self, needed: &[u64], open: &[u64], una: i64, heard: bool) {
        let una = una.max(0) as u64;
        let asked_for = (Verdict::Spurious, Confidence::Likely);
        for (r, number) in self.resent.list.iter_mut().zip(1..) {
            // Without acknowledgements, only copies of what came late are known (`both_came`), and no more than likely.
            let settled = !heard && (r.verdict, r.confidence) == asked_for;
            r.verdict = if needed.binary_search(&number).is_ok() {
                Verdict::Needed
            } else if open.binary_search(&number).is_ok() || r.seq_offset >= una && !settled {
                Verdict::Ambiguous
            } else {
                Verdict::Spurious
            };
        }
    }
}

/// Two neighbours are parts of one hole: retransmissions that are cut anew split it.
fn are_parts(one: &Hole<Note>, next: &Hole<Note>) -> bool {
    one.end == next.start && one.opened_at == next.opened_at
}

/// A packet that lies in several parts of a hole counts once: are these the parts of full packets, of `mss` bytes each? They are if
/// all together are as long as some full packets, or if a part ends wherever one of those would.
fn are_of_full_packets(parts: &[Hole<Note>], mss: i64) -> bool {
    let ([first, ..], [.., last]) = (parts, parts) else {
        return false;
    };
    let length = last.end - first.start;
    let ends_with = |end: &i64| parts.binary_search_by_key(end, |part| part.end).is_ok();
    let mut ends = (1..=length / mss).map(|nth| first.start + nth * mss);
    length % mss == 0 || length > mss && ends.all(|end| ends_with(&end))
}

/// The hole with what filled it: the receiver has acknowledged bytes of which nothing came but what it should have
/// discarded.
fn taken(mut hole: Hole<Note>, cx: &Context) -> Hole<Note> {
    if hole.note.fill.copies == 0 && hole.end <= cx.una {
        hole.note.fill = std::mem::take(&mut hole.note.refused_copy);
    }
    // An acknowledgement that was captured too early may be the answer to what filled it.
    hole.note.fill.known &= !cx.disorder;
    hole
}

/// The retransmissions, ascending, that were the first to fill a hole, or part of one, that the original never came to:
/// those that were needed, and those of which that is open. All others were not.
fn fills(holes: &[Hole<Note>], which: impl Fn(&Fill) -> bool) -> Vec<u64> {
    let filled = holes.iter().map(|hole| hole.note);
    let filled = filled.filter(|n| n.fill.copies > 0 && which(&n.fill));
    // One that was refused before was needed, too.
    let both = filled.flat_map(|n| [n.fill, n.refused_copy]);
    let first = both.filter(|fill| fill.copies > 0);
    let mut numbers: Vec<u64> = first.map(|fill| fill.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use inorder_wire::Has;

    use super::*;
    use crate::explanation::Explanations;
    use crate::result::Half;

    const MS: i64 = 1_000_000;
    const LEN: u32 = 1_000;

    /// The first packet comes, then one behind 100 packets and `rest` bytes, and then these are sent again in pieces of 300 bytes, none of which
    /// reaches into the next packet: how many packets there were, and how many are known to have been lost.
    fn sent_again_in_pieces(rest: u32) -> (u64, u64) {
        let lost = 100 * LEN + rest;
        let first = (0, 0, LEN);
        let behind = (1, LEN + lost, LEN);
        let within = |packet: u32| {
            let to = (packet + LEN).min(LEN + lost);
            let pieces = (packet..to).step_by(300);
            pieces.map(move |from| (50, from, 300.min(to - from)))
        };
        let again = (LEN..LEN + lost).step_by(LEN as usize).flat_map(within);
        let mut arrival = Arrival::new(Half::EndToEnd, false, true, Explanations::default());
        let una = i64::from(2 * LEN + lost);
        let cx = Context::beside_receiver().stamped();
        let all = [first, behind].into_iter().chain(again);
        for ((at_ms, start, len), frame) in all.zip(1..) {
            let seg = segment!(
                ts_ns: at_ms * MS + frame, seq: start, payload_len: len, tsval: at_ms as u32,
                has: Has::TIMESTAMPS, frame: frame as u64
            );
            arrival.data(&seg, start.into(), &cx, |_, _, _| {});
        }
        let end = arrival.finish(&Context { una, ..cx }, Some(200 * MS));
        (end.packets, end.collector.losses())
    }

    #[test]
    fn what_is_sent_again_in_pieces_was_lost_in_packets() {
        assert_eq!(sent_again_in_pieces(0), (102, 100));
        // Where not all was full, any piece may be of a packet that came but for it.
        assert_eq!(sent_again_in_pieces(500), (103, 0));
    }

    /// Packets of 1,000 bytes are sent again in parts of 600 and 400. First a hole of two of them is filled; then what follows comes in parts as
    /// well, without one, which comes last.
    #[test]
    fn a_part_of_a_packet_is_not_known_to_have_been_lost_as_a_packet() {
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, Explanations::default());
        let cx = Context::beside_receiver().stamped();
        let came = [
            (0, 0, 1_000),
            (1, 3_000, 1_000),
            (50, 1_000, 600),
            (50, 1_600, 400),
            (50, 2_000, 600),
            (50, 2_600, 400),
            (90, 4_000, 600),
            (90, 5_000, 600),
            (140, 4_600, 400),
        ];
        for ((at_ms, start, len), frame) in came.into_iter().zip(1..) {
            let seg = segment!(
                ts_ns: at_ms * MS + frame, seq: start, payload_len: len, tsval: at_ms as u32,
                has: Has::TIMESTAMPS, frame: frame as u64
            );
            arrival.data(&seg, start.into(), &cx, |_, _, _| {});
        }
        let end = arrival.finish(&Context { una: 5_600, ..cx }, Some(400 * MS));
        let events = end.collector.finish().events;
        let told: Vec<_> = events
            .iter()
            .map(|e| (e.seq_offset, e.confidence))
            .collect();
        let (sure, open) = (Confidence::Certain, Confidence::Ambiguous);
        assert_eq!(told, [(1_000, sure), (2_000, sure), (4_600, open)]);
    }
}
