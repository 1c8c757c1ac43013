//! The end of a flow, and of what is remembered of it: final verdicts.

use super::filled::Filled;
use super::{CERTAIN, LIKELY, Sender, SenderEnd};
use crate::collect::Basis;
use crate::result::{Evidence, Reason, Verdict};

/// Share of the originals that came after their retransmission of which no ACK tells, where
/// duplicates are reported and where none has been so far.
const UNTOLD: f64 = 0.002;
const UNTOLD_WITHOUT: f64 = 0.01;
/// Of the originals whose own ACK is missing, those that nothing else tells of.
const UNTOLD_BY_MISSING: f64 = 0.1;

impl Sender {
    /// Final verdict on a segment that a retransmission filled: no original came.
    pub(super) fn close(&mut self, f: &Filled) {
        if f.original_in {
            return;
        }
        let needless = f.needless_before();
        // What came after all makes the copy before it needless: not asserted either way.
        let open = u32::from(f.doubled > 1.0 - LIKELY);
        let needed = f.copies.count.saturating_sub(f.after + needless + open);
        self.needed += u64::from(needed);
        self.spurious += u64::from(needless);
        let phase = f.copies.phase;
        self.recoveries.resolve(phase, Verdict::Needed, needed);
        self.recoveries.resolve(phase, Verdict::Spurious, needless);
        self.list.close(f.place.start, f.end(), needed, needless);
        if f.refused_in {
            return;
        }
        let evidence = if self.options.timestamps {
            Evidence::Timestamps
        } else {
            Evidence::Sack
        };
        let basis = self.how_sure_lost(f, evidence);
        self.collector.lost(f.place, basis);
    }

    /// Timestamps say that the retransmission came first. That the original did not come after it
    /// only a receiver's silence says that reports duplicates, which is not negotiated (mobile-network
    /// paper, section III-D), and what it says may be lost: the more of what was retransmitted came
    /// after all, the more of the silent ones did, too.
    fn how_sure_lost(&self, f: &Filled, evidence: Evidence) -> Basis {
        let basis = Basis::certain(evidence);
        if self.without_sack() {
            return basis.weaker(Reason::WhichCopy);
        }
        let acks = (self.queue.seen + self.queue.missing).max(1) as f64;
        let untold = if self.dsack_seen {
            UNTOLD
        } else {
            UNTOLD_WITHOUT
        };
        let untold = untold + UNTOLD_BY_MISSING * self.queue.missing as f64 / acks;
        let late = (self.came_after as f64 + 0.25) * untold;
        let lost = self.only_copies as f64 + 1.0;
        let sure = lost / (lost + late) * (1.0 - f.refused).max(0.0);
        if sure >= CERTAIN && self.dsack_seen {
            basis
        } else if sure >= LIKELY {
            basis.weaker(Reason::WhichCopy)
        } else {
            Basis::ambiguous(evidence, Reason::WhichCopy)
        }
    }

    /// The end of the capture or of the connection.
    pub(crate) fn finish(mut self) -> SenderEnd {
        let mut rest = Vec::new();
        self.queue.flush(|ack| rest.push(ack));
        for ack in &rest {
            self.process(ack);
        }
        self.settle(i64::MAX);
        let undecided = self.board.iter().filter(|s| !s.reported).count() as u64;
        while let Some(f) = self.filled.pop() {
            self.close(&f);
        }
        let rough = self.without_sack();
        SenderEnd {
            collector: self.collector,
            recoveries: self.recoveries.finish(),
            list: self.list.into_all(),
            data_packets: self.data_packets,
            data_bytes: self.data_bytes,
            retransmissions: self.retransmissions,
            needed: self.needed,
            spurious: self.spurious,
            undecided,
            missing: self.missing,
            acks: self.queue.seen,
            acks_reordered: self.queue.reordered,
            acks_missing: self.queue.missing,
            min_rtt: self.min_rtt,
            rough,
            sack: self.sack_seen || self.options.sack == Some(true),
        }
    }
}
