//! The reports of the worst flows, and the sums over the others.
//!
//! A capture may hold millions of connections, of which most are alike: nothing happened to them. So that memory does
//! not grow with their number, a table keeps at most so many reports. The flow that matters least gives way and is
//! added to sums. Which flows are kept depends on the flows alone, and not on the order in which they end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::attempts::AttemptTable;
use crate::choice::FlowChoice;
use crate::config::Config;
use crate::gravity::Gravity;
use crate::result::{Attempt, Attempts, EndedEarly, FlowId, FlowReport, Totals};

/// Reports of a bounded number of flows, those of the greatest [`Gravity`], and the sums over all
/// others.
///
/// Among flows of the same gravity, those with problems come first, then those with more data, then those that began first.
///
/// ```
/// use std::net::SocketAddr;
/// use inorder_detect::{
///     Config, FlowId, FlowReport, FlowTable, Vantage, VantageBasis, VantageChoice,
/// };
///
/// let flow = |port: u16, losses: u64| {
///     let (src, dst) = (SocketAddr::from(([10, 0, 0, 1], port)), SocketAddr::from(([10, 0, 0, 2], 80)));
///     let vantage = VantageChoice {
///         vantage: Vantage::Receiver,
///         basis: VantageBasis::Handshake,
///         to_receiver_ns: None,
///         to_sender_ns: None,
///     };
///     let mut report = FlowReport::new(FlowId { src, dst, overlay: 0, reuse: 0 }, vantage);
///     report.originals.lost = losses;
///     report
/// };
/// let mut table = FlowTable::new(&Config::default().max_flows(2));
/// for (port, losses) in [(1, 1), (2, 0), (3, 9), (4, 0)] {
///     table.push(flow(port, losses));
/// }
/// let (worst, others) = table.finish();
/// let ports: Vec<u16> = worst.iter().map(|report| report.flow.src.port()).collect();
/// assert_eq!(ports, [1, 3]);
/// assert_eq!((others.flows, others.originals.lost), (2, 0));
/// ```
#[derive(Clone, Debug)]
pub struct FlowTable {
    most: usize,
    only: Option<FlowChoice>,
    kept: Vec<FlowReport>,
    /// The places in `kept` by rank, the lowest rank on top; empty until there are more flows than are kept.
    lowest: BinaryHeap<Reverse<Ranked>>,
    /// What does not rank above this is not kept, for another table is full of higher ranks.
    floor: Option<Rank>,
    summed: Totals,
    attempts: AttemptTable,
    /// What comes now are flows of a connection that is ended early.
    ends_early: bool,
    early: EndedEarly,
}

/// The order in which flows matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Rank {
    /// The bits of [`Gravity::key`], which ascend with it, for it is not negative.
    gravity: u64,
    has_problems: bool,
    bytes: u64,
    /// The earlier one ranks higher.
    begin: Reverse<(i64, FlowId)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Ranked {
    rank: Rank,
    place: usize,
}

impl Rank {
    fn of(report: &FlowReport) -> Self {
        let gravity = Gravity::of_flow(report);
        Rank {
            gravity: gravity.key().to_bits(),
            has_problems: report.has_problems_of(&gravity),
            bytes: report.originals.bytes,
            begin: Reverse((report.first_ns, report.flow)),
        }
    }
}

impl FlowTable {
    /// Keeps at most [`Config::max_flows`] reports, of the flows that [`Config::only`] takes.
    pub fn new(config: &Config) -> Self {
        // Without a single one nothing could be said of the worst.
        FlowTable::with(config.reports().max(1), config.only.clone())
    }

    fn with(most: usize, only: Option<FlowChoice>) -> Self {
        FlowTable {
            most,
            only,
            kept: Vec::new(),
            lowest: BinaryHeap::new(),
            floor: None,
            summed: Totals::default(),
            attempts: AttemptTable::default(),
            ends_early: false,
            early: EndedEarly::default(),
        }
    }

