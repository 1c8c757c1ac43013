//! What the sender does about explicit congestion notification (RFC 3168 section 6.1.2).

use super::Sender;
use crate::Nanos;
use crate::state::CaState;

/// The sender's half of ECN.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EcnSender {
    /// Both sides agreed in the handshake: new data says it can be marked.
    pub(crate) on: bool,
    /// The acknowledgement being processed echoes a mark.
    echoed: bool,
    /// The next new segment tells the peer that the window has come down.
    cwr_due: bool,
}

impl EcnSender {
    /// The window comes down, for whatever reason.
    pub(super) fn window_reduced(&mut self) {
        self.cwr_due = self.on;
    }

    /// True once after each reduction, for the segment that carries CWR.
    pub(super) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_due)
    }
}

impl Sender {
    /// An acknowledgement echoes a mark or does not. An echo says the network asked for less: a reduction under
    /// way is not needless, and is not taken back (Linux `tcp_fastretrans_alert`).
    pub(super) fn note_echo(&mut self, echo: bool) {
        self.ecn.echoed = echo;
        if echo {
            self.undo.marker = None;
        }
    }

    /// Outside of a reduction the window comes down as for a loss, once per window of data, with nothing to send
    /// again (Linux `tcp_enter_cwr`).
    pub(super) fn heed_echo(&mut self, now: Nanos) {
        if !self.ecn.echoed || self.state >= CaState::Cwr || self.detection_governs() {
            return;
        }
        self.undo.undone = false;
        self.begin_reduction(now);
        self.undo.marker = None;
        self.set_state(now, CaState::Cwr);
    }
}
