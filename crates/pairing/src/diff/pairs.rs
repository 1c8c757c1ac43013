//! Which packet of one capture is which of the other.
//!
//! Packets with the same bytes (repeated keepalives, datagrams without identification) are a group. With as many in both
//! captures they are paired in order. Otherwise some are missing on one side, and the pairing is the one, in order, whose
//! time differences are closest to the usual one. Of several copies in the capture that comes second the first is the
//! arrival (RFC 4737 section 3.6, RFC 5560): a copy is no later packet, however long the first one took.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::direction::Way;
use crate::diff::flow::Flow;
use crate::diff::trace::{Seen, Trace};
use crate::join::{Keyed, join, sorted};

/// Most costs that are compared to pair a group: packets of the shorter side, times those that it lacks. Others are paired in order
/// from their start.
const MAX_COMPARED: usize = 1 << 20;

/// A packet in both captures, or in one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pair {
    Both(usize, usize),
    OnlyA(usize),
    OnlyB(usize),
}

/// Indices of packets with the same bytes, in the order of their captures.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) a: Vec<usize>,
    pub(crate) b: Vec<usize>,
}

/// All groups.
pub(crate) fn groups(a: &Trace, b: &Trace) -> Vec<Group> {
    let keys = |trace: &Trace| sorted(&trace.packets, |seen| seen.hash);
    let indices = |run: &[Keyed<u128>]| run.iter().map(|&(_, index)| index as usize).collect();
    join(&keys(a), &keys(b))
        .flat_map(|(_, in_a, in_b)| {
            let whole = Group {
                a: indices(in_a),
                b: indices(in_b),
            };
            whole.by_flow(a, b)
        })
        .collect()
}

impl Group {
    /// The group parted by flow, if its packets are alike although they are of several: without their addresses, what a host echoes is the same
    /// as what was sent to it. A device translates one end of a flow (RFC 3022 section 2.2), the other is the same in both captures.
    fn by_flow(self, a: &Trace, b: &Trace) -> Vec<Group> {
        let flow_a = |&i: &usize| a.flow_of(&a.packets[i]);
        let flow_b = |&j: &usize| b.flow_of(&b.packets[j]);
        let flows: BTreeSet<Flow> = self.a.iter().map(flow_a).collect();
        let others: BTreeSet<Flow> = self.b.iter().map(flow_b).collect();
        if flows.is_empty() || flows.len().max(others.len()) < 2 || others.is_empty() {
            return vec![self];
        }
        let same_end = |one: &Flow, other: &Flow| one.src == other.src || one.dst == other.dst;
        let of = |flow: &Flow| {
            let mut fitting = flows.iter().filter(|other| same_end(flow, other));
            fitting.next().filter(|_| fitting.next().is_none()).copied()
        };
        // Of ends that are not known again, each may be any of them.
        let known = others.iter().filter(|flow| of(flow).is_some()).count();
        if known == 0 || known < others.len().min(flows.len()) {
            return vec![self];
        }
        let mut parts: BTreeMap<Flow, Group> = BTreeMap::new();
        for j in &self.b {
            let flow = of(&flow_b(j)).unwrap_or_else(|| flow_b(j));
            parts.entry(flow).or_default().b.push(*j);
        }
        for i in &self.a {
            parts.entry(flow_a(i)).or_default().a.push(*i);
        }
        parts.into_values().collect()
    }

    /// The packet that each capture has once.
    pub(crate) fn single(&self) -> Option<(usize, usize)> {
        match (self.a.as_slice(), self.b.as_slice()) {
            (&[a], &[b]) => Some((a, b)),
            _ => None,
        }
    }