    /// Notes `ns` as the time of the last packet of a connection, nanoseconds since the epoch.
    pub(crate) fn note_time(&mut self, ns: i64) {
        self.attempts.note_time(ns);
    }

    /// Adds an attempt to open a connection.
    pub(crate) fn push_attempt(&mut self, attempt: Attempt) {
        if self.takes(&named(&attempt)) {
            self.attempts.push(attempt);
        }
    }

    /// Counts an attempt whose end is not known.
    pub(crate) fn forget_attempt(&mut self, attempt: &Attempt) {
        if self.takes(&named(attempt)) {
            self.attempts.forget(attempt.packets);
        }
    }

    /// The attempts to open connections that carried no data, without those that were taken before.
    pub fn take_attempts(&mut self) -> Attempts {
        std::mem::take(&mut self.attempts).finish()
    }

    /// Adds a flow. O(log n) in the number of reports kept, once there are more flows than that.
    #[inline]
    pub fn push(&mut self, report: FlowReport) {
        if self.takes(&report.flow) {
            if self.ends_early {
                return self.put_early(report);
            }
            self.put(report);
        }
    }

    /// `end` reports the flows of a connection that cannot be followed to its end. Where something happened they are kept;
    /// the others are only summed.
    pub(crate) fn end_early(&mut self, end: impl FnOnce(&mut FlowTable)) {
        self.ends_early = true;
        end(self);
        self.ends_early = false;
        self.early.connections += 1;
    }

    #[cold]
    fn put_early(&mut self, report: FlowReport) {
        if report.has_problems() || Gravity::of_flow(&report).worst().is_some() {
            return self.put(report);
        }
        self.early.flows += 1;
        self.early.packets += report.originals.packets;
        self.summed.add(&report);
    }

    /// A packet came of a connection that was ended early.
    pub(crate) fn pass_over(&mut self) {
        self.early.later_packets += 1;
    }

    /// The connections that were ended early, without those that were taken before.
    pub fn take_ended_early(&mut self) -> EndedEarly {
        std::mem::take(&mut self.early)
    }

    /// True if a flow of this name is kept or summed.
    pub(crate) fn takes(&self, flow: &FlowId) -> bool {
        self.only.as_ref().is_none_or(|only| only.takes(flow))
    }

    /// Adds a flow that was chosen.
    #[inline(always)] // A report is large: a call would copy it.
    fn put(&mut self, report: FlowReport) {
        match self.has_room(&report) {
            true => self.kept.push(report),
            false => self.put_among(report),
        }
    }

    /// True if the report may be kept, whatever it is compared with the others; then there is room for it.
    fn has_room(&mut self, report: &FlowReport) -> bool {
        let low = self.floor.is_some_and(|floor| Rank::of(report) <= floor);
        if low || self.kept.len() >= self.most {
            return false;
        }
        if self.kept.len() == self.kept.capacity() {
            self.kept.reserve_exact(self.more());
        }
        true
    }

    /// Adds a flow where as many are kept as may be, or that does not rank high enough to be kept.
    #[inline(never)]
    fn put_among(&mut self, report: FlowReport) {
        if self.floor.is_some_and(|floor| Rank::of(&report) <= floor) {
            return self.summed.add(&report);
        }
        if self.lowest.is_empty() {
            let ranked = self.kept.iter().enumerate();
            let ranked = ranked.map(|(place, kept)| Ranked {
                rank: Rank::of(kept),
                place,
            });
            self.lowest = ranked.map(Reverse).collect();
        }
        let rank = Rank::of(&report);
        match self.lowest.peek_mut() {
            Some(mut lowest) if lowest.0.rank < rank => {
                let place = lowest.0.place;
                *lowest = Reverse(Ranked { rank, place });
                self.summed.add(&self.kept[place]);
                self.kept[place] = report;
            }
            _ => self.summed.add(&report),
        }
    }

