//! What keeps a sender from sending at an instant: for those who explain how long a transfer took.

use super::Sender;
use super::transmit::Held;
use crate::seq::Seq;
use crate::state::CaState;

/// Where a sender stands after all that it could send has left. Positions are bytes of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What keeps it from sending more.
    pub held: Held,
    /// State of the sender.
    pub state: CaState,
    /// First byte that is not acknowledged.
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    /// What had been sent when the last recovery began.
    pub recover: u64,
    /// Bytes written and not sent.
    pub unsent: u64,
    /// Bytes that the peer's window still allows, and the window.
    pub room: u64,
    /// The peer's window, bytes.
    pub peer_window: u64,
    /// The congestion window, bytes.
    pub window: u64,
    /// The application has closed: no more data will come.
    pub closed: bool,
    /// The congestion control alone sets the window, and undoes its reductions itself.
    pub governed: bool,
}

impl Sender {
    /// Where it stands now.
    pub(crate) fn standing(&self) -> Standing {
        let first = self.stream.iss + 1;
        let offset = |at: Seq| at.saturating_sub(first);
        Standing {
            held: self.held(),
            state: self.state,
            una: offset(self.stream.una),
            nxt: offset(self.stream.nxt),
            recover: offset(self.loss.recovery.high_seq),
            unsent: self.stream.unsent(),
            room: self.room(),
            peer_window: self.peer.window,
            window: u64::from(self.congestion.window.cwnd) * u64::from(self.agreed.mss),
            closed: self.stream.fin_queued,
            governed: !self.shared_rules(),
        }
    }
}
