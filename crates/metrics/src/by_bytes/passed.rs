//! Late arrivals, for the bytes among them that lie below another: RFC 4737 section 4.4 without walking them all.

use std::collections::VecDeque;

use inorder_base::line::Line;

/// Late arrivals remembered for the byte offset.
const MAX_LATE_REMEMBERED: usize = 16_384;
/// Arrivals summed up together: a query walks fewer than two of these, and looks at each of the others once.
const CHUNK: usize = 64;

/// A late arrival.
#[derive(Clone, Copy, Debug)]
struct Passed {
    position: u64,
    start: i64,
    len: u32,
    /// Bytes of all that came before it.
    before: u64,
}

/// `CHUNK` arrivals in a row, by first byte.
#[derive(Debug)]
struct Chunk {
    /// First bytes, ascending.
    starts: [i64; CHUNK],
    /// Bytes of all up to and including the one in the same place.
    sums: [u64; CHUNK],
}

impl Chunk {
    fn new(arrivals: impl Iterator<Item = Passed>) -> Self {
        let mut all = [(0, 0); CHUNK];
        for (to, p) in all.iter_mut().zip(arrivals) {
            *to = (p.start, p.len);
        }
        all.sort_unstable();
        let mut sum = 0;
        Chunk {
            starts: all.map(|p| p.0),
            sums: all.map(|p| {
                sum += u64::from(p.1);
                sum
            }),
        }
    }

    /// Bytes of those that begin below `start`.
    fn below(&self, start: i64) -> u64 {
        // Mostly all of them do, or none.
        let below = if self.starts[CHUNK - 1] < start {
            CHUNK
        } else if self.starts[0] >= start {
            0
        } else {
            self.starts.partition_point(|&s| s < start)
        };
        below.checked_sub(1).map_or(0, |last| self.sums[last])
    }
}

/// The last late arrivals in the order they came.
#[derive(Debug, Default)]
pub(super) struct LateArrivals {
    all: Line<Passed>,
    /// How many have been forgotten.
    forgotten: usize,
    /// Whole chunks, made when they are first asked for, since most late arrivals overtake few others. The first of them may be
    /// forgotten in part.
    chunks: VecDeque<Chunk>,
    /// The number of the first chunk, counted from the first arrival ever.
    first_chunk: usize,
    /// From this one on, counted from the first arrival ever, each begins above the one before: so come those that
    /// only took a longer way, or were sent again in order.
    ascending: usize,
    /// Bytes of all that ever came.
    bytes: u64,
    /// The first that came behind the position last asked for, counted from the first arrival ever. The next question is
    /// mostly about a position close to it.
    asked: usize,
}

heap!(LateArrivals: all, chunks);

impl LateArrivals {
    /// Adds a late arrival at a position behind all others.
    pub(super) fn push(&mut self, position: u64, start: i64, len: u32) {
        if self.all.len() >= MAX_LATE_REMEMBERED {
            self.all.pop_front();
            self.forgotten += 1;
            if !self.chunks.is_empty() && (self.first_chunk + 1) * CHUNK <= self.forgotten {
                self.chunks.pop_front();
                self.first_chunk += 1;
            }
        }
        if self.all.last().is_some_and(|last| last.start >= start) {
            self.ascending = self.forgotten + self.all.len();
        }
        let arrival = Passed {
            position,
            start,
            len,
            before: self.bytes,
        };
        self.bytes += u64::from(len);
        self.all.push_back(arrival);
    }

    /// Makes the chunks before the one numbered `end` that are not there; those before `from` may be left out.
    fn make_chunks(&mut self, from: usize, end: usize) {
        if self.chunks.is_empty() {
            self.first_chunk = from;
        }
        while self.first_chunk > from {
            self.first_chunk -= 1;
            let chunk = self.chunk(self.first_chunk);
            self.chunks.push_front(chunk);
        }
        for number in self.first_chunk + self.chunks.len()..end {
            let chunk = self.chunk(number);
            self.chunks.push_back(chunk);
        }
    }

    fn chunk(&self, number: usize) -> Chunk {
        let from = number * CHUNK - self.forgotten;
        Chunk::new(self.all[from..from + CHUNK].iter().copied())
    }

    /// Bytes of those that came behind `position` and begin below `start`.
    pub(super) fn bytes_below(&mut self, position: u64, start: i64) -> u64 {
        let from = self.first_behind(position);
        self.asked = self.forgotten + from;
        if self.forgotten + from >= self.ascending {
            let below = self.first_not_below(from, start);
            return self.bytes_before(below) - self.bytes_before(from);
        }
        self.bytes_below_in_chunks(from, start)
    }

    /// The first that came behind `position`: looked for in steps that double, from the place that was asked for last.
    fn first_behind(&self, position: u64) -> usize {
        let is_before = |place: usize| self.all.get(place).is_some_and(|p| p.position <= position);
        let near = self
            .asked
            .saturating_sub(self.forgotten)
            .min(self.all.len());
        let (mut low, mut high, mut step) = (near, near, 1);
        if is_before(near) {
            while is_before(high) {
                low = high + 1;
                high = (high + step).min(self.all.len());
                step *= 2;
            }
        } else {
            while low > 0 && !is_before(low - 1) {
                high = low - 1;
                low = high.saturating_sub(step);
                step *= 2;
            }
        }
        first_without(low, high, is_before)
    }

