//! From pairs to order, loss and delay.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use inorder_metrics::{Arrival, Config, Distribution, Metrics};

use crate::diff::direction::{Way, ways};
use crate::diff::flow::Flow;
use crate::diff::pairs::{Group, Pair, groups};
use crate::diff::pieces;
use crate::diff::result::{Basis, Difference, Fate, Matched, PacketRow};
use crate::diff::trace::{Seen, Trace};
use crate::diff::twice;

/// A packet as its direction sees it.
#[derive(Clone, Copy)]
struct Packet {
    flow: Flow,
    /// In the capture that comes first, and in the other one.
    first: Option<Seen>,
    then: Option<Seen>,
    /// A copy of a packet that both have.
    copy: bool,
}

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
                let of = packet(way, flow, None, Some(seen), false);
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
            sides[usize::from(!way.a_first)].push(packet(way, flow, in_a, in_b, both));
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

/// The way of a flow; of a flow without a packet in both captures, that of A first.
fn way_of(ways: &BTreeMap<Flow, Way>, flow: &Flow) -> Way {
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

fn packet(way: Way, flow: Flow, a: Option<Seen>, b: Option<Seen>, both: bool) -> Packet {
    let (first, then) = if way.a_first { (a, b) } else { (b, a) };
    Packet {
        flow,
        first,
        then,
        copy: both && first.is_none(),
    }
}

/// Everything of one direction or flow while it is measured.
struct Tally {
    metrics: Metrics,
    next: u64,
    found: Matched,
    differences_ns: Vec<i64>,
}

impl Tally {
    fn new(name: String, a_first: bool, basis: Basis) -> Self {
        Tally {
            metrics: Metrics::new(Config {
                start: Some(1),
                ..Config::default()
            }),
            next: 0,
            found: Matched {
                name,
                in_b: None,
                a_first,
                basis,
                sent: 0,
                order: Default::default(),
                lost: 0,
                duplicated: 0,
                appeared: 0,
                outside: 0,
                least_ns: 0,
                longer_ns: Distribution::new(),
            },
            differences_ns: Vec::new(),
        }
    }

    fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Lost => self.found.lost += 1,
            Fate::Duplicated => self.found.duplicated += 1,
            Fate::Appeared => self.found.appeared += 1,
            Fate::Outside => self.found.outside += 1,
            Fate::InOrder | Fate::Late => {}
        }
        self.found.sent += u64::from(matches!(fate, Fate::InOrder | Fate::Late | Fate::Lost));
    }

    fn finish(mut self) -> Matched {
        self.found.least_ns = self.differences_ns.iter().copied().min().unwrap_or(0);
        for ns in self.differences_ns {
            self.found
                .longer_ns
                .update(ns.abs_diff(self.found.least_ns));
        }
        self.found.order = self.metrics.finish().order;
        self.found
    }
}

/// Measures the packets of one direction.
fn one_way(
    packets: &mut [Packet],
    a_first: bool,
    name: &str,
    ways: &BTreeMap<Flow, Way>,
    found: &mut Difference,
) {
    let frame = |seen: Option<Seen>| seen.map(|seen| seen.frame);
    let place = |seen: Option<Seen>| seen.map(|seen| (seen.frame, seen.place));
    packets.sort_by_key(|p| (place(p.first).unwrap_or((u64::MAX, 0)), place(p.then)));
    // The other capture was running between the first and the last packet of this one that both have.
    let both: Vec<usize> = (0..packets.len())
        .filter(|&i| packets[i].first.is_some() && packets[i].then.is_some())
        .collect();
    let running = both
        .first()
        .zip(both.last())
        .map(|(first, last)| *first..=*last);
    let bases: HashSet<&str> = packets
        .iter()
        .map(|p| way_of(ways, &p.flow).basis.name())
        .collect();
    let basis = match packets.first() {
        Some(p) if bases.len() == 1 => way_of(ways, &p.flow).basis,
        _ if bases.contains(Basis::Assumed.name()) => Basis::Assumed,
        _ => Basis::BothDirections,
    };
    let mut all = Tally::new(name.to_owned(), a_first, basis);
    let mut of_flows: BTreeMap<Flow, Tally> = BTreeMap::new();
    // Numbers in the order of the first capture, of the direction and of the flow.
    let mut numbers = vec![(0, 0); packets.len()];
    let mut fates = Vec::with_capacity(packets.len());
    for (i, packet) in packets.iter().enumerate() {
        let of_flow = of_flows.entry(packet.flow).or_insert_with(|| {
            let basis = way_of(ways, &packet.flow).basis;
            Tally::new(packet.flow.to_string(), a_first, basis)
        });
        let within = running.as_ref().is_some_and(|running| running.contains(&i));
        let fate = match (packet.first, packet.then) {
            (Some(_), Some(_)) => Fate::InOrder,
            (Some(_), None) if within => Fate::Lost,
            (Some(_), None) => Fate::Outside,
            _ if packet.copy => Fate::Duplicated,
            _ => Fate::Appeared,
        };
        if let Fate::InOrder | Fate::Lost = fate {
            all.next += 1;
            of_flow.next += 1;
            numbers[i] = (all.next, of_flow.next);
        }
        all.count(fate);
        of_flow.count(fate);
        fates.push((fate, None));
    }
    // The order of arrival at the other capture.
    let mut arrivals = both;
    arrivals.sort_by_key(|&i| place(packets[i].then));
    for i in arrivals {
        let (Some(first), Some(then)) = (packets[i].first, packets[i].then) else {
            continue;
        };
        let (number, in_flow) = numbers[i];
        let arrival = all.metrics.update(number, then.ts_ns, then.bytes);
        if let Arrival::Reordered(how) = arrival {
            fates[i] = (Fate::Late, Some(how));
        }
        all.differences_ns
            .push(then.ts_ns.saturating_sub(first.ts_ns));
        if let Some(of_flow) = of_flows.get_mut(&packets[i].flow) {
            of_flow.metrics.update(in_flow, then.ts_ns, then.bytes);
            of_flow
                .differences_ns
                .push(then.ts_ns.saturating_sub(first.ts_ns));
        }
    }
    let flows: BTreeMap<Flow, Arc<str>> = of_flows
        .iter()
        .map(|(flow, tally)| (*flow, tally.found.name.as_str().into()))
        .collect();
    for (packet, (fate, late)) in packets.iter().zip(fates) {
        let (a, b) = match a_first {
            true => (packet.first, packet.then),
            false => (packet.then, packet.first),
        };
        found.packets.push(PacketRow {
            name: flows.get(&packet.flow).cloned().unwrap_or_default(),
            a_first,
            fate,
            frame_a: frame(a),
            frame_b: frame(b),
            a_ns: a.map(|seen| seen.ts_ns),
            b_ns: b.map(|seen| seen.ts_ns),
            bytes: a.or(b).map_or(0, |seen| seen.bytes),
            extent: late.map(|how| how.extent),
            late_ns: late.map(|how| how.late_ns),
        });
    }
    found.directions.push(all.finish());
    found
        .flows
        .extend(of_flows.into_values().map(Tally::finish));
}

/// Says what the captures cannot show.
fn warn(a: &Trace, b: &Trace, found: &mut Difference) {
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
