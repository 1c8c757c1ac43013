//! Recent arrivals, run by run: equal segments that follow one another take one entry.

use std::collections::VecDeque;

use super::DataArrival;

/// Data as it is delivered: `count` segments of `len` bytes, the first at `start`, each next
/// where the one before ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Data {
    pub(super) start: i64,
    pub(super) len: u32,
    pub(super) retransmission: bool,
    pub(super) count: u64,
}

impl Data {
    /// First byte of segment `i`.
    #[inline]
    pub(super) fn at(&self, i: u64) -> i64 {
        self.start
            .saturating_add((i as i64).saturating_mul(i64::from(self.len)))
    }

    /// End of the last segment.
    #[inline]
    pub(super) fn end(&self) -> i64 {
        self.at(self.count)
    }
}

#[derive(Clone, Copy, Debug)]
struct Run {
    /// Arrival number of its first segment; the last is the one before the next run.
    from: u64,
    start: i64,
    len: u32,
    retransmission: bool,
}

/// Arrivals by number.
#[derive(Default, Debug)]
pub(super) struct Runs {
    runs: VecDeque<Run>,
}

impl Runs {
    /// Another entry would take more memory.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.runs.len() == self.runs.capacity()
    }

    /// Arrival `number` and those after it, as long as they continue it, are a run of their own.
    #[inline]
    pub(super) fn push(&mut self, number: u64, arrival: &DataArrival) {
        self.runs.push_back(Run {
            from: number,
            start: arrival.offset,
            len: arrival.len,
            retransmission: arrival.retransmission,
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Arrivals before `number` are not asked for any more.
    pub(super) fn forget_before(&mut self, number: u64) {
        while self.runs.get(1).is_some_and(|run| run.from <= number) {
            self.runs.pop_front();
        }
    }

    /// Puts arrivals `from..to` into `out`. Those asked for are mostly the last, so they are looked
    /// for from the end.
    pub(super) fn copy_to(&self, out: &mut Vec<Data>, from: u64, to: u64) {
        out.clear();
        let mut end = to;
        for run in self.runs.iter().rev() {
            let begin = run.from.max(from);
            if begin < end {
                let start = i64::from(run.len).saturating_mul((begin - run.from) as i64);
                out.push(Data {
                    start: run.start.saturating_add(start),
                    len: run.len,
                    retransmission: run.retransmission,
                    count: end - begin,
                });
                end = begin;
            }
            if begin == from {
                break;
            }
        }
        out.reverse();
    }

    /// First byte of arrival `number`; `None` when it has not come yet.
    pub(super) fn offset(&self, number: u64) -> Option<i64> {
        let run = self.runs.iter().rev().find(|run| run.from <= number)?;
        let ahead = i64::from(run.len).saturating_mul((number - run.from) as i64);
        Some(run.start.saturating_add(ahead))
    }
}

/// Nothing in `stretch` comes after something that begins later.
pub(super) fn is_sorted(stretch: &[Data]) -> bool {
    stretch.is_sorted_by(|before, data| before.at(before.count.saturating_sub(1)) <= data.start)
}
