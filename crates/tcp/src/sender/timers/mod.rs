//! The sender's timers: retransmission (RFC 6298 section 5), persist (RFC 9293 section 3.8.6.1), and tail loss probe.

mod frto;
mod tail_probe;

use super::Sender;
use crate::Nanos;
use crate::config::MS;
use crate::congestion::{Event, LossEvent};
use crate::habits::AfterTimeout;
use crate::state::CaState;
use crate::time::first;
use frto::Frto;
use tail_probe::TailProbe;

/// The purpose of the sender's single timer (RFC 8985 sections 5.4 and 8); a loss detection's own runs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimerKind {
    Retransmission,
    LossProbe,
    Persist,
}

/// The state of the timers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timers {
    /// The timer, if it is running, and its time of expiry.
    pub(super) timer: Option<(TimerKind, Nanos)>,
    /// Number of doublings of the persist timer.
    pub(super) persist_backoff: u32,
    /// The persist timer has expired: one probe of the peer's window is sent.
    pub(super) window_probe: bool,
    /// Consecutive expiries without a new acknowledgement.
    pub(crate) expiries: u32,
    /// The longest time without an answer, if the application has set one.
    user_timeout: Option<Nanos>,
    /// Since when there is none: the first retransmission, or the first probe of a closed window.
    unanswered_since: Option<Nanos>,
    /// The peer has opened the connection.
    is_passive: bool,
    /// The connection has ended: no timer expires any more.
    pub(super) stopped: bool,
    pub(super) frto: Frto,
    pub(super) tail: TailProbe,
}

impl Timers {
    /// The connection is over.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.timer = None;
        self.window_probe = false;
        self.tail.send_new = false;
        self.tail.retransmit = false;
    }

    /// When the application's time for an answer is over, if it runs.
    fn user_limit(&self) -> Option<Nanos> {
        Some(self.unanswered_since?.saturating_add(self.user_timeout?))
    }

    /// When a timer of this length expires: not after the application's time is over (Linux `tcp_clamp_rto_to_user_timeout`,
    /// `tcp_clamp_probe0_to_user_timeout`).
    fn within_user_limit(&self, now: Nanos, wait: Nanos) -> Nanos {
        let at = now.saturating_add(wait);
        match self.user_limit() {
            Some(limit) => at.min(limit.max(now.saturating_add(MS))),
            None => at,
        }
    }

    /// The peer has answered.
    pub(super) fn answered(&mut self) {
        self.expiries = 0;
        self.persist_backoff = 0;
        self.unanswered_since = None;
    }

    /// True if a timer has asked for a probe, of the tail or of the peer's window.
    #[inline]
    pub(super) fn probes(&self) -> bool {
        self.tail.send_new || self.tail.retransmit || self.window_probe
    }

    /// Starts the timer for a retransmission at `at`.
    pub(super) fn retransmit_at(&mut self, at: Nanos) {
        self.timer = Some((TimerKind::Retransmission, at));
    }

    /// Starts the timer for `kind`.
    pub(super) fn waits_for(&self, kind: TimerKind) -> bool {
        matches!(self.timer, Some((running, _)) if running == kind)
    }
}