    /// The pairs of the group, given what is known of its way.
    pub(crate) fn pairs(&self, a: &[Seen], b: &[Seen], way: Way) -> Vec<Pair> {
        let (n, m) = (self.a.len(), self.b.len());
        let time = |seen: &[Seen], index: usize| seen.get(index).map_or(0, |seen| seen.ts_ns);
        let difference = |i: usize, j: usize| time(b, self.b[j]).saturating_sub(time(a, self.a[i]));
        let compared = n.min(m).saturating_mul(n.abs_diff(m) + 1);
        let paired: Vec<(usize, usize)> = if n == m || compared > MAX_COMPARED {
            (0..n.min(m)).map(|i| (i, i)).collect()
        } else {
            let few_in_a = n < m;
            let difference = |few: usize, many: usize| match few_in_a {
                true => difference(few, many),
                false => difference(many, few),
            };
            let cost = |few, many| u128::from(difference(few, many).abs_diff(way.usual_ns));
            let mut pairs = cheapest(n.min(m), n.max(m), cost);
            // More copies in the capture that comes second: any of them was paired, and the first one is the arrival.
            if few_in_a == way.a_first {
                pairs = first_copies(&pairs, cost, |few, many| way.allows(difference(few, many)));
            }
            match few_in_a {
                true => pairs,
                false => pairs.into_iter().map(|(j, i)| (i, j)).collect(),
            }
        };
        let both = paired
            .iter()
            .map(|&(i, j)| Pair::Both(self.a[i], self.b[j]));
        let only_a = left(&self.a, paired.iter().map(|p| p.0));
        let only_b = left(&self.b, paired.iter().map(|p| p.1));
        both.chain(only_a.into_iter().map(Pair::OnlyA))
            .chain(only_b.into_iter().map(Pair::OnlyB))
            .collect()
    }
}

/// The elements of `of` that are not at one of the places `used`.
fn left(of: &[usize], used: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut rest: Vec<_> = of.iter().copied().map(Some).collect();
    for place in used {
        rest[place] = None;
    }
    rest.into_iter().flatten().collect()
}

/// Moves each pair to the first of the copies that are nearer to its packet than to the one before, of those that can be
/// arrivals of it. `pairs` are in order: packet, copy.
fn first_copies(
    pairs: &[(usize, usize)],
    cost: impl Fn(usize, usize) -> u128,
    is_possible: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut moved: Vec<(usize, usize)> = Vec::with_capacity(pairs.len());
    for &(packet, paired) in pairs {
        let before = moved.last().copied();
        let unpaired = before.map_or(0, |(_, copy)| copy + 1)..paired;
        let is_nearer =
            |copy| before.is_none_or(|(other, _)| cost(packet, copy) < cost(other, copy));
        let first = unpaired
            .into_iter()
            .find(|&copy| is_possible(packet, copy) && is_nearer(copy));
        moved.push((packet, first.unwrap_or(paired)));
    }
    moved
}

