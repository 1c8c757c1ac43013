//! Why a packet was not sent sooner: what had held the sender since the one before.

use super::rounds::{Progress, Rounds, UNKNOWN_RTT_NS, UNKNOWN_TIMER_NS};
use crate::judge::LONGEST_RTT_NS;

/// What held the sender between two packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// The receiver's window was full.
    ByReceiver,
    /// An acknowledgement released it: the congestion window, or the socket's buffer.
    ByAck,
    /// It sent again soon without a new acknowledgement: by a timer of pacing, or as the application wrote.
    Paced,
    /// It had nothing to send.
    Idle,
    /// It had nothing to send, or what it sent was lost before the capture point until a timer sent it again, or it waited for a round trip of unknown length.
    Unseen,
    /// Its packets pass evenly spaced, away from the sender: the application writes so, or the line lets no more through.
    Spaced,
    /// It had nothing to send, or its socket's buffer was full of what was on its way.
    Buffered,
}

/// Kinds of [`Held`].
pub(crate) const KINDS: usize = 7;
/// In the order in which those of one row are laid.
pub(super) const HELD: [Held; KINDS] = [
    Held::ByReceiver,
    Held::ByAck,
    Held::Paced,
    Held::Idle,
    Held::Unseen,
    Held::Spaced,
    Held::Buffered,
];
/// What follows an acknowledgement within this was released by it, nanoseconds; and within this share of a round trip.
const MAX_ANSWER_NS: i64 = 1_000_000;
const ANSWER_OF_RTT: i64 = 8;
const MIN_ANSWER_NS: i64 = 50_000;
/// The same away from the sender, where neither packets nor acknowledgements take equally long on their way.
const ANSWER_AWAY_OF_RTT: i64 = 2;
/// A sender that paces waits no longer than this share of a round trip.
const PACED_OF_RTT: i64 = 4;
/// Maximum difference of two times between packets that count as equal: this part of the later one.
const EQUAL_GAPS: u64 = 16;
/// Payload of a full segment, at least, bytes, unless the handshake says less: every path of IPv6 takes packets of 1,280 bytes (RFC 8200 section 5), of which
/// the headers of IPv6 and TCP take 60 and timestamps 12; of IPv4 few paths take less.
const MIN_FULL: u32 = 1_208;
/// Bytes of the smallest packet: the headers of IP (RFC 791 section 3.1) and TCP (RFC 9293 section 3.1).
const HEADERS: i64 = 40;

/// What follows an acknowledgement within this was released by it, nanoseconds.
fn answer_ns(rtt_ns: i64) -> i64 {
    (rtt_ns / ANSWER_OF_RTT).clamp(MIN_ANSWER_NS, MAX_ANSWER_NS)
}

impl Rounds {
    /// Payload of a full segment, bytes, where the largest one so far had `largest`. Away from the sender nothing tells a small path from small writes.
    #[inline]
    pub(crate) fn full(&self, largest: u32, near: bool) -> i64 {
        let least = if near { self.mss.min(MIN_FULL) } else { 0 };
        let full = match self.mss {
            0 => largest,
            // Some paths take less than the handshake says, but none of them so little.
            mss if largest < least.max(mss / 2) => mss,
            mss => largest.min(mss),
        };
        i64::from(full.max(1))
    }

    /// What is sent at `now` is the end of an answer that waited until all before it was acknowledged: no more than one for each time
    /// that data of the other end came, for a socket's small buffer looks the same.
    pub(super) fn note_short(&mut self, now: i64, progress: &Progress) {
        if progress.sent != progress.una {
            return; // As mostly.
        }
        let rtt_ns = progress.rtt_ns;
        let within_ns = match progress.near {
            true => answer_ns(rtt_ns),
            false => rtt_ns / ANSWER_AWAY_OF_RTT,
        };
        let released = self.heard.released_ns >= self.last.sent_ns
            && !self.heard.carried
            && now.saturating_sub(self.heard.released_ns) <= within_ns;
        let partial = i64::from(self.burst.next_len) % progress.full != 0;
        let answers = self.heard.asked_ns > self.held_short_ns;
        let nothing_again = self.again_ns < self.last.sent_ns && !progress.mending;
        if released && partial && answers && nothing_again {
            self.held_short.times += 1;
            let waited_ns = now.saturating_sub(self.last.sent_ns);
            self.held_short.ns = self.held_short.ns.saturating_add(waited_ns);
            self.held_short_ns = now;
        }
    }