    /// How many further reports get room once there is none left. All of them move then, and the memory that they leave stays with the
    /// process: so there are few moves, each to sixteen times the room. A table that has grown to some hundred gets all of its room at
    /// once, if that is not very much, since room that nobody has written to takes no memory.
    fn more(&self) -> usize {
        const MIN_KEPT: usize = 256;
        const MAX_RESERVED: usize = 100_000;
        let (len, left) = (self.kept.len(), self.most - self.kept.len());
        match len {
            MIN_KEPT.. if self.most <= MAX_RESERVED => left,
            _ => (15 * len).max(16).min(left),
        }
    }

    /// Adds the flows of another table, which has chosen them.
    pub fn merge(&mut self, other: FlowTable) {
        self.summed.merge(&other.summed);
        self.attempts.merge(other.attempts);
        self.early.merge(&other.early);
        let fits = other.kept.len() <= self.most;
        if self.kept.is_empty() && self.floor.is_none() && fits {
            self.kept = other.kept; // As usual: no report has to be moved.
        } else {
            other.kept.into_iter().for_each(|report| self.put(report));
        }
    }

    /// Sums from now on what `other` would not keep, so that a table whose flows go there stays small.
    pub(crate) fn keep_for(&mut self, other: &FlowTable) {
        self.floor = other.lowest.peek().map(|lowest| lowest.0.rank);
    }

    /// Takes the flows out, so that the table is empty.
    #[must_use]
    pub fn take(&mut self) -> FlowTable {
        let empty = FlowTable::with(self.most, self.only.clone());
        std::mem::replace(self, empty)
    }

    /// The reports, in the order in which the connections began, and the sums over the other flows.
    pub fn finish(mut self) -> (Vec<FlowReport>, Totals) {
        let begin = |f: &FlowReport| (f.first_ns, f.flow);
        if !self.kept.is_sorted_by_key(begin) {
            // Sorts the keys, then moves each report once: a second copy of very many reports would be felt, and so would
            // it if each were moved at every step of the sort.
            self.kept.sort_by_cached_key(begin);
        }
        (self.kept, self.summed)
    }
}

/// The name that a flow of the attempt would have.
fn named(attempt: &Attempt) -> FlowId {
    FlowId {
        src: attempt.src,
        dst: attempt.dst,
        overlay: attempt.overlay,
        reuse: 0,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use proptest::prelude::*;

    use super::*;
    use crate::result::{Vantage, VantageBasis, VantageChoice};

    fn flow(n: usize, first_ns: i64, losses: u64) -> FlowReport {
        let end = |port: u16| SocketAddr::from(([10, 0, 0, 1], port));
        let id = FlowId {
            src: end(n as u16),
            dst: end(9),
            overlay: 0,
            reuse: 0,
        };
        let vantage = VantageChoice {
            vantage: Vantage::Receiver,
            basis: VantageBasis::Handshake,
            to_receiver_ns: None,
            to_sender_ns: None,
        };
        let mut report = FlowReport::new(id, vantage);
        (
            report.first_ns,
            report.originals.lost,
            report.originals.packets,
        ) = (first_ns, losses, 7);
        report
    }

    proptest! {
        /// The straightforward twin sorts all flows.
        #[test]
        fn the_worst_are_kept_and_the_others_summed(
            flows in prop::collection::vec((0i64..20, 0u64..6), 0..80),
            most in 1usize..30,
            cut in 0usize..80,
        ) {
            let mut all: Vec<FlowReport> =
                flows.iter().enumerate().map(|(n, f)| flow(n, f.0, f.1)).collect();
            let mut table = FlowTable::with(most, None);
            let mut other = FlowTable::with(most, None);
            for (n, report) in all.iter().enumerate() {
                if n < cut { table.push(report.clone()) } else { other.push(report.clone()) }
                if n % 8 == 7 {
                    other.merge(table.take());
                    table.keep_for(&other);
                }
            }
            other.merge(table.take());
            let (kept, summed) = other.finish();
            all.sort_by_key(|f| Reverse(Rank::of(f)));
            let rest = all.split_off(most.min(all.len()));
            all.sort_by_key(|f| (f.first_ns, f.flow));
            prop_assert_eq!(kept, all);
            prop_assert_eq!(summed, Totals::of(&rest));
        }
    }
}
