//! From pairs to order, loss and delay.

use std::collections::BTreeMap;

use crate::diff::direction::{way_of, ways};
use crate::diff::flow::Flow;
use crate::diff::one_way::{Packet, one_way};
use crate::diff::pairs::{Group, Pair, groups};
use crate::diff::pieces;
use crate::diff::result::{Basis, Difference};
use crate::diff::trace::Trace;
use crate::diff::{tunnels, twice};

/// How two captures are compared.
#[derive(Clone, Copy, Default)]
pub struct Settings<'s> {
    /// Packets of TCP that match nothing stay whole. Otherwise those that offloading put together differently are cut.
    pub whole: bool,
    /// Which flows are reported, by their ends in A; `None` for all.
    pub select: Option<&'s dyn Fn(&Flow) -> bool>,
}

/// Share of the packets of the shorter capture that the other one has, whole or in fragments.
pub fn in_common(a: &Trace, b: &Trace) -> f64 {
    let groups = groups(a, b);
    let pairs: usize = groups.iter().map(|g| g.a.len().min(g.b.len())).sum();
    let pairs = pairs + pieces::in_fragments(a, b, &groups);
    pairs as f64 / a.len().min(b.len()).max(1) as f64
}

/// Compares two captures: A, then B. Packets that [`Settings::whole`] allows to are cut in both.
pub fn compare(a: &mut Trace, b: &mut Trace, settings: Settings<'_>) -> Difference {
    let again = [twice::once(a), twice::once(b)];
    let mut matched = groups(a, b);
    let names = names(a, b, &matched);
    let name = |flow: &Flow| names.get(flow).copied().unwrap_or(*flow);
    let mut cut = 0;
    if !settings.whole {
        cut = pieces::cut(a, b, &matched, name);
        if cut > 0 {
            matched = groups(a, b);
        }
    }
    let (a, b) = (&*a, &*b);
    let ways = ways(a, b, &matched);
    let selected = |flow: &Flow| settings.select.is_none_or(|select| select(flow));
    let mut sides = [Vec::new(), Vec::new()];
    for group in &matched {
        let Some(&index) = group.a.first() else {
            let flow = |&j: &usize| (name(&b.flow_of(&b.packets[j])), b.packets[j]);
            for (flow, seen) in group.b.iter().map(flow).filter(|(flow, _)| selected(flow)) {
                let way = way_of(&ways, &flow);
                let of = Packet::new(way, flow, None, Some(seen), false);
                sides[usize::from(!way.a_first)].push(of);
            }
            continue;
        };
        let flow = a.flow_of(&a.packets[index]);
        if !selected(&flow) {
            continue;
        }
        let way = way_of(&ways, &flow);
        let both = !group.b.is_empty();
        for pair in group.pairs(&a.packets, &b.packets, way) {
            let (in_a, in_b) = match pair {
                Pair::Both(i, j) => (Some(a.packets[i]), Some(b.packets[j])),
                Pair::OnlyA(i) => (Some(a.packets[i]), None),
                Pair::OnlyB(j) => (None, Some(b.packets[j])),
            };
            sides[usize::from(!way.a_first)].push(Packet::new(way, flow, in_a, in_b, both));
        }
    }
    let mut found = Difference {
        cut,
        ..Difference::default()
    };
    for ((mut side, a_first), name) in sides.into_iter().zip([true, false]).zip(DIRECTIONS) {
        if !side.is_empty() {
            one_way(&mut side, a_first, name, &ways, &mut found);
        }
    }
    let there: BTreeMap<String, String> = names
        .iter()
        .filter(|(in_b, in_a)| in_b != in_a)
        .map(|(in_b, in_a)| (in_a.to_string(), in_b.to_string()))
        .collect();
    for flow in &mut found.flows {
        flow.in_b = there.get(&flow.name).cloned();
    }
    found
        .flows
        .sort_by_key(|flow| std::cmp::Reverse(flow.lost + flow.order.reordered));
    warn(a, b, &mut found);
    for (name, removed) in ["A", "B"].into_iter().zip(&again) {
        twice::tell(name, removed, &mut found);
    }
    twice::warn(a, b, &matched, &mut found);
    found
}

/// Names of the two directions.
const DIRECTIONS: [&str; 2] = ["A to B", "B to A"];

/// The flow of A that each flow of B is, by the packets that each capture has once. Both are the same without a device
/// that translates addresses between the captures.
fn names(a: &Trace, b: &Trace, groups: &[Group]) -> BTreeMap<Flow, Flow> {
    let single = groups.iter().filter_map(Group::single);
    single
        .map(|(i, j)| (b.flow_of(&b.packets[j]), a.flow_of(&a.packets[i])))
        .collect()
}

/// Says what the captures cannot show.
fn warn(a: &Trace, b: &Trace, found: &mut Difference) {
    tunnels::tell(a, b, found);
    for (name, trace) in [("A", a), ("B", b)] {
        if trace.is_empty() && trace.bare == 0 {
            found.warnings.push(format!("{name} holds no packet"));
        }
    }
    let matched = found.directions.iter().any(|way| way.order.received > 0);
    if !matched && !a.is_empty() && !b.is_empty() {
        let text = "no packet of one capture is in the other: they may have been taken at different times, or what is \
                    between them may change more than addresses";
        found.warnings.push(text.to_owned());
    }
    if found.cut > 0 {
        let text = format!(
            "{} cut where the other capture's packets or fragments begin and end (super-packets of segmentation offload, \
             datagrams that it has in fragments), and their pieces matched by their place; several pieces lost in a row may count \
             as one",
            plural(found.cut, "packet was", "packets were")
        );
        found.warnings.push(text);
    } else if a.largest().max(b.largest()) > a.largest().min(b.largest()).saturating_mul(3) / 2
        && matched
    {
        let text = format!(
            "the largest packets have {} and {} bytes: super-packets of segmentation offload match nothing",
            a.largest(),
            b.largest()
        );
        found.warnings.push(text);
    }
    if a.bare + b.bare > 0 {
        let text = format!(
            "{} without a payload left out: nothing tells them apart",
            plural(a.bare + b.bare, "packet was", "packets were")
        );
        found.warnings.push(text);
    }
    if found
        .directions
        .iter()
        .any(|way| way.basis == Basis::Assumed)
    {
        let text = "of some packets nothing tells which capture they pass first: A is assumed";
        found.warnings.push(text.to_owned());
    }
}

fn plural(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
