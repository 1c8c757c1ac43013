//! The round trips that a log has.

use crate::space::MAX_IN_FLIGHT;

/// Round trips with the times at which the log says them, nanoseconds. Where none is known they are 0.
#[derive(Clone, Default, Debug)]
pub(crate) struct RoundTrips {
    smoothed: Vec<(i64, i64)>,
    measured: Vec<(i64, i64)>,
}

inorder_base::heap!(RoundTrips: smoothed, measured);

impl RoundTrips {
    pub(crate) fn smoothed(&mut self, now_ns: i64, rtt_ns: i64) {
        self.smoothed.push((now_ns, rtt_ns));
    }

    pub(crate) fn measured(&mut self, now_ns: i64, rtt_ns: i64) {
        self.measured.push((now_ns, rtt_ns));
    }

    /// Each that was measured, and when.
    pub(crate) fn all(&self) -> &[(i64, i64)] {
        &self.measured
    }

    pub(crate) fn latest_ns(&self) -> i64 {
        self.measured.last().map_or(0, |(_, ns)| *ns)
    }

    /// The greater of the smoothed and the latest one (RFC 9002 section 6.1.2).
    pub(crate) fn greater_ns(&self) -> i64 {
        let smoothed = self.smoothed.last().map_or(0, |(_, ns)| *ns);
        smoothed.max(self.latest_ns())
    }

    /// The smoothed one at a time, or the first one known.
    pub(crate) fn smoothed_at(&self, at_ns: i64) -> i64 {
        let after = self.smoothed.partition_point(|(when, _)| *when <= at_ns);
        let known = self.smoothed.get(after.saturating_sub(1));
        known.map_or(0, |(_, ns)| *ns)
    }

    /// The longest of those that packets took which were in flight at a time; the smoothed one where none is known.
    pub(crate) fn of_in_flight_at(&self, at_ns: i64) -> i64 {
        let from = self.measured.partition_point(|(when, _)| *when <= at_ns);
        let later = self.measured.iter().skip(from).take(MAX_IN_FLIGHT);
        // Packets that were sent before that time.
        let theirs = later.take_while(|(when, ns)| when.saturating_sub(*ns) <= at_ns);
        let longest = theirs.map(|(_, ns)| *ns).max();
        longest
            .filter(|ns| *ns > 0)
            .unwrap_or_else(|| self.smoothed_at(at_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_flight_shows_its_queue_later() {
        let mut trips = RoundTrips::default();
        trips.smoothed(0, 100);
        for (at, rtt) in [
            (90, 110),
            (100, 120),
            (190, 180),
            (290, 200),
            (301, 195),
            (400, 150),
        ] {
            trips.measured(at, rtt);
        }
        // At 100 the packets acknowledged at 190 and 290 were under way; the next one was sent at 106.
        assert_eq!(trips.of_in_flight_at(100), 200);
        assert_eq!(
            (trips.of_in_flight_at(400), trips.smoothed_at(400)),
            (100, 100)
        );
        assert_eq!((trips.greater_ns(), trips.latest_ns()), (150, 150));
        assert_eq!(RoundTrips::default().of_in_flight_at(0), 0);
    }
}
