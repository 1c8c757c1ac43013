//! n-reordering (RFC 4737 section 5), and which packets take part in reordering.

use crate::bound::{MAX_SEQ, accepted};

/// How many immediate predecessors of each packet have larger numbers.
///
/// A packet is n-reordered if all of the `n` packets that arrived just before it have larger numbers (RFC 4737 section 5.3).
/// TCP with a threshold of `n` duplicate acknowledgements considers such a packet lost. Only first copies may be fed.
///
/// The state is a stack of ascending runs of consecutive numbers that no smaller number has followed yet. A late
/// packet pops the runs above it, so the number of its larger predecessors is the distance to the run that is then on
/// top. Every packet is popped at most once, so the mean cost is O(1). A popped packet *did* overtake another one;
/// the pops count the packets that arrived early.
///
/// ```
/// let mut n = inorder_metrics::NReordering::new(8, 1024);
/// let found: Vec<u64> = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].map(|seq| n.update(seq)).into();
/// assert_eq!(found, [0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]);
/// assert_eq!(n.cumulative(), [1, 1, 1, 1]);
/// assert_eq!(n.overtaking(), 4); // 7 8 9 10
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NReordering {
    n_max: usize,
    max_runs: usize,
    stack: Vec<Run>,
    /// Position of the last packet of the highest run that was dropped from the bottom, if any.
    dropped: Option<u64>,
    received: u64,
    highest: Option<u64>,
    /// `exact[n - 1]`: packets whose largest n is exactly n; the last entry also counts larger ones.
    exact: Vec<u64>,
    overtaking: u64,
    late: u64,
    truncated: u64,
}

inorder_base::heap!(NReordering: stack, exact);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    start: u64,
    /// Inclusive.
    end: u64,
    /// Position of the arrival of `end`.
    position: u64,
    /// Members of the run that arrived in order.
    in_order: u64,
}

impl NReordering {
    /// Counts n up to `n_max` (larger ones are counted there) and remembers at least `max_runs` runs of consecutive
    /// numbers.
    pub fn new(n_max: usize, max_runs: usize) -> Self {
        NReordering {
            n_max: n_max.max(1),
            max_runs: max_runs.max(2),
            stack: Vec::new(),
            dropped: None,
            received: 0,
            highest: None,
            exact: Vec::new(),
            overtaking: 0,
            late: 0,
            truncated: 0,
        }
    }

    /// Counts the next arrival; returns the largest n for which it is n-reordered, 0 if for none.
    #[inline]
    pub fn update(&mut self, seq: u64) -> u64 {
        if seq > MAX_SEQ {
            return 0;
        }
        if self.highest.is_none_or(|highest| highest < seq) {
            self.update_run(seq, 1);
            return 0;
        }
        self.received += 1;
        self.late += 1;
        let predecessors = self.received - 1;
        while let Some(run) = self.stack.last().filter(|run| run.start > seq) {
            self.overtaking += run.in_order;
            self.stack.pop();
        }
        let smaller = match self.stack.last() {
            Some(run) => run.position,
            None => {
                self.truncated += u64::from(self.dropped.is_some());
                self.dropped.unwrap_or(0)
            }
        };
        self.push(seq, seq, 0);
        let n = predecessors - smaller;
        self.count(n);
        n
    }

    /// Counts `n` in-order arrivals with the numbers `first`, `first + 1`, ..., all larger than any number before, in
    /// O(1).
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) {
        let n = accepted(first, n);
        if n == 0 {
            return;
        }
        let end = first + (n - 1);
        self.received += n;
        self.highest = Some(end);
        self.push(first, end, n);
    }

    #[inline]
    fn push(&mut self, start: u64, end: u64, in_order: u64) {
        let position = self.received;
        if let Some(top) = self.stack.last_mut().filter(|top| top.end + 1 == start) {
            top.end = end;
            top.position = position;
            top.in_order += in_order;
            return;
        }
        if self.stack.len() >= self.max_runs.saturating_mul(2) {
            self.drop_bottom();
        }
        self.stack.push(Run {
            start,
            end,
            position,
            in_order,
        });
    }

    /// Drops the older half at once, so that the mean cost per packet is O(1).
    fn drop_bottom(&mut self) {
        let half = self.stack.len() / 2;
        if let Some(run) = self.stack.drain(..half).next_back() {
            self.dropped = Some(run.position);
        }
    }

    fn count(&mut self, n: u64) {
        let Some(index) = n.checked_sub(1) else {
            return;
        };
        let index = usize::try_from(index)
            .unwrap_or(usize::MAX)
            .min(self.n_max - 1);
        if index >= self.exact.len() {
            self.exact.resize(index + 1, 0);
        }
        if let Some(count) = self.exact.get_mut(index) {
            *count += 1;
        }
    }

    /// The highest number so far.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// As [`update_run`](Self::update_run) at the end of the stream: nothing comes that could be compared with the run. So
    /// a stream that is one run, as most are, takes no memory for it.
    pub(crate) fn update_last_run(&mut self, first: u64, n: u64) {
        let n = accepted(first, n);
        if !self.stack.is_empty() {
            self.update_run(first, n);
        } else if n > 0 {
            self.received += n;
            self.highest = Some(first + (n - 1));
        }
    }

    /// Ends the stream: keeps the counts and drops the state for further packets.
    pub(crate) fn forget(&mut self) {
        self.stack = Vec::new();
    }

    /// Adds the counts of another stream. Packets that arrive later belong to neither.
    pub fn merge(&mut self, other: &NReordering) {
        self.forget();
        self.n_max = self.n_max.max(other.n_max);
        let longer = self.exact.len().max(other.exact.len());
        self.exact.resize(longer, 0);
        for (mine, theirs) in self.exact.iter_mut().zip(&other.exact) {
            *mine += theirs;
        }
        self.received += other.received;
        self.overtaking += other.overtaking;
        self.late += other.late;
        self.truncated += other.truncated;
    }

    /// Index `n - 1`: packets whose largest n is exactly n; the last of `n_max` entries also
    /// holds the larger ones.
    pub fn largest(&self) -> &[u64] {
        &self.exact
    }

    /// Index `n - 1`: packets that are n-reordered. As in the RFC, a packet that is n-reordered for some n is
    /// n-reordered for every smaller one.
    pub fn cumulative(&self) -> Vec<u64> {
        let mut counts = self.exact.clone();
        let mut above = 0;
        for count in counts.iter_mut().rev() {
            above += *count;
            *count = above;
        }
        counts
    }

    /// Packets that arrived, L of the RFC; the degree of n-reordering is a count divided by it.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// In-order packets that arrived before a packet with a smaller number: early packets.
    pub fn overtaking(&self) -> u64 {
        self.overtaking
    }

    /// Packets that overtook another or were overtaken: late and early packets together.
    pub fn involved(&self) -> u64 {
        self.overtaking + self.late
    }

    /// Packets for which the memory did not reach back far enough: their n is a lower bound.
    pub fn truncated(&self) -> u64 {
        self.truncated
    }
}
