//! The sender's timers: retransmission (RFC 6298), F-RTO's verdict on it (RFC 5682), tail loss probe (RFC 8985
//! section 7), persist (RFC 9293 section 3.8.6.1).

use super::{CaState, Sender, TimerKind};
use crate::Nanos;
use crate::config::{LossProbe, MS, SECOND};
use crate::congestion::{Event, LossEvent};
use crate::loss::AckNews;
use crate::segment::SackBlocks;

/// Linux keeps the window probe of one outstanding segment this far from the round trip: the receiver may be
/// delaying its acknowledgement.
const LINUX_PROBE_DELAY: Nanos = 200 * MS;
/// RFC 8985 section 7.2: allowance for a delayed acknowledgement.
const MAX_ACK_DELAY: Nanos = 200 * MS;

impl Sender {
    /// The earliest moment at which [`Sender::on_timer`] has something to do.
    pub(crate) fn next_timer(&self) -> Option<Nanos> {
        if self.stopped {
            return None;
        }
        let own = self.timer.map(|(_, at)| at);
        let loss = self.loss.as_ref().and_then(|loss| loss.next_timer());
        [own, loss, self.pace_timer()].into_iter().flatten().min()
    }

    /// Handles what is due. False if the connection has to be given up.
    pub(crate) fn on_timer(&mut self, now: Nanos) -> bool {
        if self.stopped {
            return true;
        }
        self.pace_released(now);
        let due = self.loss.as_ref().and_then(|loss| loss.next_timer());
        if due.is_some_and(|at| at <= now) && !self.loss_timer(now) {
            return false;
        }
        let Some((kind, at)) = self.timer else {
            return true;
        };
        if at > now {
            return true;
        }
        self.timer = None;
        let alive = match kind {
            TimerKind::Retransmission => self.retransmission_timeout(now),
            TimerKind::LossProbe => self.tail_loss_probe(now),
            TimerKind::Persist => self.persist_timeout(now),
        };
        self.observe(now);
        alive
    }

    /// The loss detection's own timer. False if the connection has to be given up.
    fn loss_timer(&mut self, now: Nanos) -> bool {
        let verdict = self
            .consult(now, |loss, cx| loss.on_timer(cx))
            .unwrap_or_default();
        if verdict.recover && !self.governed() && self.state < CaState::Recovery {
            self.enter_recovery(now);
            self.reduce_at_timer();
        }
        if self.state == CaState::Recovery {
            // Linux answers an expired reordering window at once: one retransmission at least.
            self.force_retransmit |= self.board.in_flight() >= self.window.cwnd;
        }
        if self.governed() && verdict.recover {
            // An algorithm that replaces the retransmission timer reports its expiry this way.
            self.counters.tcp_timeouts += 1;
            self.expiries += 1;
            if self.expiries > self.config.rto.retries {
                return false;
            }
        }
        self.rearm(now);
        self.observe(now);
        true
    }

    /// Sets the timer anew after progress, or clears it when nothing is outstanding.
    pub(super) fn rearm(&mut self, now: Nanos) {
        if self.board.is_empty() {
            self.timer = None;
            self.arm_persist(now);
            return;
        }
        if self.loss_replaces_rto() {
            self.timer = None;
            return;
        }
        self.timer = Some((
            TimerKind::Retransmission,
            now.saturating_add(self.rtt.rto()),
        ));
        self.arm_loss_probe(now);
    }

    /// TCP-PR has a timer for every segment; the common one is left the handshake, and segments that were
    /// SACKed but never acknowledged.
    fn loss_replaces_rto(&self) -> bool {
        let own = self.loss.as_ref().and_then(|loss| loss.next_timer());
        own.is_some() && self.governed() && self.snd_una > self.iss
    }

    /// A new segment has been sent.
    pub(super) fn arm_after_send(&mut self, now: Nanos) {
        if self.loss_replaces_rto() {
            return;
        }
        match self.timer {
            Some((TimerKind::Retransmission, _)) => self.arm_loss_probe(now),
            _ => self.rearm(now),
        }
    }

