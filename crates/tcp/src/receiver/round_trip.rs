//! The round-trip time as the receiver of data sees it, by which the window is tuned (Linux `rcv_rtt_est`).
//!
//! A full segment with a new echo of a timestamp is a measurement: shorter than the estimate it replaces it, otherwise it counts
//! an eighth. Where a queue fills, the time so follows the queue, and the window what arrives in that time. Besides, the time in
//! which a whole window arrives is an upper bound, the only measurement without timestamps.

use crate::Nanos;
use crate::seq::Seq;
use crate::time::elapsed;

/// The estimate.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// Nanoseconds; 0 before the first measurement.
    pub(super) time: Nanos,
    last_echo: Option<u32>,
    /// The end of the window at a time, and that time.
    window: Option<(Seq, Nanos)>,
}

impl RoundTrip {
    /// Data has arrived whose segment echoes a timestamp of this age.
    pub(super) fn echoed(&mut self, echo: u32, age: Option<Nanos>, is_full: bool) {
        if self.last_echo.replace(echo) == Some(echo) || !is_full {
            return;
        }
        let Some(age) = age else {
            return;
        };
        self.time = match self.time {
            known if known == 0 || age < known => age,
            known => known + (age - known) / 8,
        };
    }

    /// Data in order has arrived up to `rcv_nxt`, and the window reaches to `edge`.
    pub(super) fn arrived(&mut self, now: Nanos, rcv_nxt: Seq, edge: Seq) {
        match self.window {
            Some((end, _)) if rcv_nxt < end => return,
            Some((_, since)) => {
                let took = elapsed(now, since).max(1);
                if self.time == 0 || took < self.time {
                    self.time = took;
                }
            }
            None => {}
        }
        self.window = Some((edge, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MS;

    #[test]
    fn a_shorter_time_counts_at_once_and_a_longer_one_by_an_eighth() {
        let mut trip = RoundTrip::default();
        trip.echoed(1, Some(40 * MS), true);
        assert_eq!(trip.time, 40 * MS);
        // The same echo is no new measurement, and neither is that of a small segment.
        trip.echoed(1, Some(90 * MS), true);
        trip.echoed(2, Some(90 * MS), false);
        assert_eq!(trip.time, 40 * MS);
        trip.echoed(3, Some(120 * MS), true);
        assert_eq!(trip.time, 50 * MS);
        trip.echoed(4, Some(30 * MS), true);
        assert_eq!(trip.time, 30 * MS);
    }

    #[test]
    fn without_timestamps_the_shortest_time_of_a_window_counts() {
        let mut trip = RoundTrip::default();
        trip.arrived(10 * MS, 1_000, 5_000);
        trip.arrived(30 * MS, 4_000, 9_000);
        assert_eq!(trip.time, 0);
        trip.arrived(60 * MS, 5_000, 10_000);
        assert_eq!(trip.time, 50 * MS);
        trip.arrived(80 * MS, 10_000, 20_000);
        trip.arrived(200 * MS, 20_000, 30_000);
        assert_eq!(trip.time, 20 * MS);
    }
}
