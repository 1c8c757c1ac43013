//! The states of the sender and the transitions caused by acknowledgements: RFC 6675 section 5 and RFC 6582 section 3.2,
//! structured as Linux's five states, so that all kinds of detection, reduction and undo can be combined.

use super::Sender;
use super::ack::Before;
use super::reduce::Reducer;
use super::repeat::Rest;
use crate::Nanos;
use crate::config::{FrtoRules, LimitedTransmit, Reduction};
use crate::congestion::{Event, LossEvent};
use crate::habits::AtDuplicates;
use crate::loss::{AckNews, Verdict};
use crate::segment::SackBlocks;
use crate::seq::Seq;
use crate::state::CaState;

/// The current recovery, or the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recovery {
    /// `snd_nxt` when it began (`recover` of RFC 6582 section 3.2, RecoveryPoint of RFC 6675 section 5 step (4.1)).
    pub(super) high_seq: Seq,
    /// The state of the reduction of the window.
    pub(super) reducer: Reducer,
    /// One retransmission is sent even if the window does not allow it (the one that starts recovery).
    pub(super) force_retransmit: bool,
    /// Number of partial acknowledgements in it.
    pub(super) partials: u32,
    /// A partial undo is pending: nothing is retransmitted until it is decided.
    pub(super) hold_retransmit: bool,
    /// What is left of a segment that is sent again in pieces.
    pub(super) rest: Option<Rest>,
    /// The acknowledgement being processed ended it: number of segments it covers beyond `high_seq`.
    pub(super) ended_beyond: Option<u32>,
    /// A duplicate lets one new segment out, whatever is outstanding ([`LimitedTransmit::Always`]).
    pub(super) one_more: bool,
}

impl Recovery {
    pub(super) fn new(iss: Seq) -> Self {
        Self {
            high_seq: iss,
            reducer: Reducer::default(),
            force_retransmit: false,
            partials: 0,
            hold_retransmit: false,
            rest: None,
            ended_beyond: None,
            one_more: false,
        }
    }
}

impl Sender {
    /// Runs the state machine; the result says whether the window may grow.
    pub(super) fn process(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        self.loss.recovery.ended_beyond = None;
        if self.state == CaState::Open {
            self.loss.undo.forget_stamp();
        }
        match self.state {
            CaState::Loss => self.in_loss(now, news),
            CaState::Recovery => self.in_recovery(now, news),
            _ => self.in_order(now, news),
        }
    }

    /// Number of segments that left the network. Without SACK each duplicate counts as one, and is subtracted when
    /// the acknowledgement advances.
    pub(super) fn count_delivered(&mut self, news: &AckNews<'_>, before: &Before) -> u32 {
        if self.agreed.sack {
            return news.delivered.len() as u32;
        }
        let acked = news.delivered.len() as u32;
        if self.config.recovery.departures.duplicates_leave_flight {
            return self.count_as_left(news, before, acked);
        }
        let packets = self.board.packets_out();
        // At least one segment must be missing, otherwise the acknowledgement would advance.
        let most = packets - self.board.lost_out().max(1).min(packets);
        if news.advances() {
            let counted = before.sacked;
            let left = match self.state {
                CaState::Recovery => counted.saturating_sub(acked.saturating_sub(1)),
                _ => 0,
            };
            self.board.set_emulated_sacked(left.min(most));
            return acked.saturating_sub(counted).max(u32::from(acked > 0));
        }
        if !news.duplicate || self.answers_old_data() {
            return 0;
        }
        let count = (before.sacked + 1).min(most);
        self.board.set_emulated_sacked(count);
        count.saturating_sub(before.sacked)
    }

    /// A duplicate answers data that was sent before the recovery or the timeout (RFC 6582 sections 4 and 6): no segment has left the
    /// network with it. That holds while all this data is acknowledged and only the state is kept (Linux `tcp_reset_reno_sack` before
    /// `tcp_try_undo_recovery`), and after a timeout as long as nothing new was sent (`tcp_process_loss`).
    fn answers_old_data(&self) -> bool {
        let high_seq = self.loss.recovery.high_seq;
        match self.state {
            CaState::Recovery => self.stream.una >= high_seq,
            CaState::Loss => self.stream.una >= high_seq || self.stream.nxt <= high_seq,
            _ => false,
        }
    }

    /// Which segment a duplicate takes out of flight where each takes one (ns-3): right behind the oldest one, until that one is
    /// acknowledged. Without limited transmit only from the one on that begins recovery.
    fn count_as_left(&mut self, news: &AckNews<'_>, before: &Before, acked: u32) -> u32 {
        let most = self.board.packets_out().saturating_sub(1);
        let left = if news.advances() {
            before.sacked.saturating_sub(acked.saturating_sub(1))
        } else if news.duplicate
            && (self.state == CaState::Recovery
                || (self.state < CaState::Recovery
                    && self.config.recovery.limited_transmit != LimitedTransmit::Off))
        {
            before.sacked + 1
        } else {
            before.sacked
        };
        self.board.set_emulated_sacked(left.min(most));
        acked
    }

