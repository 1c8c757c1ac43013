//! The common rules without SACK: NewReno's rule, and Linux's adaptation to too many duplicates.

use super::{AckNews, CaState, Context};

/// The oldest segment is lost after `threshold` duplicates, and again on each partial acknowledgement in recovery
/// (RFC 5681 section 3.2 step 2, RFC 6582 section 3.2 step 3); older Linux also on each duplicate there. True if a segment is lost.
pub(super) fn mark_without_sack(cx: &mut Context<'_>, ack: &AckNews<'_>, threshold: u32) -> bool {
    let due = match cx.state {
        CaState::Recovery => ack.advances() || ack.duplicate && cx.duplicates_mark,
        CaState::Loss => false,
        _ => cx.board.sacked_out() >= threshold,
    };
    if due {
        cx.board.mark_first(1);
    }
    cx.board.lost_out() > 0
}

/// Linux `tcp_check_reno_reordering`: if there are as many duplicates as segments outstanding, no segment was
/// missing. The extent is then the whole window; `None` if the count is possible.
pub(super) fn impossible_duplicates(cx: &Context<'_>, ack: &AckNews<'_>) -> Option<u32> {
    if cx.sack {
        return None;
    }
    // After a timeout duplicates count only once new data was sent (`tcp_process_loss`).
    let old = cx.snd_nxt <= cx.high_seq || cx.snd_una >= cx.high_seq;
    if cx.state == CaState::Loss && old && !ack.advances() {
        return None;
    }
    let packets = cx.board.packets_out();
    let holes = cx.board.lost_out().max(1).min(packets);
    let acked = ack.delivered.len() as u32;
    let counted = if ack.advances() {
        ack.prior_sacked.saturating_sub(acked.saturating_sub(1))
    } else {
        ack.prior_sacked + u32::from(ack.duplicate)
    };
    (counted > 0 && counted + holes > packets).then_some(packets + acked)
}
