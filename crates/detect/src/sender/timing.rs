//! Time: round trips, when each segment was due, and how late the late ones are.
//!
//! Lateness counts from when a segment would have arrived in its turn, between its neighbours, so that the
//! queues which all of them stood in do not blur it. What comes late by another way comes late by much the
//! same each time: that tells where in a compressed ACK a late arrival belongs, and which discarded original an
//! unexplained ACK ([`super::unexplained`]) was for.

use super::blocks::Blocks;
use super::board::Sent;
use super::filled::Filled;
use super::lateness::Density;
use super::outstanding::Outstanding;
use super::report::Report;
use super::ring::Ring;

/// Jitter of hosts and links that we do not try to explain, nanoseconds.
pub(super) const PATH_JITTER_NS: i64 = 30_000;
/// Capture timestamps are assumed accurate to this; closer differences mean nothing, nanoseconds.
pub(super) const CLOCK_ACCURACY_NS: i64 = 5_000;
/// Most segments of an ACK that still count as acknowledged at once.
const MAX_SEGMENTS_AT_ONCE: usize = 2;
/// Minimum number of late arrivals with about the same lateness that make it usual.
const MIN_ALIKE_LATE: usize = 3;
/// Minimum number of late arrivals from which the usual lateness is estimated.
const MIN_LATE: usize = 2;
/// Late originals that show a habit, and how many times their spread (half the distance between the quartiles) the usual
/// lateness is where they have one.
const MIN_LATE_OF_HABIT: usize = 5;
const MIN_LATE_OVER_SPREAD: i64 = 20;
/// How long an unexplained ACK waits for the hole it belongs to, at least, and in round trips: the
/// retransmission has to be caused, sent and acknowledged.
const MIN_WAIT_FOR_HOLE_NS: i64 = 200_000_000;
const WAIT_FOR_HOLE_RTTS: i64 = 3;
/// The same in multiples of the longest lateness among the last ones, which is limited.
const WAIT_FOR_HOLE_LATENESSES: i64 = 2;
const MAX_WAIT_FOR_LATE_NS: i64 = 5_000_000_000;
/// Round trips that can be measured for each that cannot, at most, where the clock is too coarse for them.
const MAX_TIMED_OF_COARSE: u64 = 8;
/// Round-trip time that is assumed while none has been measured, nanoseconds.
const ASSUMED_RTT_NS: i64 = 10_000_000;

/// What this flow has shown of time so far.
#[derive(Debug)]
pub(super) struct Timing {
    /// Shortest round trip seen, the handshake's included, nanoseconds.
    pub(super) min_rtt: Option<i64>,
    /// Smoothed round trip of data that met no hole, nanoseconds.
    pub(super) rtt: Option<i64>,
    /// Round trips measured.
    pub(super) rtt_samples: u64,
    /// Packets that were acknowledged at the time at which they were sent.
    no_time: u64,
    /// Time by which originals whose arrival is known exactly came late, nanoseconds.
    pub(super) lateness: Ring,
    /// Time between arrivals of segments that had queued on the way, nanoseconds.
    spacing: Ring,
    /// One past the highest byte reported so far.
    top: i64,
    /// `top` before the present ACK: data above it that this ACK reports arrived in order.
    pub(super) turn: i64,
    /// When what lies just below `top` arrived, as far as its ACK tells.
    reached_ns: i64,
}

heap!(Timing: lateness, spacing);

impl Default for Timing {
    fn default() -> Self {
        Timing {
            min_rtt: None,
            rtt: None,
            rtt_samples: 0,
            no_time: 0,
            lateness: Ring::default(),
            spacing: Ring::default(),
            top: 0,
            turn: 0,
            reached_ns: i64::MIN / 2,
        }
    }
}

impl Timing {
    /// A round trip to the receiver is known to take as little as `ns` (handshake included).
    #[inline]
    pub(super) fn note_rtt(&mut self, ns: i64) {
        if ns > 0 && self.min_rtt.is_none_or(|m| ns < m) {
            self.min_rtt = Some(ns);
        }
    }

    /// A segment that was sent once was acknowledged after `sample` nanoseconds.
    #[inline]
    pub(super) fn sample_rtt(&mut self, sample: i64, had_hole: bool) {
        if sample <= 0 {
            self.no_time += u64::from(sample == 0);
            return;
        }
        self.rtt_samples += 1;
        self.min_rtt = Some(self.min_rtt.map_or(sample, |m| m.min(sample)));
        if !had_hole {
            // The gain is 1/8 (RFC 6298 section 2 step (2.3)).
            self.rtt = Some(self.rtt.map_or(sample, |r| r + (sample - r) / 8));
        }
    }

    /// The capture's clock is too coarse for the round trip: what it calls simultaneous, or one tick apart, may be in either order.
    pub(super) fn is_coarse(&self) -> bool {
        self.no_time * MAX_TIMED_OF_COARSE > self.rtt_samples
    }

    /// The usual round trip, or the shortest; 0 if none is known.
    pub(super) fn usual_rtt(&self) -> i64 {
        self.rtt.or(self.min_rtt).unwrap_or(0)
    }

