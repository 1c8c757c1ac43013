//! The reduction of the window: at once, by rate halving, or by proportional rate reduction.

use super::Sender;
use super::ack::Before;
use crate::config::Reduction;
use crate::loss::AckNews;
use crate::state::CaState;

/// State of a reduction; all numbers in segments.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reducer {
    /// Reference of the proportion (RFC 6937 RecoverFS; Linux: the window before the reduction).
    recover_fs: u32,
    /// Delivered since it began (`prr_delivered`).
    delivered: u32,
    /// Sent since it began (`prr_out`).
    out: u32,
    /// Rate halving: acknowledgements that have not yet reduced the window.
    half: u32,
    /// Number of segments by which duplicates inflate the window (RFC 5681 section 3.2 step 4).
    pub(super) inflation: u32,
    /// The full acknowledgement has arrived: the window has its final size.
    closed: bool,
}

impl Sender {
    pub(super) fn in_reduction(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    pub(super) fn start_reducer(&mut self, prior_cwnd: u32, in_flight: u32) {
        let recover_fs = match self.config.cwnd.reduction {
            Reduction::PrrLinux => prior_cwnd,
            _ => in_flight,
        };
        self.loss.recovery.reducer = Reducer {
            recover_fs: recover_fs.max(1),
            ..Reducer::default()
        };
        match self.config.cwnd.reduction {
            _ if self.congestion.control.governs_window => {}
            Reduction::Immediate => self.congestion.window.cwnd = self.congestion.window.ssthresh,
            Reduction::Inflate => {
                let duplicates = if self.agreed.sack {
                    0
                } else {
                    self.dupthresh()
                };
                self.congestion.window.cwnd =
                    self.congestion.window.ssthresh.saturating_add(duplicates);
            }
            // One segment for the retransmission, beside what is in flight without it.
            Reduction::PrrNs3 => {
                self.loss.recovery.reducer.recover_fs = self.board.packets_out().max(1);
                self.congestion.window.cwnd = self.board.in_flight() + 1;
            }
            _ => {}
        }
    }

    /// A segment was sent during the reduction.
    pub(super) fn count_out(&mut self) {
        if self.in_reduction() {
            self.loss.recovery.reducer.out += 1;
        }
    }

    /// The window after an acknowledgement that delivered `delivered` segments.
    pub(super) fn reduce(&mut self, news: &AckNews<'_>, before: &Before, delivered: u32) {
        match self.config.cwnd.reduction {
            // Without SACK the state of recovery outlasts its undo until later data is acknowledged, and in Linux so does
            // proportional reduction, with the threshold restored.
            Reduction::PrrLinux | Reduction::PrrSlowStart | Reduction::PrrConservative => {}
            _ if self.loss.undo.undone => return,
            _ => {}
        }
        match self.config.cwnd.reduction {
            Reduction::Immediate => {}
            Reduction::Inflate => self.inflate(news),
            Reduction::RateHalving => self.halve_rate(news, delivered),
            Reduction::PrrNs3 => self.proportional_ns3(news, before, delivered),
            kind => {
                let clean = news.advances() && self.board.losses() == before.losses;
                self.proportional(kind, clean, delivered);
            }
        }
    }

    /// Recovery starts without an acknowledgement, when the reordering window has expired: the segment that started
    /// the timer counts as delivered now (Linux `tcp_rack_reo_timeout`).
    pub(super) fn reduce_at_timer(&mut self) {
        if self.congestion.control.governs_window {
            return;
        }
        match self.config.cwnd.reduction {
            Reduction::Immediate
            | Reduction::Inflate
            | Reduction::RateHalving
            | Reduction::PrrNs3 => {}
            kind => self.proportional(kind, false, 1),
        }
    }

    /// The window itself is inflated by duplicates, and deflated by what a partial acknowledgement covers, also below the
    /// threshold (RFC 6582 section 3.2 step 3, as in ns-3 until 3.28).
    fn inflate(&mut self, news: &AckNews<'_>) {
        // The acknowledgement that begins recovery: the window has its first size already.
        if self.agreed.sack || self.loss.recovery.reducer.out == 0 {
            return;
        }
        if news.advances() {
            let acked = news.delivered.len() as u32;
            self.congestion.window.cwnd = self.congestion.window.cwnd.saturating_sub(acked) + 1;
        } else if news.duplicate {
            self.congestion.window.cwnd = self
                .congestion
                .window
                .cwnd
                .saturating_add(1)
                .min(self.congestion.window.clamp);
        }
    }

    /// Linux until 3.1: every second acknowledgement reduces the window by one segment, and at most one segment may
    /// be sent per acknowledgement.
    fn halve_rate(&mut self, news: &AckNews<'_>, delivered: u32) {
        if delivered == 0 && !news.duplicate {
            return;
        }
        self.loss.recovery.reducer.half += 1;
        let floor = self.congestion.window.ssthresh;
        if self.congestion.window.cwnd > floor {
            self.congestion.window.cwnd =
                (self.congestion.window.cwnd - self.loss.recovery.reducer.half / 2).max(floor);
        }
        self.loss.recovery.reducer.half %= 2;
        let in_flight = self.board.in_flight();
        self.congestion.window.cwnd = self.congestion.window.cwnd.min(in_flight + 1).max(1);
    }

    /// RFC 6937 section 3, in segments.
    fn proportional(&mut self, kind: Reduction, clean: bool, delivered: u32) {
        if delivered == 0 && self.loss.recovery.reducer.out > 0 {
            return;
        }
        let pipe = self.board.in_flight();
        let ssthresh = self.congestion.window.ssthresh;
        let prr = &mut self.loss.recovery.reducer;
        prr.delivered += delivered;
        let send = if pipe > ssthresh {
            let share = (u64::from(prr.delivered) * u64::from(ssthresh))
                .div_ceil(u64::from(prr.recover_fs));
            u32::try_from(share)
                .unwrap_or(u32::MAX)
                .saturating_sub(prr.out)
        } else {
            let owed = prr.delivered.saturating_sub(prr.out);
            let limit = match kind {
                Reduction::PrrConservative => owed,
                Reduction::PrrLinux => owed.max(delivered) + u32::from(clean),
                _ => owed.max(delivered) + 1,
            };
            limit.min(ssthresh - pipe)
        };
        // The retransmission that starts recovery is always sent.
        let send = send.max(u32::from(prr.out == 0));
        self.congestion.window.cwnd = pipe + send;
    }

    /// PRR as in ns-3, in segments. What is in flight is counted before this acknowledgement marks segments; a duplicate
    /// delivers nothing; below the threshold, an acknowledgement that no retransmission caused lets nothing out beyond
    /// what it delivers.
    fn proportional_ns3(&mut self, news: &AckNews<'_>, before: &Before, delivered: u32) {
        if self.loss.recovery.reducer.out == 0 {
            // The acknowledgement that begins recovery: the window has its first size already.
            return;
        }
        let delivered = if news.advances() { delivered } else { 0 };
        let newly_missing = news.advances() && delivered > before.sacked;
        let pipe = if news.advances() {
            self.board.in_flight() + u32::from(newly_missing)
        } else {
            before.in_flight
        };
        let again = |item: &crate::board::Delivered| item.record.retrans;
        let answers_retransmission = news.advances() && news.delivered.iter().any(again);
        let ssthresh = self.congestion.window.ssthresh;
        let prr = &mut self.loss.recovery.reducer;
        prr.delivered += delivered;
        let (sent, arrived) = (i64::from(prr.out), i64::from(prr.delivered));
        let send = if pipe > ssthresh {
            // Bytes there: a part of a segment lets nothing out.
            let share = u64::from(prr.delivered) * u64::from(ssthresh) / u64::from(prr.recover_fs);
            share as i64 - sent
        } else {
            // The difference is unsigned there: a negative one is greater than anything delivered.
            let limit = match (answers_retransmission, arrived >= sent) {
                (true, true) => (arrived - sent).max(i64::from(delivered)) + 1,
                (true, false) => arrived - sent + 1,
                (false, _) => i64::from(delivered),
            };
            limit.min(i64::from(ssthresh - pipe))
        };
        let send = send.max(i64::from(prr.out == 0)).max(0) as u32;
        self.congestion.window.cwnd = pipe + send;
    }

    /// True while duplicates inflate the window (RFC 5681 section 3.2 step 4).
    pub(super) fn inflates(&self) -> bool {
        self.counts_outstanding()
            && self.config.cwnd.reduction == Reduction::Immediate
            && !self.loss.recovery.reducer.closed
    }

    /// In recovery without SACK, the window, inflated by duplicates, is compared with everything outstanding (RFC 5681
    /// section 3.2 step 5).
    pub(super) fn counts_outstanding(&self) -> bool {
        !self.agreed.sack
            && !self.config.recovery.departures.duplicates_leave_flight
            && matches!(
                self.config.cwnd.reduction,
                Reduction::Immediate | Reduction::Inflate
            )
            && !self.congestion.control.governs_window
    }

    /// Calls [`Sender::finish_reduction`] once for each reduction.
    pub(super) fn close_reduction(&mut self) {
        if !std::mem::replace(&mut self.loss.recovery.reducer.closed, true) {
            self.finish_reduction();
        }
        self.loss.recovery.reducer.inflation = 0;
    }

    /// The reduction is complete: the window equals the threshold.
    pub(super) fn finish_reduction(&mut self) {
        if self.loss.undo.undone || !self.shared_rules() {
            return;
        }
        let threshold = self.congestion.window.ssthresh;
        self.congestion.window.cwnd = match self.config.cwnd.reduction {
            // Rate halving may have ended below the threshold; the window is not increased to it (Linux 2.6
            // `tcp_complete_cwr`).
            Reduction::RateHalving => self.congestion.window.cwnd.min(threshold).max(1),
            // RFC 6582 section 3.2 step 3, full acknowledgement, option 1: no burst after recovery.
            Reduction::Immediate
                if !self.agreed.sack
                    && !self.config.recovery.departures.duplicates_leave_flight =>
            {
                threshold.min(self.board.packets_out().max(1) + 1)
            }
            _ => threshold,
        };
    }

    /// Limits bursts: at most three segments more than are in flight (Linux `tcp_max_burst`).
    pub(super) fn moderate(&mut self) {
        if self.congestion.control.governs_window {
            return;
        }
        let bound = self.board.in_flight() + 3;
        self.congestion.window.cwnd = self.congestion.window.cwnd.min(bound);
    }
}
