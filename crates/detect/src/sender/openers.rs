//! The round trips of what came right behind a hole: how full the queues were when something was lost.

use inorder_base::line::Line;

/// Holes remembered; beyond, the oldest is forgotten.
const MAX_OPENERS_REMEMBERED: usize = 1_024;

/// The segments whose reports opened holes, by first byte, ascending, with their round trips.
#[derive(Debug, Default)]
pub(super) struct Openers {
    all: Line<(i64, i64)>,
}

heap!(Openers: all);

impl Openers {
    /// The report of the segment that begins at `start` opened a hole below it; its round trip took `rtt_ns`.
    pub(super) fn push(&mut self, start: i64, rtt_ns: i64) {
        if self.all.len() >= MAX_OPENERS_REMEMBERED {
            self.all.pop_front();
        }
        if self.all.last().is_none_or(|last| last.0 < start) {
            return self.all.push_back((start, rtt_ns)); // As mostly.
        }
        let at = self.all.partition_point(|o| o.0 < start);
        self.all.insert(at, (start, rtt_ns));
    }

    /// The round trip of what was sent right behind the missing segment at `start`, if that is known.
    pub(super) fn behind(&self, start: i64) -> Option<i64> {
        let next = self.all.partition_point(|o| o.0 <= start);
        self.all.get(next).map(|o| o.1)
    }

    /// Everything below `una` has been acknowledged.
    #[inline]
    pub(super) fn drop_below(&mut self, una: i64) {
        while self.all.first().is_some_and(|o| o.0 < una) {
            self.all.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_segment_met_the_queue_that_the_next_one_behind_it_met() {
        let mut openers = Openers::default();
        openers.push(500, 7);
        openers.push(200, 5);
        assert_eq!(openers.behind(100), Some(5));
        assert_eq!(openers.behind(200), Some(7));
        assert_eq!(openers.behind(500), None);
        openers.drop_below(300);
        assert_eq!(openers.behind(100), Some(7));
    }
}
