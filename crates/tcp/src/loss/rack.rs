//! RACK (RFC 8985 section 6): a segment is lost when one sent later has been delivered and a round trip plus a
//! reordering window has passed since it was sent. The tail loss probe (RFC 8985 section 7) is the sender's
//! ([`Config::loss_probe`](crate::Config::loss_probe)).

use super::newreno::mark_without_sack;
use super::rack_window::RackWindow;
use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};
use crate::Nanos;

pub(super) const ENTRY: Entry = Entry {
    name: "rack",
    about: "RACK: time since transmission, with an adaptive reordering window",
    source: "RFC 8985",
    build: || Box::new(Rack::new()),
};

/// `DupThresh` of RFC 8985 section 6.2: this number of SACKs ends the tolerance while no reordering has been seen.
const THRESHOLD: u32 = 3;

/// See the module's description. Without SACK, which RFC 8985 section 4 requires, the common rule applies.
#[derive(Debug, Clone, Default)]
pub struct Rack {
    core: RackWindow,
    reordering_seen: bool,
}

impl Rack {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// RFC 8985 section 6.2 step 3: a segment that was never retransmitted was delivered below the highest delivered data.
    fn notice_reordering(&mut self, ack: &AckNews<'_>) {
        self.reordering_seen |= ack
            .delivered
            .iter()
            .any(|item| !item.record.ever_retransmitted() && item.record.end < ack.prior_fack);
    }

    fn window(&self, cx: &Context<'_>) -> Nanos {
        let impatient = cx.recovering() || cx.board.sacked_out() >= THRESHOLD;
        if !self.reordering_seen && impatient {
            return 0;
        }
        self.core.window(cx)
    }

    fn detect(&mut self, cx: &mut Context<'_>, always: bool) -> Verdict {
        let window = self.window(cx);
        self.core.detect(cx, window, 0, always);
        Verdict::recover_if(cx.board.lost_out() > 0)
    }
}

impl LossDetection for Rack {
    fn dupthresh(&self) -> u32 {
        THRESHOLD
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, THRESHOLD));
        }
        self.notice_reordering(ack);
        self.core.update(cx, ack);
        self.core.adapt(cx, ack.dsack.is_some());
        if cx.board.is_empty() {
            self.core.stop_timer();
            return Verdict::default();
        }
        self.detect(cx, false)
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>, _undone: bool) {
        self.core.recovery_ended();
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.core.stop_timer();
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.core.timer()
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) -> Verdict {
        self.core.stop_timer();
        if cx.state == CaState::Loss && cx.frto {
            return Verdict::default();
        }
        self.detect(cx, true)
    }
}
