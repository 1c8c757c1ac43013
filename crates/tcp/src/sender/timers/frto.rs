//! F-RTO (RFC 5682 sections 2.1 and 3.1): detects whether a timeout was spurious.

use crate::Nanos;
use crate::loss::AckNews;
use crate::sender::Sender;

/// State of the detection of a spurious timeout.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sender) struct Frto {
    /// The decision is pending.
    pub(in crate::sender) deciding: bool,
    /// Two new segments were allowed; the next acknowledgement decides.
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
        // SACK-enhanced: an original that was outstanding at the timeout has arrived.
        let high_seq = self.loss.recovery.high_seq;
        let original = news.delivered.iter().any(|item| {
            item.by_sack && !item.record.ever_retransmitted() && item.record.end <= high_seq
        });
        if original && self.try_undo_loss(now, news, true) {
            return true;
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

    /// The window allows two more segments than are in flight, unless it grows by itself.
    fn allow_two(&mut self) {
        if !self.congestion.control.governs_window && !self.config.recovery.frto_grows {
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
