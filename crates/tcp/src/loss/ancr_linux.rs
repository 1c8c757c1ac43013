//! TCP-aNCR as its authors' Linux kernel had it (a module for Linux 3.0), with which the mobile-network paper measured.
//! It departs from their draft (`ancr.rs`) where a kernel counts in windows instead of bytes:
//!
//! 1. The flight before disorder is the congestion window at the first SACK, taken anew with the first SACK after
//!    acknowledgements have passed the data that was outstanding then.
//! 2. The extent is kept in 1/256 of it, the greatest one seen, and forgotten at a timeout. The threshold is that share of
//!    it, at most two thirds (careful) or one half (aggressive) of what is outstanding, at least three.
//! 3. During disorder the window follows what is in flight, at most three segments ahead; careful, half of the room is
//!    left unused, and what was sent beyond the flight before.
//! 4. When acknowledgements advance, the threshold of slow start is no less than the window before, and the window goes on
//!    from what is in flight. It grows by the common rules meanwhile.
//! 5. A loss is the congestion control's: the window before disorder is reduced as for any other loss.
//!
//! Needs SACK; without SACK the common rule applies.

use super::detection::{Detector, Extent};
use super::extended_limited_transmit::{MIN_THRESHOLD, Variant};
use super::newreno::mark_without_sack;
use super::{AckNews, Context, Entry, LossDetection, Verdict};
use crate::seq::Seq;

pub(super) const ENTRY_CAREFUL: Entry = Entry {
    name: "ancr-linux-careful",
    about: "TCP-aNCR, careful, as in its authors' kernel",
    source: "Zimmermann and others, tcp_ancr.c for Linux 3.0",
    build: || Box::new(AncrLinux::new(Variant::Careful)),
};

pub(super) const ENTRY_AGGRESSIVE: Entry = Entry {
    name: "ancr-linux-aggressive",
    about: "TCP-aNCR, aggressive, as in its authors' kernel",
    source: "Zimmermann and others, tcp_ancr.c for Linux 3.0",
    build: || Box::new(AncrLinux::new(Variant::Aggressive)),
};

/// Unit of the relative extent: the whole flight.
const WHOLE: u32 = 256;
/// Maximum number of segments by which the window is ahead of what is in flight.
const MAX_BURST: u32 = 3;

/// A phase of disorder.
#[derive(Debug, Clone, Copy)]
struct Phase {
    /// The window before it, segments.
    prior: u32,
    /// `snd_nxt` when that window was taken.
    recover: Seq,
    /// Acknowledgements have passed that: the window is taken anew with the next SACK.
    passed: bool,
}

impl Phase {
    fn new(cx: &Context<'_>) -> Self {
        Self {
            prior: cx.window.cwnd.max(1),
            recover: cx.snd_nxt,
            passed: false,
        }
    }
}

/// See the module's description.
#[derive(Debug, Clone)]
pub struct AncrLinux {
    variant: Variant,
    detector: Detector,
    /// Greatest relative extent seen, in 1/256.
    extent: u32,
    threshold: u32,
    phase: Option<Phase>,
}

impl AncrLinux {
    /// Careful or aggressive.
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            detector: Detector::new(),
            extent: 0,
            threshold: MIN_THRESHOLD,
            phase: None,
        }
    }

    fn learn(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) {
        let prior = self
            .phase
            .map_or(cx.window.cwnd, |phase| phase.prior)
            .max(1);
        for Extent { absolute, .. } in self.detector.on_ack(cx, ack).into_iter().flatten() {
            let relative = (absolute.min(prior) * WHOLE).div_ceil(prior);
            self.extent = self.extent.max(relative.min(WHOLE));
        }
    }

    fn set_threshold(&mut self, cx: &Context<'_>) {
        let Some(phase) = self.phase else {
            return;
        };
        let packets = cx.board.packets_out();
        let bound = match self.variant {
            Variant::Careful => 2 * packets / 3,
            Variant::Aggressive => 2 * packets / 4,
        };
        let seen = u64::from(self.extent) * u64::from(phase.prior) / u64::from(WHOLE);
        self.threshold = bound.min(seen as u32).max(MIN_THRESHOLD);
    }

    /// New data is acknowledged during disorder (4).
    fn advance(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>, mut phase: Phase) {
        cx.window.ssthresh = cx.window.ssthresh.max(phase.prior);
        cx.window.cwnd = cx.board.in_flight() + 1;
        if !ack.has_sack {
            self.phase = None;
            return;
        }
        phase.passed |= cx.snd_una > phase.recover;
        self.phase = Some(phase);
    }

    /// SACKs of new data: how far the window is ahead of what is in flight (3).
    fn extend(&self, cx: &mut Context<'_>, phase: Phase) {
        let in_flight = cx.board.in_flight();
        let mut room = phase.prior.saturating_sub(in_flight);
        if self.variant == Variant::Careful {
            let beyond = cx.board.packets_out().saturating_sub(phase.prior);
            room = room.saturating_sub(beyond);
            if room > 1 {
                room = room.div_ceil(2);
            }
        }
        cx.window.cwnd = (in_flight + room.min(MAX_BURST)).max(1);
    }
}

impl LossDetection for AncrLinux {
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
                None if ack.has_sack => self.phase = Some(Phase::new(cx)),
                Some(phase) if ack.advances() => self.advance(cx, ack, phase),
                Some(phase) if phase.passed && ack.has_sack => self.phase = Some(Phase::new(cx)),
                _ => {}
            }
            // An acknowledgement that advances leaves the window to the common rules, which let it grow.
            let extends = ack.has_sack && !ack.advances();
            if let Some(phase) = self.phase.filter(|_| extends) {
                self.extend(cx, phase);
            }
            self.set_threshold(cx);
        }
        cx.board.mark_by_threshold(self.threshold);
        let recover = cx.board.lost_out() > 0;
        if recover
            && !cx.recovering()
            && let Some(phase) = self.phase
        {
            cx.window.cwnd = phase.prior.max(1);
        }
        Verdict::recover_if(recover)
    }

    fn on_recovery(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.phase = None;
        self.threshold = MIN_THRESHOLD;
        self.extent = 0;
        self.detector.on_timeout();
    }
}
