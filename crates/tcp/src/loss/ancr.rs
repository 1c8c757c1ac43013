//! TCP-aNCR (draft-zimmermann-tcpm-reordering-reaction-02 section 5, the mobile-network paper section VI): as
//! TCP-NCR, but the threshold follows the reordering seen so far, relative to the window, with NCR's threshold as the
//! upper bound. Needs SACK; without SACK the common rule applies.

use super::detection::Detector;
use super::extended_limited_transmit::{MIN_THRESHOLD, Phase, Variant, segments};
use super::newreno::mark_without_sack;
use super::{AckNews, Context, Entry, LossDetection, Transmission, Verdict};
use crate::seq::Seq;

pub(super) const ENTRY_CAREFUL: Entry = Entry {
    name: "ancr-careful",
    about: "TCP-aNCR, careful: NCR's threshold, cut to the relative reordering extent seen",
    source: "draft-zimmermann-tcpm-reordering-reaction-02",
    build: || Box::new(Ancr::new(Variant::Careful)),
};

pub(super) const ENTRY_AGGRESSIVE: Entry = Entry {
    name: "ancr-aggressive",
    about: "TCP-aNCR, aggressive: NCR's threshold, cut to the relative reordering extent seen",
    source: "draft-zimmermann-tcpm-reordering-reaction-02",
    build: || Box::new(Ancr::new(Variant::Aggressive)),
};

/// See the module's description.
#[derive(Debug, Clone)]
pub struct Ancr {
    variant: Variant,
    detector: Detector,
    /// `ReorExtR`: greatest relative extent seen, 0 to 1.
    extent: f64,
    threshold: u32,
    phase: Option<Phase>,
    /// End of the flight to which `phase.flight_before` belongs (`recover`).
    recover: Seq,
    /// Greatest number of bytes in the network during the phase.
    pipe_max: u64,
    /// Bytes of new data that this acknowledgement may still release.
    burst: u64,
}

impl Ancr {
    /// Careful or aggressive.
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            detector: Detector::new(),
            extent: 0.0,
            threshold: MIN_THRESHOLD,
            phase: None,
            recover: 0,
            pipe_max: 0,
            burst: 0,
        }
    }

    fn set_threshold(&mut self, cx: &Context<'_>) {
        let Some(phase) = &self.phase else {
            return;
        };
        let bound = self.variant.threshold_segments(cx.flight_bytes(), cx.mss);
        let flight = phase.flight_before as f64 / f64::from(cx.mss.max(1));
        // A segment exactly as late as the latest one seen must not count as lost.
        let seen = libm::ceil(self.extent * flight) as u32;
        self.threshold = bound.min(seen).max(MIN_THRESHOLD);
    }

    fn learn(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) {
        for extent in self.detector.on_ack(cx, ack).into_iter().flatten() {
            self.extent = self.extent.max(extent.relative).min(1.0);
        }
    }

    /// Section 5.2: the first acknowledgement with new SACK blocks.
    fn begin(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) {
        self.phase = Some(Phase::new(ack, cx.mss));
        self.recover = cx.snd_nxt.saturating_sub(1);
        self.pipe_max = 0;
        self.set_threshold(cx);
    }

    /// Section 5.4: the cumulative acknowledgement advances.
    fn terminate(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>, mut phase: Phase) {
        if !ack.has_sack {
            cx.window.ssthresh = cx.window.ssthresh.max(cx.window.cwnd);
            // At most its previous value: FlightSize may have grown by the data sent during disorder.
            cx.window.cwnd = (cx.board.packets_out() + 1).min(cx.window.cwnd).max(1);
            // The threshold stays unchanged for traces; the next phase sets it.
            self.phase = None;
            return;
        }
        if cx.snd_una > self.recover {
            phase.flight_before = self.pipe_max.max(u64::from(cx.mss));
            self.pipe_max = 0;
            self.recover = cx.snd_nxt.saturating_sub(1);
        }
        phase.skipped = 0;
        self.phase = Some(phase);
        self.set_threshold(cx);
    }
}

impl LossDetection for Ancr {
    fn dupthresh(&self) -> u32 {
        self.threshold
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, MIN_THRESHOLD));
        }
        self.learn(cx, ack);
        if !cx.recovering() {
            match self.phase {
                None if ack.has_sack => self.begin(cx, ack),
                Some(phase) if ack.advances() => self.terminate(cx, ack, phase),
                _ => {}
            }
        }
        self.burst = u64::from(cx.initial_window) * u64::from(cx.mss);
        let marked = cx.board.mark_by_threshold(self.threshold);
        if marked == 0 && !cx.recovering() {
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
            self.burst = self.burst.saturating_sub(sent.end - sent.start);
            let pipe = u64::from(cx.board.in_flight()) * u64::from(cx.mss);
            self.pipe_max = self.pipe_max.max(pipe);
            self.set_threshold(cx);
        }
    }

    /// Section 5.3: a full segment below the congestion window, in bursts of at most the initial window.
    fn may_send(&self, cx: &Context<'_>) -> Option<bool> {
        let phase = self.phase.filter(|_| !cx.recovering())?;
        let window = u64::from(cx.window.cwnd) * u64::from(cx.mss);
        let fits = phase.load(cx) + u64::from(cx.mss) <= window;
        Some(fits && self.burst > 0)
    }

    fn flight_at_loss(&self, mss: u32) -> Option<u32> {
        self.phase.map(|phase| segments(phase.flight_before, mss))
    }

    fn on_recovery(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
        self.threshold = MIN_THRESHOLD;
        self.extent = 0.0;
        self.detector.on_timeout();
    }
}