    /// Open, Disorder, CWR.
    fn in_order(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        // Ends when something sent later is acknowledged: then the segment with CWR has arrived.
        if self.state == CaState::Cwr && self.stream.una > self.loss.recovery.high_seq {
            self.finish_reduction();
            self.set_state(now, CaState::Open);
        }
        self.try_undo_dsack(now);
        let verdict = self.detect(now, news);
        self.loss.recovery.one_more = news.duplicate
            && !verdict.recover
            && self.config.recovery.limited_transmit == LimitedTransmit::Always;
        if self.detection_governs() {
            self.settle(now);
        } else if verdict.recover {
            self.enter_recovery(now);
        } else {
            self.heed_echo(now);
            self.settle(now);
        }
        verdict
    }

    fn detect(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        let before = self.observer.is_some().then(|| self.dupthresh());
        let verdict = self.consult(now, |loss, cx| loss.on_ack(cx, news));
        self.observe_dupthresh(now, before);
        verdict.unwrap_or_default()
    }

    fn observe_dupthresh(&mut self, now: Nanos, before: Option<u32>) {
        let Some(before) = before else {
            return;
        };
        let after = self.dupthresh();
        if let Some(observer) = &mut self.observer
            && before != after
        {
            observer.dupthresh(now, before, after);
        }
    }

    /// Open if nothing is missing, otherwise Disorder.
    pub(super) fn settle(&mut self, now: Nanos) {
        self.forget_first_retransmission();
        if self.state == CaState::Cwr {
            return;
        }
        let missing = self.board.sacked_out() > 0
            || self.board.lost_out() > 0
            || self.board.retrans_out() > 0;
        let state = if missing {
            CaState::Disorder
        } else {
            CaState::Open
        };
        let begins = state == CaState::Disorder && self.state != state;
        self.set_state(now, state);
        if begins {
            self.consult(now, |loss, cx| loss.on_disorder(cx));
        }
    }

    /// Fast recovery begins: RFC 6675 section 5 step (4), RFC 6582 section 3.2 step 2.
    pub(super) fn enter_recovery(&mut self, now: Nanos) {
        if self.agreed.sack {
            self.counters.recoveries.tcp_sack_recovery += 1;
        } else {
            self.counters.recoveries.tcp_reno_recovery += 1;
        }
        self.counters.recoveries.fast_recoveries += 1;
        self.undo_begin(now);
        self.begin_reduction(now);
        // An algorithm that controls the window ensures itself that something is sent.
        self.loss.recovery.force_retransmit = !self.congestion.control.governs_window;
        self.set_state(now, CaState::Recovery);
        self.tell(now, Event::RecoveryStart);
        if self.inflates() {
            self.loss.recovery.reducer.inflation = self.board.sacked_out();
        }
        self.consult(now, |loss, cx| loss.on_recovery(cx));
        if self.config.habits.at_duplicates == AtDuplicates::Window && !self.detection_governs() {
            self.forget_reports();
            self.board.mark_all_lost(true);
        }
    }

    /// What SACKs reported before counts for nothing any more.
    pub(super) fn forget_reports(&mut self) {
        self.loss.reports.last_sack = SackBlocks::EMPTY;
        if !self.agreed.sack {
            self.board.set_emulated_sacked(0);
        }
    }

    /// The slow-start threshold after a loss, and the start of the reduction (RFC 6675 section 5 step (4.2), RFC 5681
    /// section 3.2 steps 2 and 3). A tail loss probe is forgotten (RFC 8985 section 7.1).
    pub(super) fn begin_reduction(&mut self, now: Nanos) {
        self.loss.recovery.high_seq = self.stream.nxt;
        self.loss.recovery.partials = 0;
        self.time.timers.tail.end = None;
        self.ecn.window_reduced();
        if self.state < CaState::Cwr {
            let in_flight = self
                .loss
                .detection
                .flight_at_loss(self.agreed.mss)
                .unwrap_or(self.board.packets_out());
            let event = LossEvent {
                now,
                in_flight,
                timeout: false,
            };
            self.loss.undo.save_window(&self.congestion.window, false);
            let prior = self.congestion.window.cwnd;
            self.congestion.window.ssthresh = self.congestion.threshold_after(&event);
            self.congestion.window.count = 0;
            self.start_reducer(prior, in_flight);
        }
    }

    fn in_recovery(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        if self.stream.una >= self.loss.recovery.high_seq && !self.leave_recovery(now, news) {
            return Verdict::default();
        }
        if self.state != CaState::Recovery {
            // Recovery has ended; the rest of the outstanding data starts anew.
            return self.in_order(now, news);
        }
        if news.advances() {
            let waits = self.try_undo_partial(now, news);
            if !waits {
                self.partial_acknowledgement(news);
            }
            if waits || self.loss.recovery.hold_retransmit {
                // Other data may be missing: that would be another recovery.
                self.board.marks_held =
                    self.config.recovery.undo.hold_marks && self.loss.recovery.hold_retransmit;
                let verdict = self.in_order_if_open(now, news);
                self.board.marks_held = false;
                return verdict;
            }
        } else if self.inflates() && news.duplicate {
            self.loss.recovery.reducer.inflation += 1;
        }
        if self.try_undo_dsack(now) {
            self.settle(now);
        }
        self.in_order_if_open(now, news)
    }

