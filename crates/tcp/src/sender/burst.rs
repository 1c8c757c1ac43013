//! Segmentation offload: new data is sent in bursts, and waits for bursts of a sufficient size.
//!
//! Source: Linux 6.1 `tcp_write_xmit`, `tcp_tso_autosize`, `tcp_tso_should_defer`. The application's data is queued
//! in pieces of at most [`tso_segments`](crate::Config::tso_segments) segments. A burst is the part of a piece that
//! the window allows, up to a millisecond at the pacing rate. A piece of several segments waits for a larger window,
//! unless
//!
//! 1. a recovery is in progress, or nothing has been sent for a millisecond,
//! 2. a whole burst fits, or the rest of a piece that will not grow, or a third of the window fits,
//! 3. the next acknowledgement is not expected within a millisecond or half a round trip.

use super::Sender;
use crate::Nanos;
use crate::congestion::micros;
use crate::state::CaState;
use crate::time::elapsed;

/// Silence after which no burst waits, and the maximum time to wait for an acknowledgement.
const MILLISECOND: Nanos = 1_000_000;
/// Minimum number of segments in a burst (Linux `tcp_min_tso_segs`).
const LEAST: u32 = 2;
/// Maximum size of a piece, bytes: the largest packet without room for headers (`MAX_TCP_HEADER`, 192 bytes in the lab's kernel).
const MAX_PIECE_BYTES: u64 = 65_535 - 192;
/// Share of the window that is sufficient for a burst (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// Near receivers get larger bursts: the bonus is halved for each `2^9` us of the smallest round trip
/// (`tcp_tso_rtt_log`).
const RTT_SHIFT: u32 = 9;

impl Sender {
    /// True if a new segment may be sent; the window has room for `room` segments. The rest of the burst follows it.
    pub(super) fn burst_allows(&mut self, now: Nanos, room: u32) -> bool {
        if self.congestion.usage.burst_left > 0 {
            return true;
        }
        let piece = self.piece();
        let most = self.burst_size(u64::from(self.config.send.tso_segments), LEAST);
        let peer = self.room() / u64::from(self.agreed.mss);
        let limit = u64::from(room).min(peer);
        if piece > 1 && self.defers(now, limit, piece, most) {
            return false;
        }
        self.congestion.usage.burst_begins = true;
        self.congestion.usage.burst_left = limit.min(piece).min(most).max(1) as u32;
        true
    }

    /// Segments of a whole piece: as many as configured, if a packet of IP has room for them (Linux `tcp_xmit_size_goal`): 45 of 1,448 bytes, but
    /// 44 of 1,460.
    pub(super) fn piece_segments(&self) -> u64 {
        let room = MAX_PIECE_BYTES / u64::from(self.agreed.mss);
        u64::from(self.config.send.tso_segments).min(room).max(1)
    }

    /// Number of remaining segments of the piece at the head of the queue.
    fn piece(&self) -> u64 {
        let mss = u64::from(self.agreed.mss);
        let sent = (self.stream.nxt - self.stream.iss - 1) / mss;
        let size = self.piece_segments();
        let waiting = self
            .stream
            .write_end
            .saturating_sub(self.stream.nxt)
            .div_ceil(mss);
        (size - sent % size).min(waiting)
    }

    /// Number of segments in a whole burst: a millisecond at the pacing rate, more to a near receiver.
    pub(super) fn burst_size(&self, most: u64, least: u32) -> u64 {
        let mss = u64::from(self.agreed.mss);
        let rate = self.unbounded_rate();
        let least = self.congestion.control.min_burst(least);
        let near = micros(self.time.rtt.min_rtt) >> RTT_SHIFT;
        let bonus = (most * mss).checked_shr(near.min(64) as u32).unwrap_or(0);
        let bytes = (rate >> 10).saturating_add(bonus);
        (bytes / mss).min(most).max(u64::from(least))
    }

    fn defers(&self, now: Nanos, limit: u64, piece: u64, most: u64) -> bool {
        let Some(head) = self.board.front() else {
            return false;
        };
        let silent = elapsed(now, self.congestion.usage.last_sent_at) > MILLISECOND;
        if self.state >= CaState::Recovery || silent {
            return false;
        }
        let mss = u64::from(self.agreed.mss);
        let window = self
            .peer
            .window
            .min(u64::from(self.congestion.window.cwnd) * mss);
        let third = window / (WINDOW_DIVISOR * mss);
        let complete =
            self.stream.fin_queued || self.stream.nxt + piece * mss < self.stream.write_end;
        if limit >= most || limit >= third || (complete && limit >= piece) {
            return false;
        }
        let expected = head.sent_at.saturating_add(self.time.rtt.srtt);
        elapsed(expected, now) <= MILLISECOND.min(self.time.rtt.srtt / 2)
    }
}
