//! How much the application may write ahead: into a buffer of one size, or into one that grows with the congestion window,
//! as Linux's does where the application sets no size.

use super::Sender;
use super::pieces::Pieces;
use crate::config::Sending;
use crate::seq::Seq;

/// Linux asks for room for this many segments at least (`TCP_INIT_CWND`).
const SEGMENTS_AT_LEAST: u64 = 10;
/// A growing buffer has at least this size, as in the lab (`tcp_wmem`). Kernels of distributions begin with more: ten segments in two windows.
const FIRST: u64 = 64 << 10;
/// Memory that a piece of data takes beside its bytes (6.1, x86-64): `sk_buff`, the end of its memory, and room for headers as memory is
/// handed out (`tcp_stream_alloc_skb`). Kernels of distributions leave more room for headers, and the two sizes of a segment are theirs.
const BESIDE_A_PIECE: u64 = 1_280;
const BESIDE_A_PIECE_SMALL: u64 = 768;
/// The memory of a segment of 1,460 bytes in a kernel that leaves little room for headers, as the lab's.
const SMALL_SEGMENT: u32 = 2_304;

/// What a piece takes beside its bytes, by the memory of a segment, which shows the room for headers.
fn beside_a_piece(segment_memory: u32) -> u64 {
    match segment_memory <= SMALL_SEGMENT {
        true => BESIDE_A_PIECE_SMALL,
        false => BESIDE_A_PIECE,
    }
}

/// What a growing buffer depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    /// Congestion window, segments.
    window: u32,
    /// Segments that may overtake another before it counts as lost.
    threshold: u32,
    /// Number of congestion windows that the buffer has room for.
    windows: u64,
    /// Fewer segments are in the network than the congestion window allows.
    window_has_room: bool,
    /// Memory that is in use, bytes.
    used: u64,
    /// Data of one piece of memory, bytes.
    piece: u64,
}

impl Demand {
    /// The size that it asks for with this memory for a segment, bytes (Linux `tcp_sndbuf_expand`).
    fn bytes(self, segment_memory: u32) -> u64 {
        let segments = u64::from(self.window)
            .max(u64::from(self.threshold) + 1)
            .max(SEGMENTS_AT_LEAST);
        (self.windows * segments).saturating_mul(segment_memory.into())
    }
}

impl Sender {
    /// What a growing buffer depends on now.
    pub(crate) fn buffer_demand(&self) -> Demand {
        let congestion = &self.congestion;
        let mss = u64::from(self.agreed.mss);
        // The SYN and the FIN take a number, and no memory.
        let acknowledged = self.stream.una.max(self.stream.iss + 1);
        let piece = (self.piece_segments() * mss).max(1);
        let sent = self.pieces.as_ref().map_or(0, Pieces::count);
        let beside = self.config.send.autotuning.map_or(0, beside_a_piece);
        let pieces = sent + self.stream.unsent().div_ceil(piece);
        Demand {
            window: congestion.window.cwnd,
            threshold: self.dupthresh(),
            windows: congestion.control.algorithm.windows_buffered(),
            window_has_room: self.board.in_flight() < congestion.window.cwnd,
            used: self.stream.write_end.saturating_sub(acknowledged) + pieces * beside,
            piece,
        }
    }
}

impl Sender {
    /// New data from `start` on is about to be sent: with segmentation offload a burst is one piece.
    pub(super) fn note_piece(&mut self, start: Seq) {
        let whole = self.config.send.tso_segments < 2;
        let begins = std::mem::take(&mut self.congestion.usage.burst_begins);
        if let Some(pieces) = &mut self.pieces
            && (whole || begins)
        {
            pieces.begin(start);
        }
    }
}

#[derive(Debug)]
pub(crate) struct SendBuffer {
    most: u64,
    /// Bytes that fit now.
    size: u64,
    /// Memory for a segment by which a growing buffer is sized, bytes; `None` if it does not grow.
    segment_memory: Option<u32>,
    /// The application wanted to write more, and waits until there is room.
    is_full: bool,
}

impl SendBuffer {
    pub(crate) fn new(config: &Sending) -> Self {
        // Enough for the lifetime of every connection, without overflow.
        let most = config.buffer.min(1 << 60);
        Self {
            most,
            size: if config.autotuning.is_some() { 0 } else { most },
            segment_memory: config.autotuning,
            is_full: false,
        }
    }