    /// In Open or Disorder a loss starts a new recovery; in Recovery it belongs to the current one (RFC 5681 section 4.3: a
    /// window of data is one loss).
    fn in_order_if_open(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        if self.state == CaState::Recovery {
            return self.detect(now, news);
        }
        self.in_order(now, news)
    }

    /// RFC 6582 section 3.2 step 3: the inflated window is reduced by the acknowledged amount minus one segment.
    fn partial_acknowledgement(&mut self, news: &AckNews<'_>) {
        self.loss.recovery.partials += 1;
        if !self.inflates() {
            let at_once = self.config.recovery.departures.duplicates_leave_flight
                || self.config.cwnd.reduction == Reduction::Inflate;
            self.loss.recovery.force_retransmit |= at_once && !self.agreed.sack;
            return;
        }
        let acked = news.delivered.len() as u32;
        self.loss.recovery.reducer.inflation =
            (self.loss.recovery.reducer.inflation + 1).saturating_sub(acked);
        // Step 3 retransmits the first unacknowledged segment even if the window does not allow it.
        self.loss.recovery.force_retransmit = true;
    }

    /// Everything outstanding at the start of recovery is acknowledged. False if the state is kept: without SACK,
    /// until something sent later is acknowledged, so that old duplicates do not start another recovery (RFC 6582
    /// sections 3.2 and 6; Linux `tcp_is_non_sack_preventing_reopen`). That holds also if nothing is
    /// outstanding any more.
    fn leave_recovery(&mut self, now: Nanos, news: &AckNews<'_>) -> bool {
        let departures = self.config.recovery.departures;
        if !self.agreed.sack && !departures.duplicates_leave_flight {
            self.board.set_emulated_sacked(0);
        }
        let undone = self.try_undo_full(now, news);
        if self.prevents_reopening() {
            self.forget_first_retransmission();
            // The window is set as for the full acknowledgement; only the state is kept.
            if self.config.cwnd.reduction == Reduction::Immediate && !undone {
                self.close_reduction();
            }
            return false;
        }
        if !undone {
            self.close_reduction();
        }
        self.loss.recovery.reducer.inflation = 0;
        let beyond = (self.stream.una - self.loss.recovery.high_seq) / u64::from(self.agreed.mss);
        self.loss.recovery.ended_beyond = Some(u32::try_from(beyond).unwrap_or(u32::MAX));
        self.loss.undo.finish();
        self.set_state(now, CaState::Open);
        self.tell(now, Event::RecoveryEnd);
        self.consult(now, |loss, cx| loss.on_recovery_end(cx, undone));
        true
    }

    /// Without SACK the state is kept, undone or not, until something sent later is acknowledged (Linux
    /// `tcp_is_non_sack_preventing_reopen`).
    pub(super) fn prevents_reopening(&self) -> bool {
        !self.agreed.sack
            && !self.config.recovery.departures.reenter_at_recover
            && self.stream.una == self.loss.recovery.high_seq
    }

    /// After a timeout: F-RTO, undo, and the end of the state when everything sent before is acknowledged (RFC 6582
    /// section 3.2 step 4, RFC 6675 section 5.1).
    fn in_loss(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        let recovered = self.stream.una >= self.loss.recovery.high_seq;
        if news.advances() && self.try_undo_loss(now, news, false) {
            let mut verdict = self.after_loss(now, news);
            // RFC 4015 section 3.1 step (9) has already counted this acknowledgement.
            verdict.hold_window |= self.config.recovery.undo.rfc4015;
            return verdict;
        }
        if self.time.timers.frto.deciding && self.decide_frto(now, news, recovered) {
            return self.after_loss(now, news);
        }
        if recovered {
            self.leave_loss(now, news);
            return self.after_loss(now, news);
        }
        if self.time.timers.frto.deciding {
            // RFC 5682 section 3.1 step 2b: exactly two new segments.
            let mut verdict = self.detect(now, news);
            verdict.hold_window |= self.config.recovery.frto_rules == FrtoRules::Rfc5682;
            return verdict;
        }
        self.detect(now, news)
    }

    fn after_loss(&mut self, now: Nanos, news: &AckNews<'_>) -> Verdict {
        if self.state == CaState::Loss {
            return Verdict::default();
        }
        self.in_order(now, news)
    }

    fn leave_loss(&mut self, now: Nanos, news: &AckNews<'_>) {
        self.time.timers.frto.deciding = false;
        let undone = self.try_undo_full(now, news);
        if !self.agreed.sack {
            self.board.set_emulated_sacked(0);
            if self.prevents_reopening() {
                return;
            }
        }
        self.loss.undo.finish();
        self.set_state(now, CaState::Open);
        self.consult(now, |loss, cx| loss.on_recovery_end(cx, undone));
    }
}