/// Pairs each of `few` with one of `many`, keeping both orders, at the least total cost.
fn cheapest(few: usize, many: usize, cost: impl Fn(usize, usize) -> u128) -> Vec<(usize, usize)> {
    let wide = many - few + 1;
    // best[i * wide + over]: the first i of the few with the first i + over of the many.
    let mut best = vec![0_u128; (few + 1) * wide];
    for i in 1..=few {
        for over in 0..wide {
            let with = best[(i - 1) * wide + over].saturating_add(cost(i - 1, i - 1 + over));
            let without = match over {
                0 => u128::MAX,
                _ => best[i * wide + over - 1],
            };
            best[i * wide + over] = with.min(without);
        }
    }
    let (mut pairs, mut over) = (Vec::new(), wide - 1);
    for i in (1..=few).rev() {
        while over > 0 && best[i * wide + over] == best[i * wide + over - 1] {
            over -= 1;
        }
        pairs.push((i - 1, i - 1 + over));
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(ts_ns: i64) -> Seen {
        Seen {
            hash: 1,
            ts_ns,
            frame: 1,
            flow: 0,
            bytes: 0,
            ttl: 0,
            range: Default::default(),
            datagram: None,
            place: 0,
        }
    }

    #[test]
    fn of_three_equal_packets_the_second_is_missing() {
        let a = [0, 1_000, 2_000].map(seen);
        let b = [10, 2_012].map(seen);
        let group = Group {
            a: vec![0, 1, 2],
            b: vec![0, 1],
        };
        let pairs = group.pairs(&a, &b, way(true, 10, (10, 12)));
        assert_eq!(pairs, [Pair::Both(0, 0), Pair::Both(2, 1), Pair::OnlyA(1)]);
    }

    fn way(a_first: bool, usual_ns: i64, range_ns: (i64, i64)) -> Way {
        Way {
            a_first,
            basis: crate::diff::result::Basis::TimeToLive,
            usual_ns,
            range_ns,
        }
    }

    /// Pairs of packets sent and arrived at these times in milliseconds. Other packets take 10 to 60 ms, usually 40.
    fn copies(sent: &[i64], arrived: &[i64]) -> Vec<(usize, usize)> {
        const MS: i64 = 1_000_000;
        let at = |ms: &[i64]| -> Vec<Seen> { ms.iter().map(|ms| seen(ms * MS)).collect() };
        let (sent, arrived) = (at(sent), at(arrived));
        let all = |of: &[Seen]| (0..of.len()).collect();
        let group = Group {
            a: all(&sent),
            b: all(&arrived),
        };
        let both = |pair: &Pair| match *pair {
            Pair::Both(i, j) => Some((i, j)),
            _ => None,
        };
        let there = group.pairs(&sent, &arrived, way(true, 40 * MS, (10 * MS, 60 * MS)));
        let there = there.iter().filter_map(both).collect();
        // The same with the captures exchanged.
        let group = Group {
            a: group.b,
            b: group.a,
        };
        let back = group.pairs(&arrived, &sent, way(false, -40 * MS, (-60 * MS, -10 * MS)));
        let back: Vec<_> = back.iter().filter_map(both).map(|(j, i)| (i, j)).collect();
        assert_eq!(there, back);
        there
    }

    #[test]
    fn the_first_of_two_copies_is_the_arrival() {
        assert_eq!(copies(&[0], &[15, 38]), [(0, 0)]);
        assert_eq!(copies(&[0], &[38, 55, 80]), [(0, 0)]);
        // Sent twice, and the path doubled the first or the second one.
        assert_eq!(copies(&[0, 500], &[15, 40, 540]), [(0, 0), (1, 2)]);
        assert_eq!(copies(&[0, 500], &[40, 515, 540]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn what_came_before_it_can_have_been_sent_is_no_copy() {
        // An equal packet of before the first capture.
        assert_eq!(copies(&[10_000], &[40, 10_040]), [(0, 1)]);
    }

    #[test]
    fn packets_in_both_captures_alike_are_paired_in_order() {
        assert_eq!(copies(&[0, 100], &[40, 140]), [(0, 0), (1, 1)]);
    }

    /// Two hundred thousand keepalives, one of which the second capture lacks: no packet is looked for among all others.
    #[test]
    fn very_many_equal_packets_are_paired_one_after_the_other() {
        const EQUAL: usize = 200_000;
        let group = Group {
            a: (0..EQUAL).collect(),
            b: (1..EQUAL).collect(),
        };
        let pairs = group.pairs(&[], &[], way(true, 0, (0, 0)));
        let (both, alone) = pairs.split_at(EQUAL - 1);
        assert_eq!(
            (both[0], alone),
            (Pair::Both(0, 1), &[Pair::OnlyA(EQUAL - 1)][..])
        );
    }

    /// Every way to choose `few` of `many` in order.
    fn all(few: usize, many: usize, from: usize) -> Vec<Vec<usize>> {
        if few == 0 {
            return vec![Vec::new()];
        }
        (from..=many - few)
            .flat_map(|first| {
                let rest = all(few - 1, many, first + 1);
                rest.into_iter().map(move |mut rest| {
                    rest.insert(0, first);
                    rest
                })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn no_pairing_in_order_is_cheaper(costs in prop::collection::vec(0u64..50, 30), few in 1usize..5) {
            let cost = |i: usize, j: usize| u128::from(costs[i * 6 + j]);
            let total = |pairs: &[(usize, usize)]| pairs.iter().map(|&(i, j)| cost(i, j)).sum::<u128>();
            let found = cheapest(few, 6, cost);
            let least = all(few, 6, 0).iter().map(|chosen| {
                total(&chosen.iter().copied().enumerate().collect::<Vec<_>>())
            }).min();
            prop_assert_eq!(Some(total(&found)), least);
            prop_assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        }
    }
}