    fn arm_persist(&mut self, now: Nanos) {
        let waiting = self.write_end > self.snd_nxt
            || (self.fin_queued && self.snd_nxt <= self.write_end && self.snd_nxt > self.iss);
        let held = self.pace_timer().is_some();
        if !waiting || held || self.snd_una == self.iss || self.timer.is_some() {
            return;
        }
        let wait = self
            .rtt
            .rto()
            .saturating_mul(1 << self.persist_backoff.min(20))
            .min(self.config.rto.max);
        self.timer = Some((TimerKind::Persist, now.saturating_add(wait)));
    }

    /// Nothing could be sent and nothing is outstanding: see to it that the peer's window is asked for.
    pub(crate) fn idle(&mut self, now: Nanos) {
        if self.board.is_empty() && self.timer.is_none() {
            self.arm_persist(now);
        }
    }

    fn persist_timeout(&mut self, now: Nanos) -> bool {
        self.counters.tcp_win_probe += 1;
        self.window_probe = true;
        self.persist_backoff += 1;
        self.arm_persist(now);
        true
    }

    /// RFC 6298 section 5.4 to 5.7. False once the limit of retries is reached.
    fn retransmission_timeout(&mut self, now: Nanos) -> bool {
        if self.board.is_empty() {
            return true;
        }
        let handshake = self.snd_una == self.iss;
        let limit = if handshake {
            self.config.rto.syn_retries
        } else {
            self.config.rto.retries
        };
        if self.expiries >= limit {
            return false;
        }
        self.expiries += 1;
        self.counters.tcp_timeouts += 1;
        if handshake {
            self.board.mark_all_lost(false);
            self.force_retransmit = true;
        } else {
            self.enter_loss(now);
        }
        self.rtt.set_backoff((self.rtt.backoff + 1).min(32));
        self.timer = Some((
            TimerKind::Retransmission,
            now.saturating_add(self.rtt.rto()),
        ));
        true
    }

    /// Everything outstanding is taken for lost, the window falls to one segment.
    fn enter_loss(&mut self, now: Nanos) {
        let calm = self.state < CaState::Recovery;
        self.consult(now, |loss, cx| loss.on_timeout(cx));
        let fresh = self.state < CaState::Cwr
            || self.snd_una >= self.high_seq
            || (self.state == CaState::Loss && self.expiries == 1);
        if fresh {
            self.cut_for_timeout(now);
        }
        let renege = self.board.front().is_some_and(|record| record.sacked);
        self.counters.tcp_sack_reneging += u64::from(renege);
        if !self.sack {
            self.board.set_emulated_sacked(0);
        }
        self.board.mark_all_lost(renege);
        self.last_sack = SackBlocks::EMPTY;
        self.window.cwnd = 1;
        self.window.count = 0;
        self.reducer.inflation = 0;
        self.tlp_high_seq = None;
        self.frto = self.config.frto && (calm || self.expiries > 1) && !renege;
        self.frto_new_data = false;
        self.high_seq = self.snd_nxt;
        self.force_retransmit = true;
        self.hold_retransmit = false;
        self.set_state(now, CaState::Loss);
        self.tell(now, Event::Timeout);
    }

    fn cut_for_timeout(&mut self, now: Nanos) {
        self.ecn.window_reduced();
        self.undo_save_timer();
        self.undo.save_window(&self.window);
        let event = LossEvent {
            now,
            in_flight: self.board.packets_out(),
            timeout: true,
        };
        self.window.ssthresh = self.cc.ssthresh(&self.window, &event).max(1);
        self.undo_begin(now);
    }

