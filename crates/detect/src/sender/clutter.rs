//! How often unexplained ACKs come where nothing unseen can have caused them.

use super::unexplained::Trigger;

/// How often unexplained ACKs come where nothing unseen can have caused them, by trigger.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clutter {
    seen: [f64; Trigger::ALL],
    /// Time with holes open, nanoseconds.
    exposed_ns: f64,
    /// Of that, time in which the original of some hole may still come, and until when that is so, nanoseconds.
    occupied_ns: f64,
    occupied_until_ns: i64,
    /// When the first and the latest ACK of one segment came that was owed, nanoseconds.
    owed_ns: Option<(i64, i64)>,
}

impl Clutter {
    /// Counts one such ACK with weight `share`.
    pub(super) fn note(&mut self, trigger: Trigger, share: f64) {
        self.seen[trigger as usize] += share;
    }

    /// Holes were open for `ns` nanoseconds.
    pub(super) fn expose(&mut self, ns: i64) {
        self.exposed_ns += ns.max(0) as f64;
    }

    /// The original of a hole may come between these times, so that an ACK in between may have a cause. Holes come in the
    /// order in which they were filled.
    pub(super) fn occupy(&mut self, from_ns: i64, until_ns: i64) {
        let from_ns = from_ns.max(self.occupied_until_ns);
        self.occupied_ns += until_ns.saturating_sub(from_ns).max(0) as f64;
        self.occupied_until_ns = self.occupied_until_ns.max(until_ns);
    }

    /// An ACK of one segment was captured at `now`: such ACKs come while nothing is missing.
    pub(super) fn expose_owed(&mut self, now: i64) {
        let first = self.owed_ns.map_or(now, |o| o.0);
        self.owed_ns = Some((first, now));
    }

    /// Rate of such ACKs per nanosecond; `first` is the prior count for one round trip of `rtt_ns`.
    pub(super) fn rate(&self, trigger: Trigger, first: f64, rtt_ns: f64) -> f64 {
        let exposed_ns = match (trigger, self.owed_ns) {
            (Trigger::Owed, Some((first, last))) => last.saturating_sub(first) as f64,
            (Trigger::Nothing, _) => (self.exposed_ns - self.occupied_ns).max(0.0),
            _ => self.exposed_ns,
        };
        (self.seen[trigger as usize] + first) / (exposed_ns + rtt_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten round trips of 1000 ns with holes open, in the first of which one ACK came that nothing can have caused.
    fn one_in_ten() -> Clutter {
        let mut clutter = Clutter::default();
        clutter.expose(10_000);
        clutter.note(Trigger::Nothing, 1.0);
        clutter
    }

    #[test]
    fn only_time_in_which_no_hole_can_have_caused_an_ack_tells_how_often_they_come() {
        // Round trips for each of them, with the one of the prior count.
        let round_trips = |clutter: &Clutter| {
            let each_ns = 1.0 / clutter.rate(Trigger::Nothing, 0.0, 1_000.0);
            libm::round(each_ns / 1_000.0)
        };
        let free = one_in_ten();
        assert_eq!(round_trips(&free), 11.0);
        // Three holes, of which two overlap, leave two round trips.
        let mut occupied = one_in_ten();
        for (from_ns, until_ns) in [(1_000, 5_000), (3_000, 7_000), (8_000, 10_000)] {
            occupied.occupy(from_ns, until_ns);
        }
        assert_eq!(round_trips(&occupied), 3.0);
        // What is owed comes while nothing is missing.
        assert_eq!(occupied.rate(Trigger::Timer, 0.0, 1_000.0), 0.0);
        // Holes may be waited for beyond the time in which others were open.
        occupied.occupy(10_000, 90_000);
        assert_eq!(round_trips(&occupied), 1.0);
    }
}