    /// The usual round trip, no shorter than the shortest one `least`.
    pub(super) fn usual_from(&self, least: i64) -> i64 {
        self.rtt.map_or(least, |r| r.max(least))
    }

    /// For densities and rates, a round trip is needed even if none is known.
    pub(super) fn some_rtt(&self) -> i64 {
        self.rtt.or(self.min_rtt).unwrap_or(ASSUMED_RTT_NS).max(1)
    }

    /// The shortest round trip, or what is assumed of it.
    pub(super) fn some_min_rtt(&self) -> i64 {
        self.min_rtt.unwrap_or(ASSUMED_RTT_NS).max(1)
    }

    /// How long what may have been refused is waited for, nanoseconds.
    pub(super) fn patience(&self) -> i64 {
        let latest = self.lateness.values().last().copied().unwrap_or(0);
        let late = latest.saturating_mul(WAIT_FOR_HOLE_LATENESSES);
        let round_trips = self.usual_rtt().saturating_mul(WAIT_FOR_HOLE_RTTS);
        MIN_WAIT_FOR_HOLE_NS
            .max(round_trips)
            .max(late.min(MAX_WAIT_FOR_LATE_NS))
    }

    /// Originals have come so late that one may have come behind the retransmission of another: by half of a round trip.
    pub(super) fn late_enough_to_be_refused(&self) -> bool {
        let latest = self.lateness.values().last().copied().unwrap_or(0);
        latest.saturating_mul(2) >= self.some_min_rtt()
    }

    /// An ACK at `now` advances to `number` while nothing is missing.
    #[inline]
    pub(super) fn advance_in_order(&mut self, number: i64, now: i64) {
        self.turn = self.top;
        if number > self.top {
            (self.top, self.reached_ns) = (number, now);
        }
    }

    /// Notes of the segments that an ACK at `now` is the first to report higher data than, and of those it reports in
    /// their turn, when they arrived or should have: after the one below, no sooner than the path lets
    /// them, a segment's time apart when they queued. What is reported only now was not there when the ACK
    /// before left, at `since`.
    pub(super) fn expect(
        &mut self,
        out: &mut Outstanding,
        (number, blocks): (i64, &Blocks),
        since: i64,
        now: i64,
    ) {
        self.turn = self.top;
        let top = out.top_reported(blocks, number);
        if top <= self.top {
            return;
        }
        let from = std::mem::replace(&mut self.top, top);
        if number >= top {
            self.reached_ns = now;
            return; // No hole, nothing that may come late.
        }
        let Some(rtt) = self.min_rtt else { return };
        let first = out.board.find(from);
        let above = out.board.tail_mut(first);
        let count = above.iter().take_while(|s| s.start < top).count();
        let reported = &mut above[..count];
        self.note_spacing(reported, rtt, since, now.saturating_sub(since));
        let mut at = self.reached_ns.min(now);
        let room = now.saturating_sub(at) / count.max(1) as i64;
        let spacing = self.spacing().min(room);
        for s in reported {
            at = at
                .saturating_add(spacing)
                .max(s.sent_ns.saturating_add(rtt));
            if s.start < number || blocks.any(|b| (b.0..b.1).contains(&s.start)) {
                at = at.max(since);
            }
            at = at.min(now);
            s.due_ns = at;
        }
        self.reached_ns = at;
    }

    /// Segments acknowledged at once that could have been there before the ACK before came one behind the
    /// other out of a queue.
    fn note_spacing(&mut self, reported: &[Sent], rtt: i64, since: i64, span: i64) {
        let few = (1..=MAX_SEGMENTS_AT_ONCE).contains(&reported.len()) && span > 0;
        let queued = |s: &Sent| s.sent_ns.saturating_add(rtt) < since;
        if few && reported.iter().all(queued) {
            self.spacing.push(span / reported.len() as i64);
        }
    }

    /// Time between two segments behind one another out of a queue. What waits for its ACK or comes out of an
    /// empty queue takes longer, so the lower values are the ones to believe.
    #[inline]
    fn spacing(&self) -> i64 {
        self.spacing.quartiles().map_or(0, |q| q.0)
    }

    /// How far off an arrival may be from where it is expected: the segments before and after it are as near,
    /// and clocks and hosts are no better.
    #[inline]
    pub(super) fn jitter(&self) -> i64 {
        let spacing = self.spacing();
        spacing.saturating_add(spacing / 4).max(PATH_JITTER_NS)
    }

    /// When the ACK of an original was due that was sent at `sent_ns`: as noted, or at best.
    pub(super) fn due(&self, noted_ns: i64, sent_ns: i64) -> i64 {
        if noted_ns != 0 {
            return noted_ns;
        }
        sent_ns.saturating_add(self.min_rtt.unwrap_or(0))
    }

    /// When a segment that is reported now arrived, as far as that is known: in its turn, or as late as usual.
    pub(super) fn arrival_of(&self, sent: &Sent) -> i64 {
        let due = self.due(sent.due_ns, sent.sent_ns);
        if sent.start >= self.turn {
            return due;
        }
        due.saturating_add(self.usual_lateness().map_or(0, |m| m.0))
    }

