//! The settings of an endpoint, one file for each idea. Times are nanoseconds, windows segments, buffers bytes.

mod acks;
mod ecn;
mod options;
mod receive;
mod recovery;
mod send;
mod timer;
mod window;

use crate::Nanos;
use crate::habits::Habits;

pub use acks::{Acknowledging, DelayedAck, SackCompression};
pub use ecn::{AccurateEcn, EcnOptionUse, EcnSettings, EcnUse};
pub use options::Options;
pub use receive::{BeyondWindow, Receiving, WindowAccount, WindowUpdate};
pub use recovery::{
    Departures, FrtoRules, GrowthAtEnd, LimitedTransmit, LossProbe, LossRecovery, Undo, Unstamped,
};
pub use send::{Nagle, Pacing, Sending};
pub use timer::{Rto, RtoStyle};
pub use window::{CongestionWindow, GrowthUnit, Reduction};

/// One millisecond.
pub const MS: Nanos = 1_000_000;
/// One second.
pub const SECOND: Nanos = 1_000_000_000;

/// All settings of an endpoint except congestion control and loss detection.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Largest payload of a segment without options, bytes: what the MSS option announces.
    pub mss: u32,
    /// Initial sequence number.
    pub isn: u32,
    /// Seed for the random numbers of algorithms, such as the phase in which BBR starts to probe: equal seeds give
    /// equal runs.
    pub seed: u64,
    /// The options of TCP.
    pub options: Options,
    /// The congestion window outside its algorithm.
    pub cwnd: CongestionWindow,
    /// The receive buffer and the window that it offers.
    pub receive: Receiving,
    /// Acknowledgements.
    pub acks: Acknowledging,
    /// Data that waits in the send buffer.
    pub send: Sending,
    /// Retransmission timer.
    pub rto: Rto,
    /// What a sender does around a loss.
    pub recovery: LossRecovery,
    /// Explicit congestion notification.
    pub ecn: EcnSettings,
    /// Time spent in TIME-WAIT, ns.
    pub time_wait: Nanos,
    /// What other stacks do differently.
    pub habits: Habits,
}

/// What differs between two endpoints of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Initial sequence number.
    pub isn: u32,
    /// Seed for the random numbers of algorithms.
    pub seed: u64,
}

impl Config {
    /// These settings, changed by `change`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
