//! Calculations that a queue makes at regular times.
//!
//! Between two packets nothing changes but the time, so the calculations that were due since the last packet are made
//! when the next one comes or leaves: the link needs no further events for them.

/// Regular times, the first of them one interval after the first packet.
#[derive(Clone, Debug)]
pub(super) struct Ticks {
    interval_ns: i64,
    next_ns: Option<i64>,
}

impl Ticks {
    /// Times in this distance, nanoseconds.
    pub(super) fn every(interval_ns: i64) -> Self {
        Ticks {
            interval_ns: interval_ns.max(1),
            next_ns: None,
        }
    }

    /// The next time, if it is not later than now.
    pub(super) fn due(&mut self, now_ns: i64) -> Option<i64> {
        let first_ns = now_ns.saturating_add(self.interval_ns);
        let next_ns = *self.next_ns.get_or_insert(first_ns);
        if next_ns > now_ns {
            return None;
        }
        self.next_ns = Some(next_ns.saturating_add(self.interval_ns));
        Some(next_ns)
    }

    /// Leaves out all times up to now: the last calculation changed nothing, so the same one again would not, either.
    pub(super) fn skip(&mut self, now_ns: i64) {
        let Some(next_ns) = self.next_ns.filter(|&next_ns| next_ns <= now_ns) else {
            return;
        };
        let left_out = (now_ns - next_ns) / self.interval_ns + 1;
        self.next_ns = Some(next_ns.saturating_add(left_out.saturating_mul(self.interval_ns)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_are_left_out_keep_the_rhythm() {
        let mut ticks = Ticks::every(10);
        assert_eq!(ticks.due(3), None);
        assert_eq!((ticks.due(25), ticks.due(25)), (Some(13), Some(23)));
        assert_eq!(ticks.due(32), None);
        ticks.skip(32);
        assert_eq!(ticks.due(33), Some(33));
        ticks.skip(99);
        assert_eq!((ticks.due(102), ticks.due(103)), (None, Some(103)));
    }
}
