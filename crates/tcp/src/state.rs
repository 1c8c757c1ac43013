//! The sender's states of recovery.

/// State of the sender (Linux `tcp_ca_state`), in order of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate acknowledgements or SACKs; not yet taken for loss.
    Disorder,
    /// The window comes down without anything to retransmit (after an ECN echo).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}
