//! Which capture comes first on the way between two hosts.

use std::collections::BTreeMap;

use crate::diff::flow::Flow;
use crate::diff::pairs::Group;
use crate::diff::result::Basis;
use crate::diff::trace::Trace;

/// Packets that are captured at once may have times that differ by this, nanoseconds.
const TOLERANCE_NS: i64 = 1_000_000;

/// What is known of the way from one host to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// True if capture A comes first.
    pub(crate) a_first: bool,
    pub(crate) basis: Basis,
    /// Median of the time in B less the time in A, nanoseconds: the delay, and how far the clocks differ.
    pub(crate) usual_ns: i64,
    /// Least and greatest of these differences.
    pub(crate) range_ns: (i64, i64),
}

impl Way {
    /// True if a packet may take this long by its times (B less A): hardly less than the fastest one, which may have been
    /// faster than the usual one by as much again.
    pub(crate) fn allows(&self, difference_ns: i64) -> bool {
        let (least_ns, most_ns) = self.range_ns;
        let extreme_ns = if self.a_first { least_ns } else { most_ns };
        let spread_ns = self.usual_ns.saturating_sub(extreme_ns).saturating_abs();
        let slack_ns = spread_ns.saturating_add(TOLERANCE_NS);
        match self.a_first {
            true => difference_ns >= least_ns.saturating_sub(slack_ns),
            false => difference_ns <= most_ns.saturating_add(slack_ns),
        }
    }
}

#[derive(Default)]
struct Evidence {
    differences_ns: Vec<i64>,
    ttl_falls: u64,
    ttl_rises: u64,
}

/// The ways between all pairs of hosts, from the packets that each capture has once.
///
/// A router lowers the time to live, whatever the clocks say. Without one on the way, the direction in which B's time is
/// further ahead of A's goes from A to B. With packets in one direction only, A is taken to come first.
pub(crate) fn ways(a: &Trace, b: &Trace, groups: &[Group]) -> BTreeMap<Flow, Way> {
    let mut evidence: BTreeMap<Flow, Evidence> = BTreeMap::new();
    for (i, j) in groups.iter().filter_map(Group::single) {
        let (in_a, in_b) = (&a.packets[i], &b.packets[j]);
        let of = evidence.entry(a.flow_of(in_a).hosts()).or_default();
        of.differences_ns
            .push(in_b.ts_ns.saturating_sub(in_a.ts_ns));
        of.ttl_falls += u64::from(in_a.ttl > in_b.ttl);
        of.ttl_rises += u64::from(in_a.ttl < in_b.ttl);
    }
    let medians: BTreeMap<Flow, i64> = evidence
        .iter_mut()
        .filter_map(|(flow, of)| Some((*flow, median(&mut of.differences_ns)?)))
        .collect();
    let way = |(flow, of): (&Flow, &Evidence)| {
        let usual_ns = medians.get(flow).copied().unwrap_or(0);
        let back = medians
            .get(&flow.reverse())
            .filter(|_| flow.src != flow.dst);
        let (a_first, basis) = if of.ttl_falls != of.ttl_rises {
            (of.ttl_falls > of.ttl_rises, Basis::TimeToLive)
        } else if let Some(&back_ns) = back.filter(|back| **back != usual_ns) {
            (usual_ns > back_ns, Basis::BothDirections)
        } else {
            (true, Basis::Assumed)
        };
        let differences = || of.differences_ns.iter().copied();
        let range_ns = differences().min().zip(differences().max());
        let way = Way {
            a_first,
            basis,
            usual_ns,
            range_ns: range_ns.unwrap_or((usual_ns, usual_ns)),
        };
        (*flow, way)
    };
    evidence.iter().map(way).collect()
}

fn median(values: &mut [i64]) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// The way of a flow; of a flow without a packet in both captures, that of A first.
pub(super) fn way_of(ways: &BTreeMap<Flow, Way>, flow: &Flow) -> Way {
    let hosts = flow.hosts();
    let opposite = || {
        let back = ways
            .get(&hosts.reverse())
            .filter(|_| hosts != hosts.reverse())?;
        Some(Way {
            a_first: !back.a_first,
            ..*back
        })
    };
    let known = ways.get(&hosts).copied().or_else(opposite);
    known.unwrap_or(Way {
        a_first: true,
        basis: Basis::Assumed,
        usual_ns: 0,
        range_ns: (0, 0),
    })
}
