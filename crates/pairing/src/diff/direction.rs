//! Which capture comes first on the way between two hosts.

use std::collections::BTreeMap;

use crate::diff::flow::Flow;
use crate::diff::pairs::Group;
use crate::diff::result::Basis;
use crate::diff::trace::{Seen, Trace};

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

/// The ways between all pairs of hosts, from the packets that each capture has once, or without any from those that are repeated.
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
    repeated(a, b, groups, &mut evidence);
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

/// Of hosts of which no packet is in each capture once: those that are repeated byte by byte, as keepalives are.
fn repeated(a: &Trace, b: &Trace, groups: &[Group], evidence: &mut BTreeMap<Flow, Evidence>) {
    let mut found: BTreeMap<Flow, Evidence> = BTreeMap::new();
    for group in groups.iter().filter(|group| !group.b.is_empty()) {
        let Some(first) = group.a.first() else {
            continue;
        };
        let hosts = a.flow_of(&a.packets[*first]).hosts();
        if evidence.contains_key(&hosts) {
            continue;
        }
        let packets = |of: &Trace, places: &[usize]| -> Vec<Seen> {
            let places = places.iter().take(MAX_REPEATED);
            places.map(|&place| of.packets[place]).collect()
        };
        let (in_a, in_b) = (packets(a, &group.a), packets(b, &group.b));
        let of = found.entry(hosts).or_default();
        if of.differences_ns.len() >= MAX_GROUPS {
            continue;
        }
        of.differences_ns.extend(shift(&in_a, &in_b));
        of.ttl_falls += u64::from(in_a[0].ttl > in_b[0].ttl);
        of.ttl_rises += u64::from(in_a[0].ttl < in_b[0].ttl);
    }
    evidence.extend(found);
}

/// Equal packets that are compared to find out how the times of two captures differ.
const MAX_REPEATED: usize = 64;
/// Groups of them between two hosts that are looked at.
const MAX_GROUPS: usize = 16;

/// The difference of the times (B less A) with which the packets of A lie nearest to those of B.
fn shift(a: &[Seen], b: &[Seen]) -> Option<i64> {
    // A packet without a counterpart lies as far off as a usual one: it may say no more than that.
    let spacing_ns = |of: &[Seen]| {
        let last = of.last()?.ts_ns.saturating_sub(of.first()?.ts_ns);
        Some(last.unsigned_abs() / (of.len() as u64 - 1).max(1))
    };
    let most_ns = spacing_ns(a)?.max(spacing_ns(b)?);
    let distances = |from: &[Seen], to: &[Seen], difference_ns: i64| -> u128 {
        let nearest = |seen: &Seen| {
            let due_ns = seen.ts_ns.saturating_add(difference_ns);
            let distances = to.iter().map(|other| other.ts_ns.abs_diff(due_ns));
            distances.min().unwrap_or(most_ns).min(most_ns)
        };
        // What the last ones belong to may be behind those that are looked at.
        let first = from.iter().take(MAX_REPEATED * 3 / 4);
        first.map(|seen| u128::from(nearest(seen))).sum()
    };
    // Both ways: regular packets lie as near if each is taken for the one before it, but one is left over then.
    let off = |difference_ns: i64| {
        distances(a, b, difference_ns) + distances(b, a, difference_ns.saturating_neg())
    };
    let candidates = a.iter().take(MAX_REPEATED / 8).flat_map(|one| {
        let difference = |other: &Seen| other.ts_ns.saturating_sub(one.ts_ns);
        b.iter().map(difference)
    });
    candidates.min_by_key(|&difference_ns| (off(difference_ns), difference_ns.unsigned_abs()))
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
