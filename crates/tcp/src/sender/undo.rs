//! Undoing a reduction that reordering caused: Eifel detection by timestamps (RFC 3522 section 3.2), DSACKs for all
//! retransmissions (RFC 3708, Linux `undo_retrans`), and what is restored (Linux, RFC 4015 section 3.1).

use super::Sender;
use crate::Nanos;
use crate::board::Sent;
use crate::config::Unstamped;
use crate::congestion::{Event, Window};
use crate::loss::AckNews;
use crate::seq::{Seq, ts_before};
use crate::state::CaState;

/// The state saved before a reduction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UndoState {
    /// `snd_una` at its start; `None` if there is nothing (more) to undo.
    pub(super) marker: Option<Seq>,
    /// Number of retransmissions not yet reported as duplicates.
    retrans: u32,
    /// True if there was any retransmission since `marker`.
    any: bool,
    /// Timestamp of the first retransmission (RetransmitTS of RFC 3522 section 3.2 step (2)).
    stamp: Option<u32>,
    prior_cwnd: u32,
    prior_ssthresh: u32,
    /// The threshold that an undo restores at least.
    restored_ssthresh: u32,
    /// The current reduction has been undone.
    pub(super) undone: bool,
    /// A duplicate arrived that no retransmission explains: the network duplicates, so DSACKs prove nothing (RFC 3708
    /// section 3, A.5).
    pub(super) network_duplicate: bool,
    /// RFC 4015 section 3.1 step (0): outstanding segments, smoothed time and variation when the timer expired.
    pipe_prev: u32,
    srtt_prev: Nanos,
    rttvar_prev: Nanos,
    /// The next measurement of new data sets the timer (RFC 4015 section 3.1 step (11)).
    pub(super) adapt_timer: bool,
}

impl UndoState {
    /// `in_reduction`: the window is being reduced already. Otherwise three quarters of it count as threshold, if that is more
    /// (Linux `tcp_current_ssthresh`): what congestion avoidance has reached since the last loss is not lost.
    pub(super) fn save_window(&mut self, window: &Window, in_reduction: bool) {
        self.prior_cwnd = window.cwnd;
        self.prior_ssthresh = window.ssthresh;
        let reached = (window.cwnd >> 1) + (window.cwnd >> 2);
        self.restored_ssthresh = match in_reduction {
            true => window.ssthresh,
            false => window.ssthresh.max(reached),
        };
    }

    /// Nothing that was retransmitted matters any more.
    pub(super) fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// Recovery has ended: a reduction that was not undone remains.
    pub(super) fn finish(&mut self) {
        self.undone = false;
    }
}

impl Sender {
    /// A reduction begins that may turn out to be unnecessary.
    pub(super) fn undo_begin(&mut self, _now: Nanos) {
        self.loss.undo.marker = Some(self.stream.una);
        self.loss.undo.retrans = self.board.retrans_out();
        self.loss.undo.any = self.loss.undo.retrans > 0;
        self.loss.undo.undone = false;
        if !self.config.recovery.undo.stamp_outlives_recovery {
            self.loss.undo.stamp = None;
        }
        self.forget_first_retransmission();
    }

    /// The time of the first retransmission means nothing once none is outstanding (Linux `tcp_retrans_stamp_cleanup`).
    pub(super) fn forget_first_retransmission(&mut self) {
        let head = self.board.front().is_some_and(Sent::ever_retransmitted);
        if self.board.retrans_out() == 0 && !head {
            self.loss.undo.stamp = None;
        }
    }

    /// State saved when the timer expires (RFC 4015 sections 3.1 and 3.2 step (0)).
    pub(super) fn undo_save_timer(&mut self) {
        self.loss.undo.pipe_prev = self.board.packets_out();
        self.loss.undo.srtt_prev = self.time.rtt.srtt + 2 * self.config.rto.granularity;
        self.loss.undo.rttvar_prev = self.time.rtt.rttvar;
    }

    pub(super) fn undo_count(&mut self, tsval: u32) {
        self.loss.undo.retrans += 1;
        self.loss.undo.any = true;
        if self.loss.undo.stamp.is_none() {
            self.loss.undo.stamp = Some(tsval);
        }
    }