    /// Bytes that the application may write while it has `held` in the buffer, not acknowledged.
    pub(crate) fn room(&mut self, held: u64, demand: impl FnOnce() -> Demand) -> u64 {
        let Some(memory) = self.segment_memory else {
            return self.size.saturating_sub(held);
        };
        let demand = demand();
        if self.size == 0 {
            self.size = demand.bytes(memory).max(FIRST).min(self.most);
        }
        let free = self.size.saturating_sub(demand.used);
        // Linux wakes the writer when a third is free (`sk_stream_is_writable`).
        if self.is_full && free < demand.used / 2 {
            return 0;
        }
        // A piece that began before the buffer was full is filled (`sk_stream_memory_free`).
        free.div_ceil(demand.piece).saturating_mul(demand.piece)
    }

    /// The application wanted to write `asked` bytes, and `taken` had room.
    pub(crate) fn note(&mut self, asked: u64, taken: u64) {
        self.is_full = taken < asked;
    }

    /// True if the application waits for room in a buffer of one size, of which it has `held` bytes: to write more would
    /// change nothing.
    pub(crate) fn stays_full(&self, held: u64) -> bool {
        self.is_full && self.segment_memory.is_none() && held >= self.size
    }

    /// True if its size follows the congestion window.
    pub(crate) fn grows(&self) -> bool {
        self.segment_memory.is_some()
    }

    /// True if the buffer may grow: the application waits for room in it.
    pub(crate) fn may_grow(&self) -> bool {
        self.segment_memory.is_some() && self.is_full
    }

    /// All that may be sent was sent. A window that is used up needs no more data (Linux `tcp_should_expand_sndbuf`).
    pub(crate) fn grow(&mut self, demand: Demand) {
        if let Some(memory) = self.segment_memory.filter(|_| demand.window_has_room) {
            self.size = demand.bytes(memory).min(self.most).max(self.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles;

    fn buffer(most: u64, autotuning: Option<u32>) -> SendBuffer {
        let send = profiles::linux_6().send;
        SendBuffer::new(&Sending {
            buffer: most,
            autotuning,
            ..send
        })
    }

    fn growing(most: u64) -> SendBuffer {
        buffer(most, Some(4_352))
    }

    fn demand(window: u32, used: u64) -> Demand {
        Demand {
            window,
            threshold: 3,
            windows: 2,
            window_has_room: true,
            used,
            piece: 1,
        }
    }

    #[test]
    fn one_of_a_fixed_size_takes_what_fits() {
        let mut fixed = buffer(10_000, None);
        assert_eq!(fixed.room(0, || demand(100, 0)), 10_000);
        fixed.note(20_000, 10_000);
        assert!(!fixed.may_grow());
        assert_eq!(fixed.room(9_999, || demand(100, 9_999)), 1);
    }

    #[test]
    fn a_growing_one_begins_with_ten_segments_and_follows_a_window_that_is_not_used_up() {
        let mut growing = growing(16 << 20);
        assert_eq!(growing.room(0, || demand(1, 0)), 87_040);
        assert!(!growing.may_grow());
        growing.note(1 << 20, 87_040);
        assert!(growing.may_grow());
        growing.grow(Demand {
            window_has_room: false,
            ..demand(40, 50_000)
        });
        assert_eq!(growing.room(50_000, || demand(40, 50_000)), 37_040);
        growing.grow(demand(40, 50_000));
        assert_eq!(growing.room(50_000, || demand(40, 50_000)), 298_160);
        // It never shrinks.
        growing.grow(demand(10, 50_000));
        assert_eq!(growing.room(50_000, || demand(10, 50_000)), 298_160);
    }

    #[test]
    fn a_writer_that_waits_is_woken_when_a_third_is_free() {
        let mut growing = growing(90_000);
        assert_eq!(growing.room(0, || demand(100, 0)), 90_000);
        growing.note(1 << 20, 90_000);
        assert_eq!(growing.room(60_001, || demand(100, 60_001)), 0);
        assert_eq!(growing.room(60_000, || demand(100, 60_000)), 30_000);
        growing.note(1_000, 1_000);
        assert_eq!(growing.room(70_000, || demand(100, 70_000)), 20_000);
    }

    #[test]
    fn the_last_piece_of_memory_is_filled() {
        let pieces = |used| Demand {
            piece: 65_160,
            ..demand(100, used)
        };
        let mut growing = growing(100_000);
        assert_eq!(growing.room(0, || pieces(0)), 130_320);
        growing.note(1 << 20, 130_320);
        assert_eq!(growing.room(130_320, || pieces(130_320)), 0);
    }
}
