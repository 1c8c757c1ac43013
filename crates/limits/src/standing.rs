//! A line that is full under a queue which holds as much as the path or more, whatever else seems to hold the sender.
//!
//! A window or a buffer that is full there bounds the queue and not the rate: with half of what is in flight the line would be as
//! busy, and with more only the queue would grow (Kleinrock, "Internet congestion control using the power metric", 2018; Cardwell and others,
//! "BBR: congestion-based congestion control", ACM Queue 14(5), 2016, figure 1).

use super::Limit;
use super::overlays::Overlay;
use super::state::{AT_RATE, Course, State};

/// The queue holds as much as the path, or more, if the round trip is this many times the shortest one.
const ROUND_TRIPS: i64 = 2;

impl Course<'_> {
    /// Notes where the line is full under a long queue. It carries `most` bytes a second.
    pub(super) fn note_standing(&self, states: &mut [State], most: f64) {
        for (i, state) in states.iter_mut().enumerate() {
            // In a row with a recovery more arrives than its own packets tell.
            let arrived = self.series.arrived(self.start(i), self.until(i));
            let rate = arrived.unwrap_or(0.0).max(state.rate);
            state.standing =
                state.queue && self.is_long(state.rtt_ns) && self.is_of_line(rate, most);
        }
    }

    /// A round trip of `ns` is that of a long queue.
    pub(super) fn is_long(&self, ns: i64) -> bool {
        ns >= self.least_ns.saturating_mul(ROUND_TRIPS)
    }

    /// As much arrives as the line carries, in the long run and from one packet to the next: what a window releases comes in bursts that are
    /// faster than the window is on average.
    pub(super) fn is_of_line(&self, rate: f64, most: f64) -> bool {
        self.trains.is_some_and(|trains| rate >= AT_RATE * trains) && rate >= AT_RATE * most
    }

    /// A recovery takes no time of its own while the line stays full under a long queue, at `most` bytes a second: the line holds it.
    pub(super) fn fill_recoveries(&self, overlays: &mut [Overlay], states: &[State], most: f64) {
        for over in overlays {
            let full = || {
                let rate = self.series.arrived(over.start_ns, over.end_ns);
                rate.is_some_and(|rate| self.is_of_line(rate, most))
            };
            let recovery = |limit| matches!(limit, Limit::RecoveryNeeded | Limit::RecoveryUnneeded);
            if over.limits.iter().all(recovery) && self.stands_around(over, states) && full() {
                over.limits = Limit::Line.into();
            }
        }
    }

    /// A long queue stands before or behind, and no round trip in between is that of a shorter one.
    fn stands_around(&self, over: &Overlay, states: &[State]) -> bool {
        let next = self
            .rows
            .partition_point(|row| row.start_ns <= over.start_ns);
        let behind = self.rows.partition_point(|row| row.start_ns < over.end_ns);
        let stands = |at: usize| states.get(at).is_some_and(|state| state.standing);
        let from = self.rtts.partition_point(|s| s.0 <= over.start_ns);
        let within = self
            .rtts
            .iter()
            .skip(from)
            .take_while(|s| s.0 <= over.end_ns);
        let around = next.checked_sub(1).is_some_and(stands) || stands(behind);
        around && within.map(|s| s.1).all(|ns| self.is_long(ns))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use inorder_base::cause::Cause;
    use inorder_base::vantage::Vantage;
    use inorder_cost::{RecoveryVerdict, Reduction};

    use crate::{Answer, Life, Limit, Limits, Recorder};

    const MS: i64 = 1_000_000;
    const MSS: i64 = 1_000;

    /// A sender that keeps `flight` segments on their way over a line of one in a millisecond, with a round trip of 20 ms and a queue without an end, in
    /// which the segment `lost` is missing until it is sent again and comes 500 segments later. The receiver's window has room for `window` segments.
    fn over_line(flight: i64, window: i64, lost: Option<i64>) -> Limits {
        let mut recorder = Recorder::new(Vantage::Sender, None, MSS as u32);
        let mut on_line: VecDeque<(i64, i64)> = VecDeque::new();
        let (mut sent, mut rtts, mut again_ns) = (0, Vec::new(), None);
        for nth in 0..flight {
            sent += MSS;
            recorder.sent(nth, sent, MSS as u32, (0, false));
            on_line.push_back((nth, sent));
        }
        let mut now = 0;
        for arrived in 1..3_000 {
            now = 20 * MS + arrived * MS;
            let Some((sent_ns, end)) = on_line.pop_front() else {
                break;
            };
            let (missing, found) = (lost.unwrap_or(5_000), lost.map(|at| at + 500));
            let una = match arrived >= missing && found.is_some_and(|at| arrived < at) {
                true => (missing - 1) * MSS,
                false => end,
            };
            if arrived == missing + 3 {
                again_ns = Some(now);
                recorder.sent_again(now, MSS as u32);
            }
            if again_ns.is_none() {
                rtts.push((now, now - sent_ns));
            }
            recorder.acknowledged(&Answer {
                now,
                una,
                delivered: end,
                edge: una + window * MSS,
                rtt_ns: Some(now - sent_ns),
                sacks: una < end,
                ..Answer::default()
            });
            sent += MSS;
            recorder.sent(now + 10_000, sent, MSS as u32, (0, false));
            on_line.push_back((now + 10_000, sent));
        }
        let recovery = again_ns.map(|start_ns| Reduction {
            start_ns,
            seq_offset: 0,
            timeout: false,
            verdict: RecoveryVerdict::Loss,
            cause: Cause::QueueLoss,
        });
        let life = Life {
            last_ns: now,
            over_ns: now,
            mss: MSS as u32,
            rtt_ns: Some(20 * MS),
            rtts: &rtts,
            recoveries: recovery.as_slice(),
            answered: true,
            ..Life::default()
        };
        recorder.finish(&life).1
    }

    #[test]
    fn a_receivers_window_that_stands_in_the_queue_is_no_limit() {
        let limits = over_line(100, 100, None);
        assert!(limits.share_of(Limit::Line.into()) > 0.8, "{limits:?}");
        assert!(limits.share_where(|set| set.contains(Limit::ReceiverWindow)) < 0.1);
        // With 22 segments two stand in the queue: the window is nearly what the path holds.
        let limits = over_line(22, 22, None);
        let window = limits.share_of(Limit::ReceiverWindow.into());
        assert!(window > 0.8, "{limits:?}");
    }

    #[test]
    fn a_flight_that_stands_in_the_queue_is_no_buffers() {
        let limits = over_line(100, 1_000, None);
        assert!(limits.share_of(Limit::Line.into()) > 0.8, "{limits:?}");
        assert!(limits.share_where(|set| set.contains(Limit::SendBuffer)) < 0.1);
    }

    #[test]
    fn a_recovery_while_the_line_stays_full_is_the_lines_time() {
        let limits = over_line(100, 1_000, Some(1_000));
        assert!(limits.share_of(Limit::Line.into()) > 0.9, "{limits:?}");
        let recovery = |set: crate::LimitSet| set.contains(Limit::RecoveryNeeded);
        assert!(limits.share_where(recovery) < 0.01, "{limits:?}");
    }
}
