//! The sender's reaction to explicit congestion notification (RFC 3168 section 6.1.2).

use super::Sender;
use crate::Nanos;
use crate::config::Reduction;
use crate::state::CaState;

/// The sender's half of ECN.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EcnSender {
    /// ECN was negotiated: new data is marked as ECN-capable.
    pub(crate) on: bool,
    /// The current acknowledgement echoes a mark.
    echoed: bool,
    /// The next new segment informs the peer that the window was reduced.
    cwr_due: bool,
}

impl EcnSender {
    /// The window is reduced, for any reason.
    pub(super) fn window_reduced(&mut self) {
        self.cwr_due = self.on;
    }

    /// True once after each reduction, for the segment that carries CWR.
    pub(super) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_due)
    }
}

impl Sender {
    /// Processes the echo bit of an acknowledgement. An echo means that the network is congested: a reduction in
    /// progress is then justified, and is not undone (Linux `tcp_fastretrans_alert`).
    pub(super) fn note_echo(&mut self, echo: bool) {
        self.ecn.echoed = echo;
        if echo {
            self.undo.marker = None;
        }
    }

    /// Outside a reduction, the window is reduced as for a loss, once per window of data, without a retransmission
    /// (Linux `tcp_enter_cwr`).
    pub(super) fn heed_echo(&mut self, now: Nanos) {
        if !self.ecn.echoed || self.state >= CaState::Cwr || self.detection_governs() {
            return;
        }
        self.enter_cwr(now);
    }

    /// The window is reduced without a loss: by a congestion mark, or because the host's own device is full. There is
    /// nothing to undo (Linux `tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, now: Nanos) {
        self.undo.undone = false;
        self.begin_reduction(now);
        self.undo.marker = None;
        if self.config.reduction == Reduction::RateHalving && !self.control.governs_window {
            let bound = self.board.in_flight() + 1;
            self.window.cwnd = self.window.cwnd.min(bound);
        }
        self.set_state(now, CaState::Cwr);
    }
}
