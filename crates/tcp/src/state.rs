//! The sender's states of recovery.

/// State of the sender (Linux `tcp_ca_state`), in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CaState {
    /// No losses and no reordering.
    #[default]
    Open,
    /// Duplicate acknowledgements or SACKs, which do not count as a loss yet.
    Disorder,
    /// The window is reduced without a retransmission (after an ECN echo).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}