    /// A duplicate was reported: one retransmission less is unexplained.
    pub(super) fn undo_on_dsack(&mut self, block: (Seq, Seq), segments: u32, una: Seq) {
        let Some(marker) = self.loss.undo.marker else {
            return;
        };
        if block.1 <= marker {
            return;
        }
        let explained = if block.1 <= una {
            segments
        } else {
            self.retransmitted_within(block)
        };
        self.loss.undo.retrans = self.loss.undo.retrans.saturating_sub(explained);
    }

    fn retransmitted_within(&self, block: (Seq, Seq)) -> u32 {
        let Some(first) = self.board.index_of(block.0.max(self.stream.una)) else {
            return 0;
        };
        let from = self.board.front_id() + first as u64;
        (from..)
            .map_while(|id| self.board.get(id))
            .take_while(|record| record.start < block.1)
            .filter(|record| record.ever_retransmitted())
            .count() as u32
    }

    /// RFC 3522 section 3.2 step (4): the acknowledgement echoes a time before the first retransmission. Linux 2.6 also counts it if
    /// that time is not known (`tcp_packet_delayed`).
    fn original_arrived(&self, news: &AckNews<'_>) -> bool {
        match (self.loss.undo.stamp, news.tsecr) {
            (Some(stamp), Some(ecr)) => self.config.recovery.undo.eifel && ts_before(ecr, stamp),
            (None, _) => match self.config.recovery.undo.unstamped {
                Unstamped::Nothing => false,
                Unstamped::Partial => {
                    self.agreed.sack || self.stream.una < self.loss.recovery.high_seq
                }
                Unstamped::Original => true,
            },
            _ => false,
        }
    }

    fn all_duplicates(&self) -> bool {
        self.config.recovery.undo.dsack
            && self.loss.undo.any
            && self.loss.undo.retrans == 0
            && !self.loss.undo.network_duplicate
    }

    /// At the end of recovery. True if the reduction is undone now or was before.
    pub(super) fn try_undo_full(&mut self, now: Nanos, news: &AckNews<'_>) -> bool {
        if self.loss.undo.undone {
            return true;
        }
        // Otherwise the marker is kept: DSACKs for the last retransmissions may still arrive.
        if self.loss.undo.marker.is_none()
            || !(self.all_duplicates() || self.original_arrived(news))
        {
            return false;
        }
        if self.state == CaState::Loss {
            self.counters.undos.tcp_loss_undo += 1;
        } else {
            self.counters.undos.tcp_full_undo += 1;
        }
        self.restore(now, false);
        true
    }

    /// Outside recovery: the last missing DSACK has arrived.
    pub(super) fn try_undo_dsack(&mut self, now: Nanos) -> bool {
        if self.loss.undo.marker.is_none() || self.loss.undo.undone || !self.all_duplicates() {
            return false;
        }
        self.counters.undos.tcp_dsack_undo += 1;
        self.restore(now, false);
        true
    }

    /// On a partial acknowledgement caused by an original. True if nothing must be retransmitted for now.
    pub(super) fn try_undo_partial(&mut self, now: Nanos, news: &AckNews<'_>) -> bool {
        if self.config.recovery.undo.partial_within_recovery {
            self.undo_within_recovery(now, news);
            return false;
        }
        if self.loss.undo.marker.is_none() || !self.original_arrived(news) {
            return false;
        }
        self.consult(now, |loss, cx| loss.on_partial_undo(cx, news));
        if self.board.retrans_out() > 0 {
            // Some are in transit: wait before anything else is retransmitted.
            self.loss.recovery.hold_retransmit = true;
            return true;
        }
        self.counters.undos.tcp_partial_undo += 1;
        self.restore(now, true);
        self.settle(now);
        true
    }

