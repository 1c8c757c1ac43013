//! F-RTO (RFC 5682 sections 2.1 and 3.1): detects whether a timeout was spurious.

use crate::Nanos;
use crate::board::Delivered;
use crate::config::FrtoRules;
use crate::loss::AckNews;
use crate::sender::Sender;

/// State of the detection of a spurious timeout.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sender) struct Frto {
    /// The decision is pending.
    pub(in crate::sender) deciding: bool,
    /// New data was allowed. By RFC 5682 section 2.1 step 3 the next acknowledgement decides; by Linux's rules this one waits for what
    /// can be sent.
    pub(in crate::sender) new_data: bool,
}

impl Sender {
    /// RFC 5682 sections 2.1 and 3.1, for acknowledgements after the timeout. True if the timeout is undone.
    pub(in crate::sender) fn decide_frto(
        &mut self,
        now: Nanos,
        news: &AckNews<'_>,
        recovered: bool,
    ) -> bool {
        if self.covers_original(news) && self.try_undo_loss(now, news, true) {
            return true;
        }
        if self.config.recovery.frto_rules == FrtoRules::Linux {
            self.decide_frto_as_linux(news, recovered);
            return false;
        }
        if self.time.timers.frto.new_data {
            return self.decide_frto_second(now, news, recovered);
        }
        // Step 2: the first acknowledgement after the retransmission.
        if news.advances() && !recovered && self.stream.write_end > self.stream.nxt {
            // (2.b) Two new segments instead of further retransmissions.
            self.time.timers.frto.new_data = true;
            self.allow_two();
        } else {
            self.time.timers.frto.deciding = false;
        }
        false
    }

    /// SACK-enhanced: an original that was outstanding at the timeout has arrived. Linux counts those that only the acknowledgement
    /// number covers, too.
    fn covers_original(&self, news: &AckNews<'_>) -> bool {
        let linux = self.config.recovery.frto_rules == FrtoRules::Linux;
        let repeated = |item: &Delivered| item.record.ever_retransmitted();
        if linux && !self.agreed.sack && news.delivered.iter().any(repeated) {
            return false;
        }
        let high_seq = self.loss.recovery.high_seq;
        let counts = |item: &Delivered| item.by_sack || linux;
        news.delivered
            .iter()
            .any(|item| counts(item) && !repeated(item) && item.record.end <= high_seq)
    }

    /// Linux `tcp_process_loss`, for what does not undo the timeout.
    fn decide_frto_as_linux(&mut self, news: &AckNews<'_>, recovered: bool) {
        let frto = &mut self.time.timers.frto;
        frto.new_data = false;
        if self.stream.nxt > self.loss.recovery.high_seq {
            let reported = news.delivered.iter().any(|item| item.by_sack);
            frto.deciding = !reported && !news.duplicate;
        } else if news.advances() && !recovered {
            frto.new_data =
                self.stream.has_new() && self.peer.room(self.stream.una, self.stream.nxt) > 0;
            frto.deciding = frto.new_data;
        }
    }

    /// True if lost segments must not be sent again for now.
    pub(in crate::sender) fn frto_holds(&self) -> bool {
        let frto = &self.time.timers.frto;
        match self.config.recovery.frto_rules {
            FrtoRules::Rfc5682 => frto.deciding,
            FrtoRules::Linux => frto.deciding && frto.new_data,
        }
    }

    /// No new data can go out for now. If none did since the acknowledgement, conventional recovery goes on (Linux
    /// `tcp_xmit_recovery`): true if it begins now.
    pub(in crate::sender) fn frto_falls_back(&mut self) -> bool {
        let linux = self.config.recovery.frto_rules == FrtoRules::Linux;
        let frto = &mut self.time.timers.frto;
        let waits = linux && frto.deciding && frto.new_data;
        if !waits || self.stream.nxt > self.loss.recovery.high_seq {
            return false;
        }
        frto.deciding = false;
        frto.new_data = false;
        true
    }

    /// A timer, that of pacing among them, sends what is lost (Linux `tcp_tsq_write`).
    pub(in crate::sender) fn frto_at_timer(&mut self) {
        if self.config.recovery.frto_rules == FrtoRules::Linux {
            self.time.timers.frto.new_data = false;
        }
    }

    /// The window allows two more segments than are in flight, unless it grows by itself.
    fn allow_two(&mut self) {
        if !self.congestion.control.governs_window {
            self.congestion.window.cwnd = self.board.in_flight() + 2;
        }
    }

    /// RFC 5682 section 2.1 step 3: an acknowledgement that advances again answers originals; a duplicate confirms the loss.
    fn decide_frto_second(&mut self, now: Nanos, news: &AckNews<'_>, recovered: bool) -> bool {
        if news.advances() && !recovered {
            return self.try_undo_loss(now, news, true);
        }
        if news.advances() || news.duplicate || !news.delivered.is_empty() {
            self.time.timers.frto.deciding = false;
            self.time.timers.frto.new_data = false;
            let cwnd = self.congestion.window.cwnd;
            self.allow_two();
            self.congestion.window.cwnd = self.congestion.window.cwnd.min(cwnd).max(1);
        }
        false
    }
}
