//! Which capture comes first on the way between two hosts.

use std::collections::BTreeMap;

use crate::flow::Flow;
use crate::pairs::Group;
use crate::result::Basis;
use crate::trace::Trace;

/// What is known of the way from one host to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// True if capture A comes first.
    pub(crate) a_first: bool,
    pub(crate) basis: Basis,
    /// Median of the time in B less the time in A, nanoseconds: the delay, and how far the clocks differ.
    pub(crate) usual_ns: i64,
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
        let way = Way {
            a_first,
            basis,
            usual_ns,
        };
        (*flow, way)
    };
    evidence.iter().map(way).collect()
}

fn median(values: &mut [i64]) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}
