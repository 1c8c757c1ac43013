//! What limits a transfer at an instant: the names that the analysis gives, and those of the simulator's truth.

use crate::named;

named! {
    /// What one direction of a connection waits for at an instant.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
    pub enum Limit {
        /// The connection is being opened.
        Handshake = "handshake",
        /// The congestion window still grows from its start (slow start without a loss before).
        Start = "start",
        /// The application had nothing to send.
        Application = "application",
        /// The sender's socket buffer was full.
        SendBuffer = "send-buffer",
        /// The receiver's window was full or closed.
        ReceiverWindow = "receiver-window",
        /// The bottleneck was busy: a queue stands, or packets leave at its rate.
        Line = "line",
        /// The congestion window after a reduction that a loss made necessary.
        WindowNeeded = "window-needed",
        /// The congestion window after a reduction that nothing lost had caused.
        WindowUnneeded = "window-unneeded",
        /// Recovery from a loss.
        RecoveryNeeded = "recovery-needed",
        /// Recovery although nothing was lost.
        RecoveryUnneeded = "recovery-unneeded",
        /// A retransmission timer, which a loss made necessary.
        TimerNeeded = "timer-needed",
        /// A retransmission timer although everything had arrived.
        TimerUnneeded = "timer-unneeded",
        /// The path or the other host did not answer: several time-outs in a row.
        PathDead = "path-dead",
        /// Nothing that was captured tells.
        #[default]
        Unknown = "unknown",
    }
}

impl Limit {
    /// True if the time was lost only because the sender took packets for lost that were not.
    pub fn is_unneeded(self) -> bool {
        matches!(
            self,
            Limit::WindowUnneeded | Limit::RecoveryUnneeded | Limit::TimerUnneeded
        )
    }
}