    /// When new data was sent last, the receiver's window had no room for one more full segment, nor for half
    /// of all that it ever took, which a sender does not wait for (RFC 9293 section 3.8.6.2.1): on loopback interfaces a
    /// segment is as large as the window.
    pub(super) fn is_full(&self, progress: &Progress) -> bool {
        let flight = progress.sent.saturating_sub(progress.una);
        let window = self
            .largest_window
            .max(self.last.room.saturating_add(flight));
        // Nothing is known but that it was closed.
        let half = if window > 0 { window / 2 } else { i64::MAX };
        self.last.room < progress.full.min(half)
    }

    /// The last new data ended with a segment that is not full.
    pub(super) fn is_short(&self, progress: &Progress) -> bool {
        i64::from(self.last.len) % progress.full != 0
    }

    /// What held the sender until `now`; if it was two things, the time of the change and the second.
    pub(super) fn held(&self, now: i64, progress: &Progress) -> (Held, Option<(i64, Held)>) {
        let rtt_ns = match progress.rtt_ns {
            0 => UNKNOWN_RTT_NS,
            rtt => rtt,
        };
        let answer_ns = answer_ns(rtt_ns);
        let within = |ns: i64| {
            let since_ns = now.saturating_sub(self.heard.released_ns);
            self.heard.released_ns >= self.last.sent_ns && since_ns <= ns && !self.heard.carried
        };
        let released = within(answer_ns);
        if self.is_full(progress) {
            // What opened the window did not make it send: it had nothing. Away from the sender a queue may hold its answer up, for as
            // long as the way is.
            let way_ns = if progress.near { 0 } else { rtt_ns };
            let answered_ns = self.heard.opened_ns.saturating_add(way_ns);
            let since = Some(answered_ns).filter(|&ns| !released && ns < now);
            let waits = match self.may_hide_a_timer(now, rtt_ns, progress) {
                true => Held::Unseen,
                false => Held::Idle,
            };
            return (Held::ByReceiver, since.map(|since| (since, waits)));
        }
        let short = self.is_short(progress);
        let held = match released {
            // Just counted among the short ends that waited for an acknowledgement (`held_short`).
            _ if self.held_short_ns == now => Held::Idle,
            // A small buffer, too, is cut into segments of which the last is not full.
            true if short && progress.sent == progress.una && self.burst.bytes > progress.full => {
                Held::Buffered
            }
            true if short && progress.sent == progress.una => Held::Idle,
            true if short && self.sent_all_it_had(progress) => Held::Idle,
            true => Held::ByAck,
            false if !short && !progress.near && within(rtt_ns / ANSWER_AWAY_OF_RTT) => Held::ByAck,
            false if !short && self.paces(now, rtt_ns, progress) => Held::Paced,
            false if !short && !progress.near && self.is_evenly_spaced(now, rtt_ns) => Held::Spaced,
            false if !short && self.may_hide_a_timer(now, rtt_ns, progress) => Held::Unseen,
            false if !short && !progress.near && progress.sent > progress.una => Held::Buffered,
            // The next flight of a window comes after a round trip, of which nothing is known.
            false
                if !short
                    && !progress.near
                    && progress.rtt_ns == 0
                    && !self.is_idle(now, progress) =>
            {
                Held::Unseen
            }
            false => Held::Idle,
        };
        (held, None)
    }

    /// A lone segment that is not full left although something was on its way, and no acknowledgement had made room for it: nothing more waited to be sent,
    /// for a sender keeps what is less than a full segment until it has sent all there is (RFC 9293 section 3.8.6.2.1). That an acknowledgement came
    /// before the next one released nothing. A small buffer that is full sends what is not full, too, but only as acknowledgements come.
    fn sent_all_it_had(&self, progress: &Progress) -> bool {
        progress.near && self.burst.unreleased && self.burst.bytes < progress.full
    }