    /// Place of the first entry, from `from` on, that does not begin below `start`. The entries ascend.
    fn first_not_below(&self, from: usize, start: i64) -> usize {
        let is_below = |place: usize| self.all.get(place).is_some_and(|p| p.start < start);
        let end = self.all.len();
        if end > from && is_below(end - 1) {
            return end; // As mostly.
        }
        first_without(from, end, is_below)
    }

    /// Bytes of all that ever came before the one at `place`.
    fn bytes_before(&self, place: usize) -> u64 {
        self.all.get(place).map_or(self.bytes, |p| p.before)
    }

    /// [`Self::bytes_below`] of those from the one at `from` on, in whatever order they came.
    fn bytes_below_in_chunks(&mut self, from: usize, start: i64) -> u64 {
        // Places among all that ever came, where chunks begin.
        let (first, end) = (self.forgotten + from, self.forgotten + self.all.len());
        let (whole, tail) = (first.next_multiple_of(CHUNK), end - end % CHUNK);
        if whole >= tail {
            return self.walk((from, self.all.len()), start);
        }
        let (first, end) = (whole / CHUNK, tail / CHUNK);
        self.make_chunks(first, end);
        let chunks = self
            .chunks
            .range(first - self.first_chunk..end - self.first_chunk);
        chunks.map(|c| c.below(start)).sum::<u64>()
            + self.walk((from, whole - self.forgotten), start)
            + self.walk((tail - self.forgotten, self.all.len()), start)
    }

    /// Bytes of those in the places from `from` to `to` that begin below `start`.
    fn walk(&self, (from, to): (usize, usize), start: i64) -> u64 {
        let all = self.all.get(from..to).unwrap_or_default().iter();
        all.map(|p| if p.start < start { p.len.into() } else { 0 })
            .sum()
    }
}

/// The first place from `low` to `high` that is not `less`, where all before it are and none behind it is.
fn first_without(mut low: usize, mut high: usize, less: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        match less(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_of_ascending_runs_agree_with_walking_all(
            runs in proptest::collection::vec((0i64..40, 1usize..20), 1..12),
            queries in proptest::collection::vec((0u64..240, -5i64..90), 20),
        ) {
            let ascending = |(first, many): (i64, usize)| (first..).step_by(3).take(many);
            let all: Vec<(u64, i64)> = (1..).zip(runs.into_iter().flat_map(ascending)).collect();
            let mut late = LateArrivals::default();
            for &(position, start) in &all {
                late.push(position, start, 7);
            }
            for (behind, start) in queries {
                let expected = all.iter().filter(|p| p.0 > behind && p.1 < start).count();
                prop_assert_eq!(late.bytes_below(behind, start), 7 * expected as u64);
            }
        }

        #[test]
        fn sums_of_chunks_agree_with_walking_all(
            starts in proptest::collection::vec(-50i64..50, 1..400),
            queries in proptest::collection::vec((0u64..1_200, -60i64..60), 20),
            forgotten in 0usize..200,
        ) {
            let mut late = LateArrivals::default();
            // As many as are remembered, and those that push some of them out.
            let filler = if forgotten > 150 { MAX_LATE_REMEMBERED } else { 0 };
            let all: Vec<(u64, i64, u32)> = (0..filler).map(|_| 0).chain(starts).zip(0u64..)
                .map(|(start, i)| (3 * i, start, i as u32 % 7)).collect();
            for &(position, start, len) in &all {
                late.push(position, start, len);
            }
            let kept = &all[all.len().saturating_sub(MAX_LATE_REMEMBERED)..];
            let first = kept[0].0;
            for (behind, start) in queries {
                let behind = (first + behind * kept.len() as u64 / 400).saturating_sub(1);
                let expected: u64 = kept.iter().filter(|p| p.0 > behind && p.1 < start).map(|p| u64::from(p.2)).sum();
                prop_assert_eq!(late.bytes_below(behind, start), expected);
            }
        }

        /// Chunks are made when they are asked for: some of them late, some of them never.
        #[test]
        fn sums_asked_for_while_arrivals_come_agree_with_walking_all(
            starts in proptest::collection::vec((-50i64..50, 0u64..40, 0usize..600), 1..900),
            filler in prop_oneof![Just(0), Just(MAX_LATE_REMEMBERED - 100)],
        ) {
            let (mut late, mut all) = (LateArrivals::default(), Vec::new());
            let fill = (0..filler).map(|_| (0, 1, 0));
            for (nth, (start, asks, back)) in fill.chain(starts).enumerate() {
                late.push(nth as u64, start, 3);
                all.push(start);
                if asks == 0 {
                    let behind = nth.saturating_sub(back);
                    let below = all[behind + 1..].iter().filter(|&&s| s < 5).count() as u64;
                    prop_assert_eq!(late.bytes_below(behind as u64, 5), 3 * below);
                }
            }
        }
    }
}
