//! The end of a flow, and of what is remembered of it: final verdicts.

use super::filled::Filled;
use super::{Sender, SenderEnd};
use crate::collect::Basis;
use crate::result::{Evidence, Reason, Verdict};

impl Sender {
    /// Final verdict on a segment that a retransmission filled: no original came.
    pub(super) fn close(&mut self, f: &Filled) {
        if f.original_in {
            return;
        }
        let needless = f.needless_before();
        let needed = f.copies.count.saturating_sub(f.after + needless);
        self.needed += u64::from(needed);
        self.spurious += u64::from(needless);
        let phase = f.copies.phase;
        self.recoveries.resolve(phase, Verdict::Needed, needed);
        self.recoveries.resolve(phase, Verdict::Spurious, needless);
        self.list.close(f.place.start, f.end(), needed, needless);
        let evidence = if self.options.timestamps {
            Evidence::Timestamps
        } else {
            Evidence::Sack
        };
        // Timestamps say that the retransmission came first. That the original did not come after
        // it only a receiver's silence says that reports duplicates, which is not negotiated
        // (mobile-network paper, section III-D).
        let basis = if self.dsack_seen {
            Basis::certain(evidence)
        } else {
            Basis::certain(evidence).weaker(Reason::WhichCopy)
        };
        self.collector.lost(f.place, basis);
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