    /// What is acknowledged at once is exact in its lateness: what fills the left edge, and what is reported
    /// `alone` while SACKs are not held back.
    pub(super) fn note_lateness(&mut self, report: &Report, now: i64, had_hole: bool, alone: bool) {
        let alone = alone && report.sent.start < self.turn;
        if had_hole && (report.left_edge || alone) && report.sent.due_ns != 0 {
            self.lateness.push(now.saturating_sub(report.sent.due_ns));
        }
    }

    /// Learns the lateness of a duplicate that only the original can be.
    pub(super) fn note_duplicate(&mut self, f: &Filled, now: i64) {
        if f.copies.count == 1 && f.due_ns != 0 {
            self.lateness.push(now.saturating_sub(f.due_ns));
        }
    }

    /// How far a lateness between `least_ns` and `most_ns` is from what some late ones were (three of them, so
    /// that no chance one counts): the late ones may have more than one habit, as when every other must wait
    /// for a packet to leave before it.
    pub(super) fn off_usual(&self, least_ns: i64, most_ns: i64) -> Option<i64> {
        let off = self.lateness.nth_nearest(least_ns, most_ns, MIN_ALIKE_LATE);
        off.filter(|_| self.lateness.len() >= MIN_LATE)
    }

    /// How late the late ones usually are, and how much that varies (half the distance between the quartiles),
    /// nanoseconds.
    pub(super) fn usual_lateness(&self) -> Option<(i64, i64)> {
        let (late, spread) = self.lateness.middle(MIN_LATE)?;
        let few = self.lateness.len() < 5;
        let spread = if few {
            spread.max(self.jitter())
        } else {
            spread
        };
        Some((late, spread))
    }

    /// Most late originals have the same lateness.
    pub(super) fn late_by_habit(&self) -> bool {
        let usual = self.lateness.middle(MIN_LATE_OF_HABIT);
        usual.is_some_and(|(late, spread)| spread.saturating_mul(MIN_LATE_OVER_SPREAD) <= late)
    }

    /// How far off most late originals are from others of their kind, twice over; negative while too few are
    /// known.
    fn sharpest(&self) -> i64 {
        let off = self.lateness.cohesion(MIN_ALIKE_LATE);
        off.map_or(-1, |off| off.saturating_mul(2).max(CLOCK_ACCURACY_NS))
    }

    /// The shape of the density of lateness; the events it stands on are in `lateness`.
    pub(super) fn density(&self) -> Density {
        let rtt = self.some_rtt();
        let (sharpest, jitter) = (self.sharpest(), self.jitter());
        let sharp = if sharpest > 0 { sharpest } else { jitter };
        Density {
            scales: [sharp.min(jitter) as f64, sharp.max(jitter) as f64 / 2.0],
            range: (
                self.jitter() as f64,
                rtt.saturating_mul(8).max(self.patience()) as f64,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Explanations;
    use inorder_base::sequence::Offsets;

    const MS: i64 = 1_000_000;

    #[test]
    fn samples_behind_a_hole_shorten_the_round_trip_and_do_not_smooth_it() {
        let mut timing = Timing::default();
        timing.sample_rtt(0, false);
        assert_eq!((timing.min_rtt, timing.usual_rtt()), (None, 0));
        timing.sample_rtt(16 * MS, false);
        timing.sample_rtt(24 * MS, false);
        timing.sample_rtt(8 * MS, true);
        assert_eq!((timing.min_rtt, timing.rtt), (Some(8 * MS), Some(17 * MS)));
        assert_eq!(timing.rtt_samples, 3);
    }

    #[test]
    fn a_hole_is_due_when_what_lies_above_it_is_reported() {
        let mut timing = Timing::default();
        timing.note_rtt(10 * MS);
        let mut out = Outstanding::new(Offsets::new(0), false, Explanations::ALL);
        for i in 0..3 {
            let seg = segment!(ts_ns: i * MS);
            out.sent(&seg, i * 100, 100);
        }
        let mut seg = segment!(sack_len: 1);
        seg.sack[0] = (200, 300);
        let blocks = out.blocks(&seg);
        timing.expect(&mut out, (0, &blocks), MS, 12 * MS);
        let due: Vec<i64> = out.board.iter().map(|s| s.due_ns / MS).collect();
        assert_eq!((due, timing.turn), (vec![10, 11, 12], 0));
        timing.expect(&mut out, (0, &blocks), 12 * MS, 12 * MS);
        assert_eq!(timing.turn, 300);
    }

    #[test]
    fn a_habit_needs_three_of_a_kind() {
        let mut timing = Timing::default();
        timing.lateness.push(20 * MS);
        assert_eq!(timing.off_usual(20 * MS, 20 * MS), None);
        for ms in [20, 90, 20] {
            timing.lateness.push(ms * MS);
        }
        assert_eq!(timing.off_usual(20 * MS, 20 * MS), Some(0));
        assert_eq!(timing.off_usual(90 * MS, 90 * MS), Some(70 * MS));
    }
}
