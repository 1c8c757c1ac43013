//! TCP-NCR (RFC 4653): waits for about a round trip of duplicates before a segment counts as lost, and keeps sending
//! new data meanwhile. The steps are named as in its section 3. Needs SACK; without SACK the common rule applies.

pub use super::extended_limited_transmit::Variant;
use super::extended_limited_transmit::{MIN_THRESHOLD, Phase, segments};
use super::newreno::mark_without_sack;
use super::{AckNews, Context, Entry, LossDetection, Transmission, Verdict};

pub(super) const ENTRY_CAREFUL: Entry = Entry {
    name: "ncr-careful",
    about: "TCP-NCR, careful extended limited transmit",
    source: "RFC 4653",
    build: || Box::new(Ncr::new(Variant::Careful)),
};

pub(super) const ENTRY_AGGRESSIVE: Entry = Entry {
    name: "ncr-aggressive",
    about: "TCP-NCR, aggressive extended limited transmit",
    source: "RFC 4653",
    build: || Box::new(Ncr::new(Variant::Aggressive)),
};

/// See the module's description.
#[derive(Debug, Clone)]
pub struct Ncr {
    variant: Variant,
    threshold: u32,
    phase: Option<Phase>,
}

impl Ncr {
    /// Careful or aggressive.
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            threshold: MIN_THRESHOLD,
            phase: None,
        }
    }

    fn set_threshold(&mut self, cx: &Context<'_>) {
        self.threshold = self.variant.threshold_segments(cx.flight_bytes(), cx.mss);
    }

    /// Section 3.2: the cumulative acknowledgement advances before a loss was established.
    fn terminate(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>, phase: Phase) {
        let before = segments(phase.flight_before, cx.mss);
        // T.1 and T.2: no burst now, but the window soon returns to its previous size.
        cx.window.cwnd = (cx.board.packets_out() + 1).min(before).max(1);
        cx.window.ssthresh = before;
        if ack.has_sack {
            // T.4: disorder continues, so the flight at its start stays the same (not I.1).
            self.phase = Some(Phase {
                skipped: 0,
                ..phase
            });
            self.set_threshold(cx);
        } else {
            // The threshold stays unchanged for traces; the next phase sets it.
            self.phase = None;
        }
    }
}

impl LossDetection for Ncr {
    fn dupthresh(&self) -> u32 {
        self.threshold
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, MIN_THRESHOLD));
        }
        if !cx.recovering() {
            match self.phase {
                None if ack.has_sack => {
                    self.phase = Some(Phase::new(ack, cx.mss));
                    self.set_threshold(cx);
                }
                Some(phase) if ack.advances() => self.terminate(cx, ack, phase),
                _ => {}
            }
        }
        // E.1: applies the current threshold to the SACKs; then E.6.
        let marked = cx.board.mark_by_threshold(self.threshold);
        if marked == 0 && self.phase.is_some() && !cx.recovering() {
            self.set_threshold(cx);
        }
        Verdict {
            recover: cx.board.lost_out() > 0,
            hold_window: self.phase.is_some() || ack.has_sack,
        }
    }

    fn governs_sending(&self) -> bool {
        true
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Transmission) {
        if cx.recovering() || sent.again {
            return;
        }
        if let Some(phase) = &mut self.phase {
            phase.sent(self.variant, sent);
            self.set_threshold(cx);
        }
    }

    /// E.2: as long as a full segment fits below the flight at the start of disorder.
    fn may_send(&self, cx: &Context<'_>) -> Option<bool> {
        let phase = self.phase.filter(|_| !cx.recovering())?;
        Some(phase.load(cx) + u64::from(cx.mss) <= phase.flight_before)
    }

    /// Section 3.4: the reduction is based on the flight at the start of disorder.
    fn flight_at_loss(&self, mss: u32) -> Option<u32> {
        self.phase.map(|phase| segments(phase.flight_before, mss))
    }

    fn on_recovery(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
        self.threshold = MIN_THRESHOLD;
    }
}
