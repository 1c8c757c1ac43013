//! Tail loss probe: a segment sent if the last ones of a flight are not acknowledged (RFC 8985 section 7).

use super::TimerKind;
use crate::Nanos;
use crate::config::{LossProbe, MS, SECOND};
use crate::loss::AckNews;
use crate::sender::Sender;
use crate::seq::Seq;
use crate::state::CaState;

/// For one outstanding segment, Linux delays the probe by this much beyond the round trip, because the receiver may
/// delay its acknowledgement.
const LINUX_PROBE_DELAY: Nanos = 200 * MS;
/// RFC 8985 section 7.2: allowance for a delayed acknowledgement.
const MAX_ACK_DELAY: Nanos = 200 * MS;

/// The state of a tail loss probe.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sender) struct TailProbe {
    /// `snd_nxt` after the unanswered probe (TLP.end_seq of RFC 8985 section 5.3).
    pub(in crate::sender) end: Option<Seq>,
    /// The probe was a retransmission.
    pub(in crate::sender) retransmitted: bool,
    /// New data is sent as a probe.
    pub(in crate::sender) send_new: bool,
    /// The last segment is retransmitted as a probe.
    pub(in crate::sender) retransmit: bool,
}

impl Sender {
    fn probing_tail(&self) -> bool {
        let in_advance = self.config.habits.probe_after.is_some();
        self.config.recovery.loss_probe != LossProbe::Off && (self.agreed.sack || in_advance)
    }

    /// RFC 8985 section 7.2: when to send a probe, if at all.
    pub(in crate::sender) fn arm_loss_probe(&mut self, now: Nanos) {
        let calm = matches!(self.state, CaState::Open | CaState::Cwr);
        if !self.probing_tail()
            || !calm
            || self.board.is_empty()
            || self.board.sacked_out() > 0
            || self.time.timers.tail.end.is_some()
            || self.stream.opening()
            || self.detection_governs()
        {
            return;
        }
        let rto_at = match self.time.timers.timer {
            Some((TimerKind::Retransmission, at)) => at,
            _ => now.saturating_add(self.time.rtt.rto()),
        };
        let at = now.saturating_add(self.probe_timeout()).min(rto_at);
        self.time.timers.timer = Some((TimerKind::LossProbe, at));
    }

    /// RFC 8985 section 7.2: two smoothed round trips, a second before the first one is measured.
    fn probe_timeout(&self) -> Nanos {
        if let Some(after) = self.config.habits.probe_after {
            return after;
        }
        if self.time.rtt.srtt == 0 {
            return SECOND;
        }
        let alone = self.board.packets_out() == 1;
        let extra = match (self.config.recovery.loss_probe, alone) {
            (LossProbe::Linux, true) => LINUX_PROBE_DELAY,
            (LossProbe::Linux, false) => 2 * MS,
            (_, true) => MAX_ACK_DELAY,
            (_, false) => 0,
        };
        2 * self.time.rtt.srtt + extra
    }

    /// RFC 8985 section 7.3: sends new data if there is any, otherwise the last segment again; then the RTO applies.
    pub(in crate::sender) fn tail_loss_probe(&mut self, now: Nanos) -> bool {
        self.rearm_timeout(now);
        if self.board.is_empty() || self.time.timers.tail.end.is_some() {
            return true;
        }
        let room = self.stream.una + self.peer.window > self.stream.nxt;
        if self.stream.write_end > self.stream.nxt && room {
            self.time.timers.tail.send_new = true;
            self.time.timers.tail.retransmitted = false;
        } else {
            self.time.timers.tail.retransmit = true;
            self.time.timers.tail.retransmitted = true;
        }
        self.counters.recoveries.tcp_loss_probes += 1;
        true
    }

    /// RFC 8985 section 7.4: detects whether the probe repaired a loss that was not detected otherwise.
    pub(in crate::sender) fn process_loss_probe(
        &mut self,
        now: Nanos,
        news: &AckNews<'_>,
        sacked: u32,
    ) {
        let Some(end) = self.time.timers.tail.end else {
            return;
        };
        if self.stream.una < end {
            return;
        }
        let pure_duplicate = !news.advances() && news.duplicate && sacked == 0;
        if !self.time.timers.tail.retransmitted || news.dsack.is_some() || pure_duplicate {
            self.time.timers.tail.end = None;
        } else if self.stream.una > end {
            self.time.timers.tail.end = None;
            self.counters.recoveries.tcp_loss_probe_recovery += 1;
            if self.state < CaState::Cwr {
                self.loss.undo.marker = None;
                self.begin_reduction(now);
                self.finish_reduction();
                self.settle(now);
            }
        }
    }
}
