//! TCP-aNCR's threshold (draft-zimmermann-tcpm-reordering-reaction-02 section 5) in a Linux that is otherwise unchanged, as the
//! module `kernel/tcp_ancr.c` has it: how many segments must be SACKed above a hole before it counts as lost,
//!
//!   DT = max(min(FlightSize / 2, ReorExtR * FlightSizePrev), 3)
//!
//! with RACK off. ReorExtR is the greatest extent that Linux's own measure of reordering shows, over the flight when disorder
//! began. The window grows during disorder, and new data is sent, by Linux's rules; `ancr.rs` has those of the draft.

use super::linux_sequence::SequenceMetric;
use super::newreno::mark_without_sack;
use super::{AckNews, Context, Entry, LossDetection, Verdict};
use crate::seq::Seq;

pub(super) const ENTRY: Entry = Entry {
    name: "ancr-threshold",
    about: "TCP-aNCR's threshold alone, as the module tcp_ancr gives it to an unchanged Linux",
    source: "draft-zimmermann-tcpm-reordering-reaction-02 section 5; Linux 4.15 and later, tcp_recovery=0",
    build: || Box::new(AncrThreshold::new(300)),
};

/// The relative extent of 1.
const ONE: u64 = 1 << 16;
/// The least threshold: that of RFC 5681 section 3.2.
const LEAST: u32 = 3;

/// See the module's description.
#[derive(Debug, Clone)]
pub struct AncrThreshold {
    /// Linux's threshold (`tp->reordering`), which its measure of reordering raises.
    metric: SequenceMetric,
    /// `ReorExtR`, in units of 1/65536.
    extent: u64,
    /// `FlightSizePrev`, segments; 0 before the first measurement.
    flight_before: u32,
    /// What the threshold was set to.
    threshold: u32,
    /// `FlightSizePrev` is measured anew when this is acknowledged.
    measured: Seq,
}

impl AncrThreshold {
    /// Extents above `cap` (`tcp_max_reordering`) count as that.
    pub fn new(cap: u32) -> Self {
        let metric = SequenceMetric::new(cap);
        Self {
            threshold: metric.reordering,
            metric,
            extent: 0,
            flight_before: 0,
            measured: 0,
        }
    }

    fn measure(&mut self, cx: &Context<'_>) {
        self.flight_before = cx.board.packets_out().max(1);
        self.measured = cx.snd_nxt;
    }

    /// A segment was later than the threshold allows.
    fn learn(&mut self) {
        if self.metric.reordering > self.threshold {
            let extent =
                u64::from(self.metric.reordering) * ONE / u64::from(self.flight_before.max(1));
            self.extent = self.extent.max(extent).min(ONE);
        }
    }

    fn set_threshold(&mut self, cx: &Context<'_>) {
        let seen = (self.extent * u64::from(self.flight_before)).div_ceil(ONE);
        let bound = cx.board.packets_out() / 2;
        self.threshold = bound
            .min(u32::try_from(seen).unwrap_or(u32::MAX))
            .max(LEAST);
        self.metric.reordering = self.threshold;
    }
}

impl LossDetection for AncrThreshold {
    fn dupthresh(&self) -> u32 {
        self.metric.reordering
    }

    fn start(&mut self, cx: &mut Context<'_>) {
        self.measure(cx);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.metric.watch(cx, ack);
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, self.metric.reordering));
        }
        self.learn();
        if !cx.recovering() {
            // Nothing is out of order: once per window.
            if cx.board.sacked_out() == 0 && cx.snd_una >= self.measured {
                self.measure(cx);
            }
            self.set_threshold(cx);
        }
        cx.board.mark_by_threshold(self.metric.reordering);
        Verdict::recover_if(cx.board.lost_out() > 0)
    }

    fn on_disorder(&mut self, cx: &mut Context<'_>) {
        self.measure(cx);
    }

    fn on_partial_undo(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        self.metric.partial_undo(cx, ack);
    }

    /// What was learnt is not to be trusted.
    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.metric.timeout(cx);
        self.extent = 0;
        self.threshold = self.metric.reordering;
    }
}
