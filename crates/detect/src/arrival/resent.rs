//! Data that is sent again: counted, and joined to the recovery that it belongs to.

use inorder_wire::Segment;

use super::{Arrival, Context, NEVER_NS};
use crate::explanation::Explanation;
use crate::prompt::{MIN_TIMEOUT_NS, Prompt, Waited, soonest_probe};
use crate::result::{Cause, Confidence, Retransmission, Verdict};

/// The delay has jumped where packets come within less than this part of the time that was between them.
const PARTS_OF_JUMP: i64 = 2;
/// Number of most recent retransmissions searched for those of one original.
const MAX_COPIES_LOOKED_AT: usize = 256;

/// Number of highest holes searched for what a recovery still waits for.
const MAX_HOLES_LOOKED_AT: usize = 64;

/// The retransmissions.
#[derive(Debug)]
pub(super) struct Resent {
    keep: bool,
    /// Each of them, when they are kept.
    pub(super) list: Vec<Retransmission>,
    pub(super) total: u64,
    /// Of bytes that may have been missing and forgotten.
    pub(super) unclear: u64,
    /// TSval of the last one.
    pub(super) tsval: u32,
}

heap!(Resent: list);

impl Resent {
    pub(super) fn new(keep: bool) -> Self {
        Resent {
            keep,
            list: Vec::new(),
            total: 0,
            unclear: 0,
            tsval: 0,
        }
    }

    /// The verdict on retransmission `number`, from 1.
    pub(super) fn settle(&mut self, number: u64, verdict: Verdict, sure: Confidence) {
        if let Some(line) = self.list.get_mut((number - 1) as usize) {
            (line.verdict, line.confidence) = (verdict, sure);
        }
    }

    /// The verdict on those of the bytes from `from` on, no surer than said.
    pub(super) fn settle_copies(
        &mut self,
        from: i64,
        len: u32,
        (verdict, sure): (Verdict, Confidence),
    ) {
        let (from, to) = (from.max(0) as u64, (from + i64::from(len)).max(0) as u64);
        let latest = self.list.iter_mut().rev().take(MAX_COPIES_LOOKED_AT);
        for copy in latest.filter(|c| (from..to).contains(&c.seq_offset)) {
            (copy.verdict, copy.confidence) = (verdict, copy.confidence.max(sure));
        }
    }
}

impl Arrival {
    /// Nothing of the receiver has been captured.
    pub(super) fn is_unheard(&self) -> bool {
        self.times.una_ns == NEVER_NS
    }

    /// What is said of a retransmission whose original came by, too. Where the receiver was not captured, no acknowledgement shows that the original
    /// arrived; but that it was late is reason enough for its receiver to have asked for it.
    pub(super) fn both_came(&self) -> (Verdict, Confidence) {
        match (
            self.is_unheard(),
            self.explanations.has(Explanation::AskedFor),
        ) {
            (false, _) => (Verdict::Spurious, Confidence::Certain),
            (true, true) => (Verdict::Spurious, Confidence::Likely),
            (true, false) => (Verdict::Ambiguous, Confidence::Ambiguous),
        }
    }

    /// What made the sender repeat what ends at the byte `to` and came at `now`, as far as the times of arrival tell.
    fn prompt(&self, now: i64, to: i64, cx: &Context) -> Prompt {
        let came_ns = now.saturating_sub(self.times.last_ns());
        // Where the delay has jumped, packets arrive together that a timer sent one after the other: timestamps tell how far apart. A tail loss probe's
        // timer may be shorter than any retransmission timer.
        let least_ns = cx.marks.rtt_ns().map_or(MIN_TIMEOUT_NS, soonest_probe);
        let jumped = cx.sent_behind_ns > least_ns.min(MIN_TIMEOUT_NS)
            && came_ns < cx.sent_behind_ns / PARTS_OF_JUMP;
        let quiet_ns = if jumped { cx.sent_behind_ns } else { came_ns };
        let last = to >= self.order.next();
        let waited = Waited {
            quiet_ns,
            since_sent_ns: Some(quiet_ns)
                .filter(|_| last && self.times.top_ns >= self.times.old_ns),
            rtt_ns: cx.marks.rtt_ns().map(|rtt| (rtt, rtt)),
            last,
            sack: cx.sack,
        };
        waited.prompt()
    }

    /// Counts a retransmission, as sure to be one as said; returns its recovery phase.
    pub(super) fn count_copy(
        &mut self,
        seg: &Segment,
        (from, len): (i64, u32),
        (verdict, confidence): (Verdict, Confidence),
        cx: &Context,
    ) -> u32 {
        self.resent.total += 1;
        self.resent.tsval = seg.tsval;
        let prompt = self.prompt(seg.ts_ns, from + i64::from(len), cx);
        let delay = cx.marks.rtt_ns().unwrap_or(0);
        let highest = self.order.next();
        if self.is_unheard() {
            let holes = self.order.holes();
            let missing = || {
                let latest = holes.iter().rev().take(MAX_HOLES_LOOKED_AT);
                let open = latest.filter(|hole| hole.note.fill.copies == 0);
                open.map(|hole| hole.start).fold(i64::MAX, i64::min)
            };
            self.recoveries.unheard(seg.ts_ns, from, highest, missing);
        }
        let phase = self
            .recoveries
            .retransmitted(seg.ts_ns, from, highest, delay, prompt);
        if verdict == Verdict::Spurious {
            self.recoveries.resolve(phase, verdict, 1);
        }
        if self.resent.keep {
            self.resent.list.push(Retransmission {
                frame: seg.frame,
                at_ns: seg.ts_ns,
                seq_offset: from.max(0) as u64,
                len,
                verdict,
                confidence,
                cause: Cause::Unknown,
            });
        }
        phase
    }
}