    /// RFC 5682 section 3.1, as acknowledgements come in after the timeout. True if the timeout is undone.
    pub(super) fn decide_frto(&mut self, now: Nanos, news: &AckNews<'_>, recovered: bool) -> bool {
        // SACK-enhanced: an original that was outstanding at the timeout has arrived.
        let high_seq = self.high_seq;
        let original = news.delivered.iter().any(|item| {
            item.by_sack && !item.record.ever_retransmitted() && item.record.end <= high_seq
        });
        if original && self.try_undo_loss(now, news, true) {
            return true;
        }
        if self.frto_new_data {
            return self.decide_frto_second(now, news, recovered);
        }
        // Step 2: the first acknowledgement after the retransmission.
        if news.advances() && !recovered && self.write_end > self.snd_nxt {
            // (2.b) Two new segments instead of further retransmissions.
            self.frto_new_data = true;
            self.window.cwnd = self.board.in_flight() + 2;
        } else {
            self.frto = false;
        }
        false
    }

    /// Step 3: an acknowledgement that moves on again answers originals; a duplicate confirms the loss.
    fn decide_frto_second(&mut self, now: Nanos, news: &AckNews<'_>, recovered: bool) -> bool {
        if news.advances() && !recovered {
            return self.try_undo_loss(now, news, true);
        }
        if news.advances() || news.duplicate || !news.delivered.is_empty() {
            self.frto = false;
            self.frto_new_data = false;
            self.window.cwnd = self.window.cwnd.min(self.board.in_flight() + 2).max(1);
        }
        false
    }

    /// RFC 8985 section 7.2: when to probe, if at all.
    fn arm_loss_probe(&mut self, now: Nanos) {
        let calm = matches!(self.state, CaState::Open | CaState::Cwr);
        if !self.probing_tail()
            || !calm
            || self.board.is_empty()
            || self.board.sacked_out() > 0
            || self.tlp_high_seq.is_some()
            || self.snd_una == self.iss
            || self.governed()
        {
            return;
        }
        let rto_at = match self.timer {
            Some((TimerKind::Retransmission, at)) => at,
            _ => now.saturating_add(self.rtt.rto()),
        };
        let at = now.saturating_add(self.probe_timeout()).min(rto_at);
        self.timer = Some((TimerKind::LossProbe, at));
    }

    fn probe_timeout(&self) -> Nanos {
        if self.rtt.srtt == 0 {
            return SECOND;
        }
        let alone = self.board.packets_out() == 1;
        let extra = match (self.config.loss_probe, alone) {
            (LossProbe::Linux, true) => LINUX_PROBE_DELAY,
            (LossProbe::Linux, false) => 2 * MS,
            (_, true) => MAX_ACK_DELAY,
            (_, false) => 0,
        };
        2 * self.rtt.srtt + extra
    }

    /// RFC 8985 section 7.3: new data if there is some, else the last segment again; then the RTO.
    fn tail_loss_probe(&mut self, now: Nanos) -> bool {
        self.timer = Some((
            TimerKind::Retransmission,
            now.saturating_add(self.rtt.rto()),
        ));
        if self.board.is_empty() || self.tlp_high_seq.is_some() {
            return true;
        }
        let room = self.snd_una + self.snd_wnd > self.snd_nxt;
        if self.write_end > self.snd_nxt && room {
            self.tlp_send_new = true;
            self.tlp_retransmitted = false;
        } else {
            self.tlp_retransmit = true;
            self.tlp_retransmitted = true;
        }
        self.counters.tcp_loss_probes += 1;
        true
    }

    /// RFC 8985 section 7.4: did the probe repair a loss nobody else saw?
    pub(super) fn process_loss_probe(&mut self, now: Nanos, news: &AckNews<'_>, sacked: u32) {
        let Some(end) = self.tlp_high_seq else {
            return;
        };
        if self.snd_una < end {
            return;
        }
        let pure_duplicate = !news.advances() && news.duplicate && sacked == 0;
        if !self.tlp_retransmitted || news.dsack.is_some() || pure_duplicate {
            self.tlp_high_seq = None;
        } else if self.snd_una > end {
            self.tlp_high_seq = None;
            self.counters.tcp_loss_probe_recovery += 1;
            if self.state < CaState::Cwr {
                self.undo.marker = None;
                self.begin_reduction(now);
                self.finish_reduction();
                self.settle(now);
            }
        }
    }
}
