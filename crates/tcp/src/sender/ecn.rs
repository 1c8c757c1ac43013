//! The sender's reaction to explicit congestion notification (RFC 3168 section 6.1.2, RFC 9768).

use super::Sender;
use super::accurate::{DeliveredNow, Feedback, Reported};
use crate::Nanos;
use crate::board::Delivered;
use crate::config::Reduction;
use crate::state::CaState;

/// Which feedback the two ends agreed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// ECN is not used.
    #[default]
    None,
    /// RFC 3168: one echo per round trip.
    Classic,
    /// RFC 9768: counters.
    Accurate,
}

/// The sender's half of ECN.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EcnSender {
    /// What was negotiated.
    pub(crate) agreed: Agreement,
    /// What accurate feedback has reported.
    pub(crate) reported: Reported,
    /// The current acknowledgement echoes a mark.
    echoed: bool,
    /// The next new segment informs the peer that the window was reduced.
    cwr_due: bool,
}

impl EcnSender {
    /// ECN is in use, classic or accurate.
    pub(crate) fn on(&self) -> bool {
        self.agreed != Agreement::None
    }

    pub(crate) fn classic(&self) -> bool {
        self.agreed == Agreement::Classic
    }

    pub(crate) fn accurate(&self) -> bool {
        self.agreed == Agreement::Accurate
    }

    /// The window is reduced, for any reason. With accurate feedback the peer need not know.
    pub(super) fn window_reduced(&mut self) {
        self.cwr_due = self.classic();
    }

    /// True once after each reduction, for the segment that carries CWR.
    pub(super) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_due)
    }
}

impl Sender {
    /// Marks that an acknowledgement reports, if there is accurate feedback: it is read where the acknowledgement is
    /// certainly not an old one.
    pub(super) fn read_marks(
        &mut self,
        feedback: Option<&Feedback>,
        delivered: &[Delivered],
        packets: u32,
        progress: bool,
    ) -> u32 {
        let Some(feedback) = feedback.filter(|feedback| progress || feedback.newest) else {
            return 0;
        };
        let payloads = delivered.iter().map(|item| item.record.payload());
        let bytes = payloads.fold(0, u32::saturating_add);
        let sent = self.counters.sent.bytes_sent;
        let now = DeliveredNow { packets, bytes };
        self.ecn.reported.read(feedback, now, sent)
    }

    /// Processes the echo bit of an acknowledgement. An echo means that the network is congested: a reduction in
    /// progress is then justified, and is not undone (Linux `tcp_fastretrans_alert`).
    pub(super) fn note_echo(&mut self, echo: bool) {
        self.ecn.echoed = echo;
        if echo {
            self.loss.undo.marker = None;
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
        self.loss.undo.undone = false;
        self.begin_reduction(now);
        self.loss.undo.marker = None;
        if self.config.cwnd.reduction == Reduction::RateHalving
            && !self.congestion.control.governs_window
        {
            let bound = self.board.in_flight() + 1;
            self.congestion.window.cwnd = self.congestion.window.cwnd.min(bound);
        }
        self.set_state(now, CaState::Cwr);
    }
}
