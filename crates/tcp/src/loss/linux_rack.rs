//! Linux since 4.18: RACK combined with the older adaptive threshold, and reordering measured by sequence numbers.
//!
//! The reordering window is zero while no reordering has been seen and either recovery is in progress or the number
//! of SACKed segments has reached the threshold. The threshold adapts ([`SequenceMetric`]) and is reported as
//! `tcpi_reordering`.

use super::linux_sequence::SequenceMetric;
use super::newreno::mark_without_sack;
use super::rack_window::RackWindow;
use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};
use crate::Nanos;
use crate::config::MS;

pub(super) const ENTRY: Entry = Entry {
    name: "linux",
    about: "Linux 4.18 and later: RACK, adaptive threshold up to 300",
    source: "net/ipv4/tcp_recovery.c of Linux 6; tcp_recovery=1",
    build: || Box::new(LinuxRack::new(300)),
};

/// Linux's timers are at least two jiffies long (`TCP_TIMEOUT_MIN`).
const SLACK: Nanos = 2 * MS;

/// See the module's description.
#[derive(Debug, Clone)]
pub struct LinuxRack {
    core: RackWindow,
    metric: SequenceMetric,
}

impl LinuxRack {
    /// With a threshold of at most `cap` segments (`tcp_max_reordering`).
    pub fn new(cap: u32) -> Self {
        Self {
            core: RackWindow::default(),
            metric: SequenceMetric::new(cap),
        }
    }

    /// Linux `tcp_rack_reo_wnd`.
    fn window(&self, cx: &Context<'_>) -> Nanos {
        let impatient = cx.recovering() || cx.board.sacked_out() >= self.metric.reordering;
        if self.metric.seen == 0 && impatient {
            return 0;
        }
        self.core.window(cx)
    }

    fn detect(&mut self, cx: &mut Context<'_>, always: bool) -> Verdict {
        let window = self.window(cx);
        self.core.detect(cx, window, SLACK, always);
        Verdict::recover_if(cx.board.lost_out() > 0)
    }
}

impl LossDetection for LinuxRack {
    fn dupthresh(&self) -> u32 {
        self.metric.reordering
    }

    fn remember(&mut self, reordering: u32) {
        self.metric.reordering = reordering;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.metric.watch(cx, ack);
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, self.metric.reordering));
        }
        self.core.update(cx, ack);
        // DSACKs without any reordering have other causes.
        self.core
            .adapt(cx, ack.dsack.is_some() && self.metric.seen > 0);
        if cx.board.is_empty() {
            self.core.stop_timer();
            return Verdict::default();
        }
        self.detect(cx, false)
    }

    fn on_partial_undo(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        self.metric.partial_undo(cx, ack);
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>, undone: bool) {
        if !undone {
            self.core.recovery_ended();
        }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.core.stop_timer();
        self.metric.timeout(cx);
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