impl Sender {
    /// The earliest time at which [`Sender::on_timer`] must be called.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Nanos> {
        if self.time.timers.stopped {
            return None;
        }
        let own = self.time.timers.timer.map(|(_, at)| at);
        let at = first(own, self.loss.detection.next_timer());
        first(at, self.pace_timer())
    }

    /// Processes expired timers. False if the connection must be given up.
    pub(crate) fn on_timer(&mut self, now: Nanos) -> bool {
        if self.time.timers.stopped {
            return true;
        }
        self.pace_released(now);
        self.frto_at_timer();
        let due = self.loss.detection.next_timer();
        if due.is_some_and(|at| at <= now) && !self.loss_timer(now) {
            return false;
        }
        let Some((kind, at)) = self.time.timers.timer else {
            return true;
        };
        if at > now {
            return true;
        }
        self.time.timers.timer = None;
        let alive = match kind {
            TimerKind::Retransmission => self.retransmission_timeout(now),
            TimerKind::LossProbe => self.tail_loss_probe(now),
            TimerKind::Persist => self.persist_timeout(now),
        };
        self.observe(now);
        alive
    }

    /// The loss detection's own timer. False if the connection must be given up.
    fn loss_timer(&mut self, now: Nanos) -> bool {
        let verdict = self
            .consult(now, |loss, cx| loss.on_timer(cx))
            .unwrap_or_default();
        if verdict.recover && !self.detection_governs() && self.state < CaState::Recovery {
            self.enter_recovery(now);
            self.reduce_at_timer();
        }
        if self.state == CaState::Recovery && !self.congestion.control.governs_window {
            // Linux reacts to an expired reordering window at once, with at least one retransmission.
            self.loss.recovery.force_retransmit |=
                self.board.in_flight() >= self.congestion.window.cwnd;
        }
        if self.detection_governs() && verdict.recover {
            // An algorithm that replaces the retransmission timer reports its expiry in this way.
            self.counters.recoveries.tcp_timeouts += 1;
            self.time.timers.expiries += 1;
            if self.time.timers.expiries > self.config.rto.retries {
                return false;
            }
        }
        self.rearm(now);
        self.observe(now);
        true
    }

    /// Restarts the retransmission timer.
    pub(super) fn rearm_timeout(&mut self, now: Nanos) {
        let at = self.time.timers.within_user_limit(now, self.time.rtt.rto());
        self.time.timers.retransmit_at(at);
    }

    /// `TCP_USER_TIMEOUT`.
    pub(crate) fn set_user_timeout(&mut self, limit: Option<Nanos>) {
        self.time.timers.user_timeout = limit;
    }

    /// Restarts the timer after progress, or stops it if nothing is outstanding (RFC 6298 section 5 steps (5.2) and (5.3)).
    pub(super) fn rearm(&mut self, now: Nanos) {
        if self.board.is_empty() {
            self.time.timers.timer = None;
            self.arm_persist(now);
            return;
        }
        if self.loss_replaces_rto() {
            self.time.timers.timer = None;
            return;
        }
        self.rearm_timeout(now);
        self.arm_loss_probe(now);
    }

    /// TCP-PR has a timer for every segment; the common timer is used only for the handshake, and for segments that
    /// were SACKed but never acknowledged.
    fn loss_replaces_rto(&self) -> bool {
        let own = self.loss.detection.next_timer();
        own.is_some() && self.detection_governs() && self.stream.una > self.stream.iss
    }

    /// A new segment has been sent (RFC 6298 section 5 step (5.1)).
    pub(super) fn arm_after_send(&mut self, now: Nanos) {
        if self.loss_replaces_rto() {
            return;
        }
        if self.time.timers.waits_for(TimerKind::Retransmission) {
            self.arm_loss_probe(now);
        } else {
            self.rearm(now);
        }
    }

    fn arm_persist(&mut self, now: Nanos) {
        let waiting = self.stream.write_end > self.stream.nxt
            || (self.stream.fin_queued
                && self.stream.nxt <= self.stream.write_end
                && self.stream.nxt > self.stream.iss);
        let held = self.pace_timer().is_some();
        if !waiting || held || self.stream.opening() || self.time.timers.timer.is_some() {
            return;
        }
        let wait = self
            .time
            .rtt
            .rto()
            .saturating_mul(1 << self.time.timers.persist_backoff.min(20))
            .min(self.config.rto.max);
        let at = self.time.timers.within_user_limit(now, wait);
        self.time.timers.timer = Some((TimerKind::Persist, at));
    }

    /// Nothing could be sent and nothing is outstanding: the peer's window must be probed.
    pub(crate) fn idle(&mut self, now: Nanos) {
        if self.board.is_empty() && self.time.timers.timer.is_none() {
            self.arm_persist(now);
        }
    }

    fn persist_timeout(&mut self, now: Nanos) -> bool {
        if self.time.timers.user_limit().is_some_and(|at| at <= now) {
            return false;
        }
        self.time.timers.unanswered_since.get_or_insert(now);
        self.counters.sent.tcp_win_probe += 1;
        self.time.timers.window_probe = true;
        self.time.timers.persist_backoff += 1;
        self.arm_persist(now);
        true
    }

    /// The connection is opened by the peer: the time of a SYN-ACK is doubled from the first expiry on.
    pub(crate) fn open_passively(&mut self) {
        self.time.timers.is_passive = true;
    }

    /// RFC 6298 section 5 steps (5.4) to (5.6). False if the limit of retries is reached.
    fn retransmission_timeout(&mut self, now: Nanos) -> bool {
        let handshake = self.stream.opening();
        if self.board.is_empty() && !(handshake && self.early.answers) {
            return true;
        }
        let limit = if handshake {
            self.config.rto.syn_retries + u32::from(self.early.answers)
        } else {
            self.config.rto.retries
        };
        let user = self.time.timers.user_limit().is_some_and(|at| at <= now);
        if self.time.timers.expiries >= limit || user {
            return false;
        }
        self.time.timers.unanswered_since.get_or_insert(now);
        self.time.timers.expiries += 1;
        self.counters.recoveries.tcp_timeouts += 1;
        if handshake {
            self.early.repeats += 1;
            if !self.early.answers {
                self.board.mark_all_lost(false);
            }
            self.loss.recovery.force_retransmit = true;
        } else {
            self.enter_loss(now);
        }
        let linear = match self.time.timers.is_passive {
            true => 0,
            false => self.config.rto.syn_linear,
        };
        if !handshake || self.time.timers.expiries > linear {
            self.time
                .rtt
                .set_backoff((self.time.rtt.backoff + 1).min(32));
        }
        self.rearm_timeout(now);
        true
    }

    /// Everything outstanding counts as lost, and the window is reduced to one segment (RFC 5681 section 3.1, RFC 6675
    /// section 5.1).
    fn enter_loss(&mut self, now: Nanos) {
        let calm = self.state < CaState::Recovery;
        self.consult(now, |loss, cx| loss.on_timeout(cx));
        let fresh = self.state < CaState::Cwr
            || self.stream.una >= self.loss.recovery.high_seq
            || (self.state == CaState::Loss && self.time.timers.expiries == 1);
        if fresh {
            self.cut_for_timeout(now);
        }
        let renege = self.board.front().is_some_and(|record| record.sacked);
        self.counters.recoveries.tcp_sack_reneging += u64::from(renege);
        let all = self.config.habits.after_timeout == AfterTimeout::Outstanding;
        self.forget_reports();
        self.board.mark_all_lost(renege || all);
        self.loss.recovery.rest = None;
        self.congestion.window.cwnd = 1;
        self.congestion.window.count = 0;
        self.loss.recovery.reducer.inflation = 0;
        self.time.timers.tail.end = None;
        self.time.timers.frto.deciding =
            self.config.recovery.frto && (calm || self.time.timers.expiries > 1) && !renege;
        self.time.timers.frto.new_data = false;
        self.loss.recovery.high_seq = self.stream.nxt;
        self.loss.recovery.force_retransmit = true;
        self.loss.recovery.hold_retransmit = false;
        self.set_state(now, CaState::Loss);
        self.tell(now, Event::Timeout);
    }

    fn cut_for_timeout(&mut self, now: Nanos) {
        self.ecn.window_reduced();
        self.undo_save_timer();
        let in_reduction = self.in_reduction();
        self.loss
            .undo
            .save_window(&self.congestion.window, in_reduction);
        let event = LossEvent {
            now,
            in_flight: self.board.packets_out(),
            timeout: true,
        };
        let ssthresh = self.congestion.threshold_after(&event);
        self.congestion.window.ssthresh = ssthresh;
        self.tell(now, Event::ThresholdAtTimeout);
        self.undo_begin(now);
    }
}