    /// Linux 2.6: the window is restored, the threshold is not, and the reduction continues from there.
    fn undo_within_recovery(&mut self, now: Nanos, news: &AckNews<'_>) {
        let undoable = self.original_arrived(news) || self.all_duplicates();
        if self.loss.undo.marker.is_none() || !undoable {
            return;
        }
        let forgets = self.config.recovery.undo.unstamped == Unstamped::Original;
        if forgets && self.board.retrans_out() == 0 {
            self.loss.undo.forget_stamp();
        }
        self.consult(now, |loss, cx| loss.on_partial_undo(cx, news));
        self.counters.undos.tcp_partial_undo += 1;
        if !self.detection_governs() {
            self.restore_cwnd();
            if self.config.cwnd.moderate {
                self.moderate();
            }
        }
        // The next segments are probably also late: nothing is retransmitted for this acknowledgement.
        self.loss.recovery.hold_retransmit = true;
    }

    /// A timeout is undone (RFC 5682 section 4); `by_frto` if F-RTO detected that it was spurious (detections that RFC 4015
    /// section 2 allows).
    pub(super) fn try_undo_loss(&mut self, now: Nanos, news: &AckNews<'_>, by_frto: bool) -> bool {
        let undoable = self.loss.undo.marker.is_some()
            && (by_frto || self.original_arrived(news) || self.all_duplicates());
        if !undoable {
            return false;
        }
        self.counters.undos.tcp_loss_undo += 1;
        self.counters.undos.tcp_spurious_rtos += u64::from(by_frto);
        self.time.timers.frto.deciding = false;
        if self.config.recovery.undo.rfc4015 {
            self.restore_rfc4015(now, news);
        } else {
            self.restore(now, true);
        }
        self.time.timers.expiries = 0;
        if self.prevents_reopening() {
            self.forget_first_retransmission();
        } else if by_frto || self.agreed.sack {
            self.set_state(now, CaState::Open);
            self.settle(now);
        }
        true
    }

    /// Restores the window to at least what the congestion control undoes it to.
    fn restore_cwnd(&mut self) {
        let congestion = &mut self.congestion;
        let undone = congestion.control.algorithm.undo_cwnd(&congestion.window);
        let window = &mut congestion.window;
        window.cwnd = window.cwnd.max(undone).min(window.clamp);
    }

    /// Restores window and threshold to at least their values before the reduction.
    fn restore(&mut self, now: Nanos, clear_lost: bool) {
        if clear_lost {
            self.board.clear_lost();
        }
        if self.loss.undo.prior_ssthresh > 0 && !self.detection_governs() {
            self.restore_cwnd();
            let window = &mut self.congestion.window;
            window.ssthresh = window.ssthresh.max(self.loss.undo.restored_ssthresh);
        }
        self.close_undo(now);
    }

    /// RFC 4015 sections 3.1, 3.3 and 3.4 steps (8) and (9): continue with new data, beside the data outstanding, and
    /// restore the threshold.
    fn restore_rfc4015(&mut self, now: Nanos, news: &AckNews<'_>) {
        self.board.clear_lost();
        if self.shared_rules() {
            let acked = news.delivered.len() as u32;
            let bound = acked.min(self.config.cwnd.initial);
            self.congestion.window.cwnd =
                (self.board.packets_out() + bound).min(self.congestion.window.clamp);
            self.congestion.window.ssthresh =
                self.loss.undo.pipe_prev.max(self.loss.undo.prior_ssthresh);
        }
        self.loss.undo.adapt_timer = true;
        self.close_undo(now);
    }

    fn close_undo(&mut self, now: Nanos) {
        self.loss.undo.marker = None;
        self.loss.undo.undone = true;
        self.loss.recovery.reducer.inflation = 0;
        self.counters.undos.undone_recoveries += 1;
        self.tell(now, Event::Undo);
        if self.config.cwnd.moderate {
            self.moderate();
        }
        let cwnd = self.congestion.window.cwnd;
        if let Some(observer) = &mut self.observer {
            observer.undo(now, cwnd);
        }
    }

    /// RFC 4015 sections 3.1 and 3.6 step (11): the first round trip of new data after a spurious timeout makes the
    /// timer more conservative.
    pub(super) fn adapt_timer(&mut self, rtt: Nanos) -> bool {
        if !self.loss.undo.adapt_timer {
            return false;
        }
        self.loss.undo.adapt_timer = false;
        self.time.rtt.set(
            self.loss.undo.srtt_prev.max(rtt),
            self.loss.undo.rttvar_prev.max(rtt / 2),
        );
        true
    }
}
