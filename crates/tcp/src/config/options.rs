//! The options of TCP.

use crate::Nanos;

/// The options of TCP that an endpoint announces, and what follows from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Selective acknowledgements (RFC 2018 section 2).
    pub sack: bool,
    /// Report duplicates (RFC 2883 section 4); with `sack`.
    pub dsack: bool,
    /// Timestamps option (RFC 7323 section 3.2).
    pub timestamps: bool,
    /// Tick of the timestamps clock (RFC 7323 section 5.4), ns.
    pub timestamp_tick: Nanos,
    /// Protection against wrapped sequences (RFC 7323 section 5); with `timestamps`.
    pub paws: bool,
    /// By how many ticks a segment's timestamp may be older without being refused (Linux `TCP_PAWS_WINDOW`: 1; RFC 7323 section 5.3:
    /// 0).
    pub paws_window: u32,
    /// Announced window scale (RFC 7323 section 2.2); `None` omits the option.
    pub window_scale: Option<u8>,
}
