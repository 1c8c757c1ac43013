//! The core of RACK: the latest transmission known to be delivered, and everything sent long enough before it (RFC
//! 8985 section 6.2).

use super::{AckNews, Context, Delivered};
use crate::Nanos;
use crate::seq::{Seq, ts_before};
use crate::time::elapsed;

/// Number of recoveries for which a widened reordering window is kept (RFC 8985 section 6.2 step 4).
const PERSIST: u32 = 16;
/// Upper bound of the multiplier, as in Linux.
const MAX_MULTIPLIER: u32 = 255;

/// State of a connection (RFC 8985 section 5.3).
#[derive(Debug, Clone, Default)]
pub(super) struct RackWindow {
    /// `RACK.rtt`: round trip of the most recent delivery.
    pub(super) rtt: Nanos,
    /// `RACK.xmit_ts` and `RACK.end_seq`: the delivered transmission sent last.
    point: (Nanos, Seq),
    advanced: bool,
    /// `RACK.reo_wnd_mult`; 0 stands for 1.
    multiplier: u32,
    persist: u32,
    /// `RACK.dsack_round`.
    dsack_round: Option<Seq>,
    timer: Option<Nanos>,
}

impl RackWindow {
    /// RFC 8985 section 6.2 step 2, for every segment delivered.
    pub(super) fn update(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) {
        for item in ack.delivered {
            self.deliver(cx, ack, item);
        }
    }

    fn deliver(&mut self, cx: &Context<'_>, ack: &AckNews<'_>, item: &Delivered) {
        let record = &item.record;
        let rtt = elapsed(cx.now, record.sent_at);
        if record.ever_retransmitted() {
            // The acknowledgement may have been for the original.
            let echo_is_older =
                !item.by_sack && ack.tsecr.is_some_and(|ecr| ts_before(ecr, record.tsval));
            if rtt < cx.min_rtt || echo_is_older {
                return;
            }
        }
        self.rtt = rtt;
        let key = (record.sent_at, record.end);
        if key > self.point {
            self.point = key;
            self.advanced = true;
        }
    }

    /// RFC 8985 section 6.2 step 4: DSACKs show that the window was too small, once per round trip.
    pub(super) fn adapt(&mut self, cx: &Context<'_>, dsack: bool) {
        if self.dsack_round.is_some_and(|round| cx.snd_una >= round) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(cx.snd_nxt);
            self.multiplier = (self.multiplier.max(1) + 1).min(MAX_MULTIPLIER);
            self.persist = PERSIST;
        }
    }

    pub(super) fn recovery_ended(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// The multiple of a quarter of the smallest round-trip time, at most a smoothed one (RFC 8985 section 6.2 step 4).
    pub(super) fn window(&self, cx: &Context<'_>) -> Nanos {
        let quarter = cx.min_rtt / 4;
        (quarter * Nanos::from(self.multiplier.max(1))).min(cx.srtt)
    }

    /// RFC 8985 section 6.2 step 5: marks segments that were sent before the latest delivery and have had `rtt + window` to
    /// arrive; sets the timer for the others, `slack` later. Without `always`, only if something was delivered.
    pub(super) fn detect(
        &mut self,
        cx: &mut Context<'_>,
        window: Nanos,
        slack: Nanos,
        always: bool,
    ) {
        if !std::mem::take(&mut self.advanced) && !always {
            return;
        }
        self.timer = None;
        let patience = self.rtt + window;
        while let Some((id, record)) = cx.board.oldest_outstanding() {
            if (record.sent_at, record.end) >= self.point {
                break;
            }
            if record.sent_at.saturating_add(patience) > cx.now {
                // Everything before the latest delivery is decided together, so the timer waits for the last one.
                let at = self.point.0.saturating_add(patience);
                self.timer = Some(at.max(cx.now + 1).saturating_add(slack));
                break;
            }
            if record.retrans {
                cx.counters.recoveries.tcp_lost_retransmit += 1;
            }
            if !cx.board.mark_lost(id) {
                break;
            }
        }
    }

    pub(super) fn timer(&self) -> Option<Nanos> {
        self.timer
    }

    pub(super) fn stop_timer(&mut self) {
        self.timer = None;
    }
}
