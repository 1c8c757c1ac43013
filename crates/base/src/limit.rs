//! What limits a transfer at an instant: the names that the analysis gives, and those of the simulator's truth.

/// What one direction of a connection waits for at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Limit {
    /// The connection is being opened.
    Handshake,
    /// The congestion window still grows from its start (slow start without a loss before).
    Start,
    /// The application had nothing to send.
    Application,
    /// The sender's socket buffer was full.
    SendBuffer,
    /// The receiver's window was full or closed.
    ReceiverWindow,
    /// The bottleneck was busy: a queue stands, or packets leave at its rate.
    Line,
    /// The congestion window after a reduction that a loss made necessary.
    WindowNeeded,
    /// The congestion window after a reduction that nothing lost had caused.
    WindowUnneeded,
    /// Recovery from a loss.
    RecoveryNeeded,
    /// Recovery although nothing was lost.
    RecoveryUnneeded,
    /// A retransmission timer, which a loss made necessary.
    TimerNeeded,
    /// A retransmission timer although everything had arrived.
    TimerUnneeded,
    /// The path or the other host did not answer: several time-outs in a row.
    PathDead,
    /// Nothing that was captured tells.
    #[default]
    Unknown,
}

impl Limit {
    /// Every limit, in the order of the declaration.
    pub const ALL: [Limit; 14] = [
        Limit::Handshake,
        Limit::Start,
        Limit::Application,
        Limit::SendBuffer,
        Limit::ReceiverWindow,
        Limit::Line,
        Limit::WindowNeeded,
        Limit::WindowUnneeded,
        Limit::RecoveryNeeded,
        Limit::RecoveryUnneeded,
        Limit::TimerNeeded,
        Limit::TimerUnneeded,
        Limit::PathDead,
        Limit::Unknown,
    ];

    /// The name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Handshake => "handshake",
            Limit::Start => "start",
            Limit::Application => "application",
            Limit::SendBuffer => "send-buffer",
            Limit::ReceiverWindow => "receiver-window",
            Limit::Line => "line",
            Limit::WindowNeeded => "window-needed",
            Limit::WindowUnneeded => "window-unneeded",
            Limit::RecoveryNeeded => "recovery-needed",
            Limit::RecoveryUnneeded => "recovery-unneeded",
            Limit::TimerNeeded => "timer-needed",
            Limit::TimerUnneeded => "timer-unneeded",
            Limit::PathDead => "path-dead",
            Limit::Unknown => "unknown",
        }
    }

    /// True if the time would not have been lost had nothing been taken for lost that was not.
    pub fn is_unneeded(self) -> bool {
        matches!(
            self,
            Limit::WindowUnneeded | Limit::RecoveryUnneeded | Limit::TimerUnneeded
        )
    }
}
