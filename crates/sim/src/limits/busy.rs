//! When a link counts as busy: for nearly all of a round trip, not for a burst of packets.

/// A time, nanoseconds; the end is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Time {
    pub start_ns: i64,
    pub end_ns: i64,
}

impl Time {
    /// What both have in common.
    pub(crate) fn common(self, other: Time) -> Option<Time> {
        let time = Time {
            start_ns: self.start_ns.max(other.start_ns),
            end_ns: self.end_ns.min(other.end_ns),
        };
        (time.start_ns < time.end_ns).then_some(time)
    }

    /// Its length, nanoseconds.
    pub(crate) fn length(self) -> i64 {
        self.end_ns - self.start_ns
    }
}

/// Share of the round trip around an instant in which a link must be busy.
const NEARLY_ALL: f64 = 0.9;
/// Parts of a round trip in which it is looked at.
const PARTS: i64 = 8;
/// Parts of a run at most.
const MAX_PARTS: i64 = 1 << 18;

/// When a link was busy, so that any length of time can be summed quickly.
#[derive(Clone, Default, Debug)]
pub(crate) struct BusyTimes {
    times: Vec<Time>,
    /// Busy time before each of them.
    before: Vec<i64>,
}

impl BusyTimes {
    /// From times in order.
    pub(crate) fn new(times: impl IntoIterator<Item = Time>) -> Self {
        let times: Vec<Time> = times.into_iter().collect();
        let mut sum = 0;
        let before = times.iter().map(|time| {
            let before = sum;
            sum += time.length();
            before
        });
        let before = before.collect();
        BusyTimes { times, before }
    }

    /// Busy time before `at_ns`.
    fn until(&self, at_ns: i64) -> i64 {
        let after = self.times.partition_point(|time| time.start_ns < at_ns);
        let Some(last) = after.checked_sub(1) else {
            return 0;
        };
        let (Some(time), Some(before)) = (self.times.get(last), self.before.get(last)) else {
            return 0;
        };
        before + (at_ns.min(time.end_ns) - time.start_ns)
    }

    /// The times within `within` around which the link is busy for nearly all of `round_ns`.
    pub(crate) fn whole_rounds(&self, within: Time, round_ns: i64) -> Vec<Time> {
        let step_ns = (round_ns / PARTS).max(within.length() / MAX_PARTS).max(1);
        let half_ns = (step_ns * PARTS / 2).max(1);
        let mut out: Vec<Time> = Vec::new();
        let mut start_ns = within.start_ns;
        while start_ns < within.end_ns {
            let end_ns = (start_ns + step_ns).min(within.end_ns);
            let middle_ns = i64::midpoint(start_ns, end_ns);
            let busy_ns = self.until(middle_ns + half_ns) - self.until(middle_ns - half_ns);
            if busy_ns as f64 >= NEARLY_ALL * (2 * half_ns) as f64 {
                match out.last_mut() {
                    Some(last) if last.end_ns == start_ns => last.end_ns = end_ns,
                    _ => out.push(Time { start_ns, end_ns }),
                }
            }
            start_ns = end_ns;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn time(start_ns: i64, end_ns: i64) -> Time {
        Time { start_ns, end_ns }
    }

    #[test]
    fn a_burst_does_not_make_a_link_busy_and_a_standing_queue_does() {
        let bursts = (0..10).map(|n| time(n * 100, n * 100 + 50));
        let busy = BusyTimes::new(bursts.chain([time(1000, 2000)]));
        let rounds = busy.whole_rounds(time(0, 3000), 100);
        assert_eq!(rounds.len(), 1, "{rounds:?}");
        assert!(rounds[0].start_ns >= 1000 && rounds[0].start_ns < 1100);
        assert!(rounds[0].end_ns > 1900 && rounds[0].end_ns <= 2000);
        assert_eq!(BusyTimes::default().whole_rounds(time(0, 10), 4), []);
    }
}
