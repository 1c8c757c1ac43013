//! The queue in which a receiver keeps data that came too early.

use std::collections::BTreeMap;

use crate::Waits;

/// Pieces that wait at most; beyond that the oldest gap is given up.
const MAX_WAITING: usize = 1 << 14;

/// Pieces beyond the first gap, and how long those before it waited.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Everything below has come; `None` before the first piece.
    delivered: Option<i64>,
    /// End and time of arrival by start; the pieces do not overlap.
    waiting: BTreeMap<i64, (i64, i64)>,
    bytes: u64,
    found: Waits,
}

inorder_base::heap!(Queue: waiting);

impl Queue {
    /// The bytes `start..end` come.
    pub(super) fn arrive(&mut self, start: i64, end: i64, now_ns: i64) {
        let mut start = start;
        // A piece may reach over any number of those that wait.
        while let Some(rest) = self.arrive_up_to_next(start, end, now_ns) {
            start = rest;
        }
    }

    /// The bytes from `start` on come up to what waits first above them, if they do not wait themselves: where the rest begins.
    fn arrive_up_to_next(&mut self, start: i64, end: i64, now_ns: i64) -> Option<i64> {
        let delivered = *self.delivered.get_or_insert(start);
        let start = start.max(delivered);
        if start >= end {
            return None;
        }
        if start > delivered {
            self.keep(start, end, now_ns);
            if self.waiting.len() > MAX_WAITING
                && let Some((&first, _)) = self.waiting.first_key_value()
            {
                self.deliver_from(first, now_ns);
            }
            return None;
        }
        // What waits already did not wait for these bytes.
        let until = self
            .waiting
            .first_key_value()
            .map_or(end, |(&first, _)| end.min(first));
        self.found.bytes += (until - start).max(0).cast_unsigned();
        self.deliver_from(end.min(until).max(start), now_ns);
        (end > self.delivered.unwrap_or(end)).then_some(until)
    }

    /// Keeps the parts of a piece that do not wait already.
    fn keep(&mut self, start: i64, end: i64, now_ns: i64) {
        let mut at = start;
        if let Some((_, &(before, _))) = self.waiting.range(..=start).next_back() {
            at = at.max(before);
        }
        while at < end {
            let next = self.waiting.range(at..).next().map(|(&s, &(e, _))| (s, e));
            let until = next.map_or(end, |(s, _)| s.min(end));
            if at < until {
                self.waiting.insert(at, (until, now_ns));
                self.bytes += (until - at).cast_unsigned();
            }
            at = next.map_or(end, |(_, e)| e);
        }
        self.found.most_bytes = self.found.most_bytes.max(self.bytes);
    }

    /// Everything below `to` has come, or is given up: delivers what waits right behind it.
    fn deliver_from(&mut self, to: i64, now_ns: i64) {
        let mut to = to;
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() <= to
        {
            let start = *entry.key();
            let (end, came_ns) = entry.remove();
            let (bytes, waited) = (
                (end - start).cast_unsigned(),
                now_ns.saturating_sub(came_ns),
            );
            let waited = waited.max(0).cast_unsigned();
            self.bytes -= bytes;
            self.found.bytes += bytes;
            self.found.byte_ns += u128::from(bytes) * u128::from(waited);
            self.found.waited_bytes += bytes;
            self.found.max_ns = self.found.max_ns.max(waited);
            self.found.pieces_ns.update(waited);
            to = to.max(end);
        }
        self.delivered = Some(to);
    }

    /// Bytes in gaps.
    pub(super) fn missing(&self) -> u64 {
        let mut at = self.delivered.unwrap_or(0);
        let gap = |(&start, &(end, _)): (&i64, &(i64, i64))| {
            let gap = (start - at).max(0);
            at = end;
            gap.cast_unsigned()
        };
        self.waiting.iter().map(gap).sum()
    }

    /// What was found; data that still waits is not counted.
    pub(super) fn finish(self) -> Waits {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every second byte waits, and one piece brings all the others.
    #[test]
    fn a_piece_may_reach_over_all_that_waits() {
        let mut queue = Queue::default();
        queue.arrive(0, 1, 0);
        let pieces = MAX_WAITING as i64;
        for n in 1..=pieces {
            queue.arrive(2 * n, 2 * n + 1, 1);
        }
        queue.arrive(1, 2 * pieces + 1, 2);
        assert_eq!(
            (queue.delivered, queue.missing()),
            (Some(2 * pieces + 1), 0)
        );
        assert_eq!(queue.finish().waited_bytes, pieces as u64);
    }

    proptest! {
        /// The straightforward twin: every byte by itself.
        #[test]
        fn agrees_with_single_bytes(pieces in prop::collection::vec((0i64..60, 1i64..12), 1..40)) {
            let mut queue = Queue::default();
            let first = pieces[0].0;
            let mut came: BTreeMap<i64, i64> = BTreeMap::new();
            let (mut delivered, mut byte_ns, mut bytes, mut waited) = (first, 0u128, 0u64, 0u64);
            for (now, &(start, len)) in (0i64..).zip(&pieces) {
                queue.arrive(start, start + len, now);
                for byte in start.max(delivered)..start + len {
                    came.entry(byte).or_insert(now);
                }
                while let Some(at) = came.remove(&delivered) {
                    byte_ns += u128::from((now - at).cast_unsigned());
                    bytes += 1;
                    waited += u64::from(now > at);
                    delivered += 1;
                }
            }
            prop_assert_eq!(queue.delivered, Some(delivered));
            let missing = queue.missing();
            let highest = came.keys().next_back().map_or(delivered, |last| last + 1);
            prop_assert_eq!(missing, (highest - delivered).cast_unsigned() - came.len() as u64);
            let found = queue.finish();
            prop_assert_eq!((found.byte_ns, found.bytes), (byte_ns, bytes));
            prop_assert_eq!(found.waited_bytes, waited);
        }
    }
}
