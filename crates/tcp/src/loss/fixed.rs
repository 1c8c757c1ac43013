//! A fixed duplicate-ACK threshold: RFC 6675 with SACK, RFC 5681 and 6582 without. The "S-Sender" of the SRPIC
//! paper; Linux with `tcp_reordering = tcp_max_reordering = 3` and `tcp_recovery = 0`.

use super::{AckNews, CaState, Context, LossDetection, Verdict};

/// The threshold, and nothing learnt.
#[derive(Debug, Clone)]
pub struct Static {
    threshold: u32,
}

impl Static {
    /// A threshold of `threshold` segments, at least 1.
    pub fn new(threshold: u32) -> Self {
        Self {
            threshold: threshold.max(1),
        }
    }
}

impl LossDetection for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    fn dupthresh(&self) -> u32 {
        self.threshold
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if cx.sack {
            let marked = cx.board.mark_by_threshold(self.threshold);
            return Verdict {
                recover: marked > 0 || cx.board.lost_out() > 0,
                ..Verdict::default()
            };
        }
        Verdict {
            recover: mark_without_sack(cx, ack, self.threshold),
            ..Verdict::default()
        }
    }
}

/// NewReno's rule: the oldest segment is lost once `threshold` duplicates have come, and again on each partial
/// acknowledgement in recovery (RFC 6582 section 3.2). True if it marked one.
pub(super) fn mark_without_sack(cx: &mut Context<'_>, ack: &AckNews<'_>, threshold: u32) -> bool {
    let due = match cx.state {
        CaState::Recovery => ack.advances(),
        CaState::Loss => false,
        _ => cx.board.sacked_out() >= threshold,
    };
    let head = cx.board.front_id();
    due && !cx.board.is_empty() && cx.board.mark_lost(head)
}
