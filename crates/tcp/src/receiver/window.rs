//! The advertised window: the free part of the receive buffer, and the size of the buffer.
//!
//! Autotuning is Linux's dynamic right-sizing (`tcp_rcv_space_adjust`, `tcp_grow_window`; Fisk and Feng, LANL, 2001).
//! Once per round trip the buffer is set to twice what the application read in it, plus twice the growth since the
//! previous round trip. In between, the advertised part grows by two segments with every segment that arrives (by twice its
//! length, if the host has merged several), which is then acknowledged at once. Without SACK, arrivals out of order do not
//! increase it: a larger window would hide a duplicate acknowledgement. A buffer of fixed size (`SO_RCVBUF`) is advertised
//! in the same way. Both begin with [`Receiving::offer`](crate::config::Receiving::offer) at most.

use super::round_trip::RoundTrip;
use crate::Nanos;
use crate::config::{BeyondWindow, Config, WindowAccount, WindowUpdate};
use crate::seq::Seq;
use crate::time::elapsed;

/// Additional segments when the buffer size is computed.
const CUSHION: u64 = 16;
/// Number of segments with which a sender may begin; the first measurement is compared with it (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;

/// Memory of a segment besides its payload, bytes: room for headers (`MAX_TCP_HEADER`, 320), `struct sk_buff` (256) and
/// `struct skb_shared_info` (320), as on a processor with lines of 64 bytes.
const MEMORY_BESIDES: u64 = 320 + 256 + 320;
/// Steps in which that memory is increased, bytes.
const MEMORY_STEP: u64 = 128;

/// The receive buffer and the advertised right edge.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    pub(super) account: WindowAccount,
    pub(super) beyond: BeyondWindow,
    /// The shift that was announced (RFC 7323 section 2.2).
    pub(super) scale: u8,
    update: WindowUpdate,
    /// Largest buffer, bytes.
    most: u64,
    /// Current size of the buffer, bytes (Linux `window_clamp`).
    buffer: u64,
    /// The advertised part of it, bytes (Linux `rcv_ssthresh`).
    offer: u64,
    /// Right edge as advertised; it never moves back (RFC 7323 section 2.4).
    right_edge: Seq,
    whole_segments: bool,
    tuning: Option<Tuning>,
}

/// The measurement of a round trip.
#[derive(Debug)]
struct Tuning {
    /// Bytes read in the previous round trip.
    read: u64,
    from: Seq,
    since: Nanos,
    round_trip: RoundTrip,
}

