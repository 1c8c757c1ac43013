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

    /// The run that holds arrival `number`.
    fn find(&self, number: u64) -> usize {
        let last = self.runs.len().saturating_sub(1);
        if self.runs.back().is_some_and(|run| run.from <= number) {
            return last;
        }
        self.runs
            .partition_point(|run| run.from <= number)
            .saturating_sub(1)
    }

    /// Arrivals `from..to`.
    pub(super) fn stretch(&self, from: u64, to: u64) -> impl Iterator<Item = Data> + '_ {
        let first = if from < to {
            self.find(from)
        } else {
            self.runs.len()
        };
        (first..self.runs.len()).filter_map(move |i| {
            let run = self.runs.get(i)?;
            let end = self.runs.get(i + 1).map_or(to, |next| next.from).min(to);
            let begin = run.from.max(from);
            let whole = Data {
                start: run.start,
                len: run.len,
                retransmission: run.retransmission,
                count: end.checked_sub(begin)?,
            };
            Some(Data {
                start: whole.at(begin - run.from),
                ..whole
            })
        })
    }

    /// Arrivals `from..to` came in the order of their numbers.
    pub(super) fn is_sorted(&self, from: u64, to: u64) -> bool {
        let mut highest = i64::MIN;
        self.stretch(from, to).all(|data| {
            let sorted = data.start >= highest;
            highest = data.at(data.count.saturating_sub(1));
            sorted
        })
    }

    /// First byte of arrival `number`; `None` when it has not come yet.
    pub(super) fn offset(&self, number: u64) -> Option<i64> {
        self.stretch(number, number + 1)
            .next()
            .filter(|data| data.count > 0)
            .map(|data| data.start)
    }
}
