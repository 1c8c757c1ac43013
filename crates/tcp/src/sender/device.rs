//! The host's own device is full: local congestion.
//!
//! Source: Linux `tcp_transmit_skb`. The queue of the device tells the sender that it did not take a segment. The
//! segment stays unsent, the window is reduced as after a congestion mark, and the next acknowledgement or timer tries
//! again.

use super::Sender;
use crate::Nanos;
use crate::state::CaState;

impl Sender {
    #[inline]
    pub(crate) fn set_device_full(&mut self, full: bool) {
        self.congestion.usage.device_full = full;
    }

    /// A segment is ready to be sent: true if the device does not take it.
    #[inline]
    pub(super) fn device_refuses(&mut self, now: Nanos) -> bool {
        let full = self.congestion.usage.device_full;
        if full {
            self.stalled(now);
        }
        full
    }

    fn stalled(&mut self, now: Nanos) {
        self.counters.sent.send_stalls += 1;
        if self.state < CaState::Cwr && !self.detection_governs() {
            self.enter_cwr(now);
        }
    }
}
