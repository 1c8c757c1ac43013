//! The end of a flow.

use super::ledger::{Ledger, Telling};
use super::{Sender, SenderEnd};

impl Sender {
    /// What the ACKs of this flow can tell.
    pub(super) fn telling(&self) -> Telling {
        Telling {
            explanations: self.explanations,
            rough: self.receiver.lacks_sack(self.no_sack.evident()),
            timestamps: self.timestamps,
            duplicates: self.receiver.dsack_seen,
            acks: self.queue.seen,
            acks_missing: self.queue.missing,
            numbered: self.queue.by_id(),
            heard_ns: self.last_news_ns,
            patience_ns: self.timing.patience(),
        }
    }

    /// The end of the capture or of the connection.
    pub(crate) fn finish(mut self: Box<Self>) -> SenderEnd {
        let mut rest = std::mem::take(&mut self.ready);
        self.queue.flush(|ack| rest.push(ack));
        for ack in &rest {
            self.process(ack);
        }
        self.settle(i64::MAX);
        let telling = self.telling();
        self.ledger.close_all(&telling);
        let forgot = self.ledger.log.forgot();
        let Ledger {
            collector,
            recoveries,
            list,
            ..
        } = self.ledger;
        SenderEnd {
            collector,
            recoveries: recoveries.finish(),
            list: list.into_all(),
            data_packets: self.ledger.data_packets,
            data_bytes: self.ledger.data_bytes,
            retransmissions: self.ledger.retransmissions,
            needed: self.ledger.needed,
            spurious: self.ledger.spurious,
            undecided: self.outstanding.undecided(),
            unfilled: self.outstanding.unfilled(),
            missing: self.outstanding.missing(),
            acks: self.queue.seen,
            acks_reordered: self.queue.reordered,
            acks_missing: self.queue.missing,
            min_rtt: self.timing.min_rtt,
            rough: telling.rough,
            forgot,
            sack: self.receiver.has_sack(),
            sack_unknown: self.receiver.unknown_sack()
                && (self.ledger.retransmissions > 0 || self.no_sack.duplicates()),
        }
    }
}
