//! A flow at its end.

use crate::result::Vantage;

/// What is known of the flow at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) vantage: Vantage,
    pub(crate) mss: u32,
    /// Shortest round trip between sender and receiver.
    pub(crate) rtt_ns: Option<i64>,
    pub(crate) spurious: u64,
}
