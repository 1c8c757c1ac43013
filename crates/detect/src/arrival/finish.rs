//! The end of a direction's arrivals: what became of the holes that are left.

use super::{Arrival, ArrivalEnd, Context, Note};
use crate::collect::{Basis, Place};
use crate::order::Hole;
use crate::result::{Evidence, Reason, Verdict};

impl Arrival {
    /// The end: what was filled by a retransmission alone was lost.
    pub(crate) fn finish(mut self, cx: &Context) -> ArrivalEnd {
        self.book_run();
        let holes: Vec<Hole<Note>> = self.order.holes().iter().copied().collect();
        let (mut undecided, mut missing) = (0, 0);
        let mss = i64::from(cx.mss.max(1));
        for hole in &holes {
            let packets = ((hole.end - hole.start) as u64).div_ceil(mss as u64);
            if let (Some(refused), 1..) = (hole.note.refused, hole.note.fill.copies) {
                let fill = hole.note.fill;
                self.recoveries
                    .resolve(fill.phase, Verdict::Needed, fill.copies);
                self.refused(hole, &refused);
            } else if hole.note.fill.copies > 0 {
                self.lost(hole, mss, cx.ip_id);
            } else if hole.end <= cx.una {
                missing += packets;
            } else {
                undecided += packets;
            }
        }
        let needed = needed(&holes);
        self.settle_list(&needed);
        let needed = needed.len() as u64;
        ArrivalEnd {
            collector: self.collector,
            recoveries: self.recoveries.finish(),
            list: self.list,
            retransmissions: self.retransmissions,
            needed,
            spurious: self.retransmissions - needed,
            undecided,
            missing,
        }
    }

    fn lost(&mut self, hole: &Hole<Note>, mss: i64, ip_id: bool) {
        let fill = hole.note.fill;
        self.recoveries
            .resolve(fill.phase, Verdict::Needed, fill.copies);
        let basis = if fill.ambiguous {
            Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy)
        } else if ip_id {
            Basis::certain(Evidence::ArrivalIpId)
        } else {
            Basis::certain(Evidence::ArrivalTimestamps)
        };
        let mut from = hole.start;
        while from < hole.end {
            let to = hole.end.min(from + mss);
            let place = Place {
                start: from,
                len: (to - from) as u32,
                frame: 0,
                proof_frame: fill.frame,
                at_ns: fill.at_ns,
                sent_ns: fill.at_ns,
            };
            self.collector.lost(place, basis);
            from = to;
        }
    }

    fn settle_list(&mut self, needed: &[u64]) {
        for (r, number) in self.list.iter_mut().zip(1..) {
            r.verdict = match needed.binary_search(&number) {
                Ok(_) => Verdict::Needed,
                Err(_) => Verdict::Spurious,
            };
        }
    }
}

/// The retransmissions that were needed, ascending: the first to fill a hole, or part of one, that
/// the original never came to. All others were not.
fn needed(holes: &[Hole<Note>]) -> Vec<u64> {
    let fills = holes.iter().map(|hole| hole.note.fill);
    let filled = fills.filter(|fill| fill.copies > 0);
    let mut needed: Vec<u64> = filled.map(|fill| fill.number).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}
