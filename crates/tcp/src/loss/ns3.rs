//! ns-3's three duplicates: the third one in a row begins recovery, and a segment that its scoreboard took for received
//! although it is the oldest one missing is retransmitted without recovery.
//!
//! Source: `TcpSocketBase::DupAck`, `TcpTxBuffer::DiscardUpTo` of ns-3.37. With SACK it is RFC 6675 section 5 with a threshold of
//! three, as `static` is.

use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};

pub(super) const ENTRY: Entry = Entry {
    name: "ns-3",
    about: "three duplicates as ns-3.37 counts them",
    source: "tcp-socket-base.cc, tcp-tx-buffer.cc of ns-3.37",
    build: || Box::new(Ns3::default()),
};

/// `ReTxThreshold`.
const THRESHOLD: u32 = 3;

/// See the module's description.
#[derive(Debug, Clone, Default)]
pub struct Ns3 {
    duplicates: u32,
    /// Segments in flight when recovery was decided, and the one that is lost.
    flight: Option<u32>,
}

impl Ns3 {
    fn without_sack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> bool {
        self.flight = None;
        if ack.advances() {
            self.duplicates = 0;
            let missing_although_counted = ack.delivered.len() as u32 <= ack.prior_sacked;
            if cx.state == CaState::Recovery
                || (missing_although_counted && cx.state != CaState::Loss)
            {
                mark_head(cx);
            }
            return false;
        }
        if !ack.duplicate || cx.recovering() {
            return false;
        }
        self.duplicates += 1;
        if self.duplicates != THRESHOLD {
            return false;
        }
        let packets = cx.board.packets_out();
        let counted = cx.board.sacked_out();
        if counted == ack.prior_sacked {
            // Without limited transmit the duplicates before this one were not counted, but this one is.
            let most = packets.saturating_sub(1);
            cx.board.set_emulated_sacked((counted + 1).min(most));
        }
        self.flight = Some(packets.saturating_sub(cx.board.sacked_out()));
        mark_head(cx);
        true
    }
}

/// The oldest segment is lost, or its retransmission, if there was one.
fn mark_head(cx: &mut Context<'_>) {
    let head = cx.board.front_id();
    cx.board.mark_lost(head);
}

impl LossDetection for Ns3 {
    fn dupthresh(&self) -> u32 {
        THRESHOLD
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        let recover = if cx.sack {
            cx.board.mark_by_threshold(THRESHOLD);
            cx.board.lost_out() > 0
        } else {
            self.without_sack(cx, ack)
        };
        Verdict::recover_if(recover)
    }

    fn flight_at_loss(&self, _mss: u32) -> Option<u32> {
        self.flight
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>, _undone: bool) {
        self.duplicates = 0;
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.duplicates = 0;
    }
}
