//! When a packet is served.

/// The times at which a packet is served, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Service {
    /// When it leaves the queue.
    pub start_ns: i64,
    /// When its last bit is sent.
    pub end_ns: i64,
}