/// The used part of the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) rcv_nxt: Seq,
    /// In order and not read, bytes.
    pub(super) unread: u64,
    /// Out of order, bytes.
    pub(super) waiting: u64,
    /// Payload of a full segment, bytes.
    pub(super) mss: u32,
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        let most = config.receive.buffer.clamp(1, 1 << 30);
        let buffer = config
            .receive
            .autotuning
            .map_or(most, |first| first.clamp(1, most));
        Self {
            account: config.receive.account,
            beyond: config.receive.beyond,
            scale: 0,
            update: config.receive.update,
            most,
            buffer,
            offer: buffer.min(config.receive.offer.max(1)),
            right_edge: 0,
            whole_segments: config.receive.offer_whole_segments,
            tuning: config.receive.autotuning.map(|_| Tuning {
                read: FIRST_ROUND * u64::from(config.mss),
                from: 0,
                since: 0,
                round_trip: RoundTrip::default(),
            }),
        }
    }

    pub(super) fn start(&mut self, rcv_nxt: Seq) {
        self.right_edge = rcv_nxt;
        if let Some(tuning) = &mut self.tuning {
            tuning.from = rcv_nxt;
        }
    }

    /// The handshake is complete: the first round trip is measured from here (Linux `tcp_init_buffer_space`).
    pub(super) fn opens(&mut self, now: Nanos) {
        if let Some(tuning) = &mut self.tuning {
            tuning.since = now;
            tuning.read = self.offer.min(tuning.read).max(1);
        }
    }

    /// The handshake begins in which segments with `mss` bytes of payload are agreed on: what is advertised at first holds
    /// whole ones. Returns it.
    pub(super) fn round_offer(&mut self, mss: u64) -> u64 {
        if self.whole_segments && self.buffer > mss.max(1) {
            let whole = self.buffer - self.buffer % mss.max(1);
            self.offer = self.offer.min(whole);
        }
        self.offer
    }

    /// Right edge of the window.
    pub(super) fn right_edge(&self) -> Seq {
        self.right_edge
    }

    pub(super) fn has_room(&self, held: &Held) -> bool {
        self.free(held) > 0
    }

    fn free(&self, held: &Held) -> u64 {
        let kept = match self.account {
            WindowAccount::Unread | WindowAccount::Room => held.unread,
            WindowAccount::Memory => {
                (held.unread + held.waiting).saturating_sub(u64::from(held.mss))
            }
        };
        self.buffer.saturating_sub(kept)
    }

    fn wanted_edge(&self, held: &Held) -> Seq {
        held.rcv_nxt + self.free(held).min(self.offer)
    }

    /// True if reading has opened the window enough to inform the peer.
    pub(super) fn opened(&self, held: &Held) -> bool {
        let wanted = self.wanted_edge(held);
        match self.update {
            WindowUpdate::TwoSegments => {
                let step = u64::from(held.mss).saturating_mul(2).min(self.offer / 2);
                wanted.saturating_sub(self.right_edge) >= step.max(1)
            }
            WindowUpdate::Doubled => {
                let known = self.right_edge.saturating_sub(held.rcv_nxt);
                let room = wanted - held.rcv_nxt;
                let segment = u64::from(held.mss).min(self.offer / 2).max(1);
                2 * known <= self.offer && room >= segment.max(2 * known)
            }
        }
    }

    /// The window field: the free space, scaled (RFC 7323 section 2.3). The right edge never moves back, and advances only by at least a full
    /// segment or half of the advertised part (RFC 9293 section 3.8.6.2.2).
    pub(super) fn advertise(&mut self, held: &Held, scaled: bool) -> u16 {
        let scale = if scaled { self.scale } else { 0 };
        let wanted = self.wanted_edge(held);
        let step = match self.account {
            WindowAccount::Room => 1,
            _ => u64::from(held.mss).min(self.offer / 2).max(1),
        };
        let unit = 1u64 << scale;
        let old = self.right_edge.saturating_sub(held.rcv_nxt);
        let field = if wanted >= self.right_edge + step {
            (wanted - held.rcv_nxt) >> scale
        } else {
            // Rounding down would withdraw part of the advertised window.
            old.div_ceil(unit)
        };
        let field = field.min(u64::from(u16::MAX));
        self.right_edge = self.right_edge.max(held.rcv_nxt + (field << scale));
        field as u16
    }

    /// A segment of this length has been stored. True if more is advertised now, which must be reported at once.
    pub(super) fn grow(&mut self, held: &Held, length: u64) -> bool {
        let room = self.free(held).saturating_sub(self.offer);
        self.offer += room.min(2 * u64::from(held.mss).max(length));
        room > 0
    }

    pub(super) fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// A segment echoes a timestamp of this age.
    pub(super) fn echoed(&mut self, echo: u32, age: Option<Nanos>, is_full: bool) {
        if let Some(tuning) = &mut self.tuning {
            tuning.round_trip.echoed(echo, age, is_full);
        }
    }

    /// Data in order has arrived.
    pub(super) fn arrived(&mut self, now: Nanos, rcv_nxt: Seq) {
        if let Some(tuning) = &mut self.tuning {
            let edge = self.right_edge.max(rcv_nxt);
            tuning.round_trip.arrived(now, rcv_nxt, edge);
        }
    }

    /// The application has read up to `read_to`.
    pub(super) fn measure(&mut self, now: Nanos, read_to: Seq, mss: u32) {
        let Some(tuning) = &mut self.tuning else {
            return;
        };
        let rtt = tuning.round_trip.time;
        if rtt == 0 || elapsed(now, tuning.since) < rtt {
            return;
        }
        let mss = u64::from(mss);
        let before = tuning.read;
        let read = read_to.saturating_sub(tuning.from);
        (tuning.from, tuning.since) = (read_to, now);
        if read <= before {
            return;
        }
        tuning.read = read;
        let wanted = 2 * read + CUSHION * mss;
        let growth = u128::from(wanted) * u128::from(read - before) / u128::from(before);
        let growth = u64::try_from(growth).unwrap_or(self.most).min(self.most);
        let segments = (wanted + 2 * growth) / mss;
        let window = segments.saturating_mul(offered_for(mss));
        self.buffer = window.min(self.most).max(self.buffer);
    }
}

/// Bytes of window that the memory of a segment with `mss` bytes of payload makes: half of that memory, which comes in steps
/// (Linux `tcp_rcv_space_adjust`: `SKB_TRUESIZE(advmss + MAX_TCP_HEADER)`, and 128 more until half of it holds the payload).
fn offered_for(mss: u64) -> u64 {
    let first = mss + MEMORY_BESIDES;
    let short = (2 * mss).saturating_sub(first);
    (first + short.next_multiple_of(MEMORY_STEP)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MS;
    use crate::profiles::linux_6;

    #[test]
    fn half_of_a_segments_memory_is_window() {
        // 1448 + 896 = 2344, and five steps until half of it is at least 1448: 2984.
        assert_eq!(offered_for(1448), 1492);
        // Small segments need no step: half of 536 + 896 is more than their payload.
        assert_eq!(offered_for(536), 716);
    }

    /// As a capture of Linux 6.1 has it (12.9 Mbit/s, 14 ms): the first data comes 2 ms after the handshake, the second flight
    /// 14 ms after it. The first round trip ends there, with 11 segments read; 21 segments follow. 11 make 44 segments of window, which is
    /// less than there is, 21 make 163, which is 243,196 bytes.
    #[test]
    fn the_first_round_trip_begins_with_the_handshake() {
        let mut window = ReceiveWindow::new(&linux_6().with(|config| {
            config.receive.autotuning = Some(65_536);
            config.receive.buffer = 8 << 20;
        }));
        let read = |segments: u64| 1 + segments * 1448;
        window.start(1);
        window.opens(14 * MS);
        window.echoed(1, Some(14 * MS), true);
        window.measure(16 * MS, read(1), 1448);
        window.measure(28 * MS, read(11), 1448);
        assert_eq!(window.buffer, 44 * 1492);
        window.measure(42 * MS, read(32), 1448);
        assert_eq!(window.buffer, 163 * 1492);
    }
}
