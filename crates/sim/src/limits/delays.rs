//! How long packets were on their way, by the time of sending.

/// The one-way delay over time. Packets that others overtook do not count.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Delays {
    /// Time of sending and delay, nanoseconds; until the next entry the delay hardly changes.
    changes: Vec<(i64, i64)>,
    shortest_ns: Option<i64>,
    last_sent_ns: i64,
}

/// A change of the delay by less than this part of it is not kept.
const PART: i64 = 32;

impl Delays {
    /// A packet arrives that was sent then.
    pub(crate) fn arrived(&mut self, sent_ns: i64, now_ns: i64) {
        let delay_ns = now_ns - sent_ns;
        let shortest_ns = self.shortest_ns.get_or_insert(delay_ns);
        *shortest_ns = (*shortest_ns).min(delay_ns);
        if sent_ns < self.last_sent_ns {
            return;
        }
        self.last_sent_ns = sent_ns;
        match self.changes.last() {
            Some(&(_, known_ns)) if (delay_ns - known_ns).abs() <= known_ns / PART => {}
            _ => self.changes.push((sent_ns, delay_ns)),
        }
    }

    /// The delay of what was sent last before this time, or at it: the first such packet, or the last one of the whole burst.
    /// The shortest delay before the first packet.
    pub(crate) fn at(&self, at_ns: i64, whole_burst: bool) -> i64 {
        let up_to = |last: i64| {
            self.changes
                .partition_point(|(sent_ns, _)| *sent_ns <= last)
        };
        let all = up_to(at_ns);
        let before = match whole_burst {
            true => all,
            false => all.min(up_to(at_ns.saturating_sub(1)) + 1),
        };
        let known = before.checked_sub(1).and_then(|at| self.changes.get(at));
        let delay_ns = known.map(|(_, delay_ns)| *delay_ns).or(self.shortest_ns);
        // A packet that the sender sent long ago has arrived in the meantime.
        let waited_ns = known.map_or(0, |(sent_ns, _)| at_ns - sent_ns);
        let shortest_ns = self.shortest_ns.unwrap_or(0);
        match self.last_sent_ns <= at_ns {
            true => delay_ns
                .unwrap_or(0)
                .saturating_sub(waited_ns)
                .max(shortest_ns),
            false => delay_ns.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_is_that_of_what_was_sent_last() {
        let mut delays = Delays::default();
        assert_eq!(delays.at(5, true), 0);
        let packets = [
            (0, 100),
            (50, 152),
            (100, 400),
            (90, 800),
            (200, 310),
            (200, 330),
        ];
        for (sent_ns, arrived_ns) in packets {
            delays.arrived(sent_ns, arrived_ns);
        }
        assert_eq!(delays.at(-1, true), 100, "the shortest");
        assert_eq!((delays.at(60, true), delays.at(120, true)), (100, 300));
        assert_eq!((delays.at(200, false), delays.at(200, true)), (110, 130));
        assert_eq!((delays.at(205, true), delays.at(1000, true)), (125, 100));
    }
}