    /// Away from the sender, new data behind a full segment may be what a timer sent again: all of what was lost before was lost
    /// before the capture point. It is not where the packets before have the identifications just before.
    fn may_hide_a_timer(&self, now: i64, rtt_ns: i64, progress: &Progress) -> bool {
        let waited_ns = now.saturating_sub(self.last.sent_ns);
        let hidden = !progress.near && !progress.in_turn;
        hidden && waited_ns >= UNKNOWN_TIMER_NS.max(rtt_ns.saturating_mul(2))
    }

    /// Nothing was sent for longer than a round trip takes: it was not what released the next flight.
    fn is_idle(&self, now: i64, progress: &Progress) -> bool {
        progress.in_turn && now.saturating_sub(self.last.sent_ns) > LONGEST_RTT_NS
    }

    /// As much time has passed since the last packet as before that one, and no more than a line takes for the packet that comes `now`, whatever its
    /// rate: it takes the round trip of the smallest packet for that at most.
    fn is_evenly_spaced(&self, now: i64, rtt_ns: i64) -> bool {
        let ns = now.saturating_sub(self.last.sent_ns);
        let packet = i64::from(self.burst.next_len).saturating_add(HEADERS);
        let longest_ns = rtt_ns.saturating_mul(packet) / HEADERS;
        let even = ns.abs_diff(self.burst.before_ns) <= ns.unsigned_abs() / EQUAL_GAPS;
        even && ns <= longest_ns
    }

    /// What is sent at `now` without being released may be spaced by a timer: it comes soon, or, with data on its way, as soon
    /// as the rate says at which that was sent.
    fn paces(&self, now: i64, rtt_ns: i64, progress: &Progress) -> bool {
        let waited_ns = now.saturating_sub(self.last.sent_ns);
        let flight = progress.sent.saturating_sub(progress.una);
        // Bursts of more are an application's.
        let small = self.burst.bytes <= 2 * progress.full;
        let spacing_ns = match flight > 0 && small {
            true => (self.burst.bytes as f64 * rtt_ns as f64 / flight as f64) as i64,
            false => 0,
        };
        waited_ns <= (rtt_ns / PACED_OF_RTT).max(spacing_ns.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use inorder_base::vantage::Vantage;

    use crate::{Answer, Life, Limit, Limits, Recorder};

    const MS: i64 = 1_000_000;

    /// 4,000 segments of 1,000 bytes, of 1,448 that would be full, one each `apart_ns`. What 10 ms before had been sent is acknowledged just before each
    /// one of `one_of` leaves.
    fn short_segments(apart_ns: i64, one_of: i64) -> Limits {
        let mut recorder = Recorder::new(Vantage::Sender, None, 1_448);
        let behind = 10 * MS / apart_ns;
        for nth in 0..4_000 {
            let now = nth * apart_ns;
            if nth % one_of == 0 && nth > behind {
                let una = (nth - behind) * 1_000;
                recorder.acknowledged(&Answer {
                    now: now - 900_000,
                    una,
                    delivered: una,
                    edge: una + 400_000,
                    rtt_ns: Some(10 * MS),
                    ..Answer::default()
                });
            }
            recorder.sent(now, (nth + 1) * 1_000, 1_000, (0, false));
        }
        let life = Life {
            last_ns: 4_000 * apart_ns,
            over_ns: 4_000 * apart_ns,
            mss: 1_448,
            rtt_ns: Some(10 * MS),
            answered: true,
            ..Life::default()
        };
        recorder.finish(&life).1
    }

    #[test]
    fn what_follows_a_lone_segment_that_was_not_full_waited_for_the_application() {
        let limits = short_segments(MS, 2);
        let held = limits.share_of(Limit::Application.into());
        assert!(held > 0.99, "{limits:?}");
    }

    #[test]
    fn short_segments_that_acknowledgements_release_may_be_a_small_buffers() {
        let limits = short_segments(2 * MS, 1);
        let buffer = limits.share_where(|set| set.contains(Limit::SendBuffer));
        assert!(buffer > 0.9, "{limits:?}");
    }
}
