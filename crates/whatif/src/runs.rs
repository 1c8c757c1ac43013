//! Recent arrivals, run by run: equal segments that follow one another take one entry.

use crate::DataArrival;

/// Data as it is delivered: `count` segments of `len` bytes, the first at `start`, each next
/// where the one before ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Data {
    pub(crate) start: i64,
    pub(crate) len: u32,
    pub(crate) retransmission: bool,
    pub(crate) count: u64,
}

impl Data {
    /// First byte of segment `i`.
    #[inline]
    pub(crate) fn at(&self, i: u64) -> i64 {
        self.start
            .saturating_add((i as i64).saturating_mul(i64::from(self.len)))
    }

    /// First byte of the last segment.
    #[inline]
    fn last(&self) -> i64 {
        self.at(self.count.saturating_sub(1))
    }

    /// End of the last segment.
    #[inline]
    pub(crate) fn end(&self) -> i64 {
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

/// Runs that there is room for at least.
const MIN_RUNS_CAPACITY: usize = 8;

/// Arrivals by number.
#[derive(Default, Debug)]
pub(crate) struct Runs {
    /// Ascending. Those that are not needed any more go many at a time: what is left is then one
    /// slice, and short.
    runs: Vec<Run>,
}

heap!(Runs: runs);

impl Runs {
    /// Another entry would take more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.runs.len() == self.runs.capacity()
    }

    /// Arrival `number` and those after it, as long as they continue it, are a run of their own.
    #[inline]
    pub(crate) fn push(&mut self, number: u64, arrival: &DataArrival) {
        self.runs.push(Run {
            from: number,
            start: arrival.offset,
            len: arrival.len,
            retransmission: arrival.retransmission,
        });
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Arrivals before `number` are not asked for any more. Leaves room for as many runs as there
    /// are, so that this is not needed again soon.
    pub(crate) fn forget_before(&mut self, number: u64) {
        let first = self.first_with(number);
        self.runs.drain(..first);
        self.runs.reserve(self.runs.len().max(MIN_RUNS_CAPACITY));
    }

    /// Index of the run with arrival `number`, which mostly is one of the last.
    #[inline]
    fn first_with(&self, number: u64) -> usize {
        let before = self.runs.iter().rposition(|run| run.from <= number);
        before.unwrap_or(0)
    }

    /// Puts arrivals `from..to` into `out`.
    #[inline]
    pub(crate) fn copy_to(&self, out: &mut Vec<Data>, from: u64, to: u64) {
        out.clear();
        let runs = self.runs.get(self.first_with(from)..).unwrap_or_default();
        let ends = runs.iter().skip(1).map(|run| run.from).chain([to]);
        out.extend(runs.iter().zip(ends).filter_map(|(run, end)| {
            let (begin, end) = (run.from.max(from), end.min(to));
            let ahead = i64::from(run.len).saturating_mul((begin - run.from) as i64);
            (begin < end).then(|| Data {
                start: run.start.saturating_add(ahead),
                len: run.len,
                retransmission: run.retransmission,
                count: end - begin,
            })
        }));
    }

    /// First byte of arrival `number`; `None` when it has not come yet.
    #[inline]
    pub(crate) fn offset(&self, number: u64) -> Option<i64> {
        let run = self.runs.iter().rev().find(|run| run.from <= number)?;
        let ahead = i64::from(run.len).saturating_mul((number - run.from) as i64);
        Some(run.start.saturating_add(ahead))
    }
}

/// Nothing in `stretch` comes after something that begins later.
#[inline]
pub(crate) fn is_sorted(stretch: &[Data]) -> bool {
    stretch.is_sorted_by(|before, data| before.last() <= data.start)
}

/// Puts `stretch` into `out` as a stable sort of its segments does, if that keeps runs together
/// and numbers 32 bits long order it likewise; otherwise says false.
pub(crate) fn sort(stretch: &[Data], out: &mut Vec<Data>) -> bool {
    out.clear();
    out.extend_from_slice(stretch);
    out.sort_by_key(|data| data.start);
    let apart = out.is_sorted_by(|before, data| before.last() < data.start);
    let span = match out.as_slice() {
        [first, .., last] => last.end().saturating_sub(first.start),
        _ => 0,
    };
    apart && span < 1 << 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segments(stretch: &[Data]) -> Vec<(i64, u32, bool)> {
        let all = |data: &Data| {
            let (data, count) = (*data, data.count);
            (0..count).map(move |i| (data.at(i), data.len, data.retransmission))
        };
        stretch.iter().flat_map(all).collect()
    }

    proptest! {
        #[test]
        fn sorting_runs_is_sorting_segments(
            stretch in prop::collection::vec((0i64..60, 1u32..4, any::<bool>(), 1u64..4), 0..12),
        ) {
            let data = |(start, len, retransmission, count)| Data { start, len, retransmission, count };
            let stretch: Vec<Data> = stretch.into_iter().map(data).collect();
            let (mut out, mut plain) = (Vec::new(), segments(&stretch));
            plain.sort_by_key(|segment| segment.0);
            if sort(&stretch, &mut out) {
                prop_assert_eq!(segments(&out), plain);
            } else {
                prop_assert!(stretch.len() > 1);
            }
        }
    }

    #[test]
    fn runs_that_lie_across_one_another_are_left_alone() {
        let run = |start, count| Data {
            start,
            len: 10,
            retransmission: false,
            count,
        };
        let mut out = Vec::new();
        assert!(sort(&[run(30, 2), run(0, 3)], &mut out));
        assert_eq!(out, [run(0, 3), run(30, 2)]);
        assert!(!sort(&[run(20, 2), run(0, 3)], &mut out));
        assert!(!sort(&[run(1 << 31, 1), run(0, 1)], &mut out));
    }
}
