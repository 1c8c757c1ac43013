//! The receive buffer and the window that it offers.

/// The receive buffer: its size, how much of it is offered, and what becomes of data beyond the offer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Receiving {
    /// Receive buffer, bytes: a fixed size, or the maximum for autotuning.
    pub buffer: u64,
    /// Initial size for autotuning of the receive buffer, bytes (Linux: half of `tcp_rmem[1]`).
    pub autotuning: Option<u64>,
    /// Bytes of the receive buffer that are advertised at first, at most. The rest follows with what arrives, two segments for each, and
    /// each is acknowledged at once until then (Linux `rcv_ssthresh`, `tcp_grow_window`).
    pub offer: u64,
    /// What is advertised at first is rounded down to whole segments (Linux `tcp_select_initial_window`).
    pub offer_whole_segments: bool,
    /// Which bytes reduce the advertised window.
    pub account: WindowAccount,
    /// What becomes of segments that end beyond the window.
    pub beyond: BeyondWindow,
    /// When reading is reported to the peer.
    pub update: WindowUpdate,
    /// Whether the application reads data in order as soon as it arrives.
    pub read_at_once: bool,
}

/// Which bytes reduce the advertised window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowAccount {
    /// Bytes that the application has not read; none if it reads at once.
    #[default]
    Unread,
    /// All bytes held, also those out of order, except one segment; and data is acknowledged before the application
    /// reads it. So an acknowledgement that advances may carry a smaller window and the next one a larger window: it
    /// is a window update, not a duplicate (Linux `__tcp_select_window`; with Linux 6.1 on a reordering path, a
    /// quarter of the repeated acknowledgements were updates).
    Memory,
    /// As [`WindowAccount::Unread`], and every acknowledgement offers all the room there is, however little more it is than
    /// before (FreeBSD `tcp_output`). Otherwise the window advances only by a segment or more (RFC 9293 section
    /// 3.8.6.2.2).
    Room,
}

/// When a receiver tells that reading has made room, if there is nothing to acknowledge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowUpdate {
    /// When the window can grow by two segments or half of what it offers at most (RFC 9293 section 3.8.6.2.2, BSD).
    #[default]
    TwoSegments,
    /// When the window is half of the greatest or less and can be doubled (Linux `tcp_cleanup_rbuf`).
    Doubled,
}

/// What becomes of a segment that begins within the window and ends beyond it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BeyondWindow {
    /// Its part within the window is taken (RFC 9293 section 3.10.7.4).
    #[default]
    Cut,
    /// It is taken as a whole (Linux until 6.17 `tcp_sequence`, which looks only at its beginning).
    Take,
    /// It is taken as a whole if the application has read all that arrived before, and refused otherwise (Linux since 6.17).
    TakeIfEmpty,
}
