//! One direction: what became of each packet, and the order in which the other capture has those that arrived.

use std::collections::BTreeMap;
use std::sync::Arc;

use inorder_metrics::{Arrival, Config, Distribution, Metrics, Reordered};

use crate::diff::direction::{Way, way_of};
use crate::diff::flow::Flow;
use crate::diff::result::{Basis, Difference, Fate, Matched, PacketRow};
use crate::diff::trace::Seen;

/// A packet as its direction sees it.
#[derive(Clone, Copy)]
pub(super) struct Packet {
    flow: Flow,
    /// In the capture that comes first, and in the other one.
    first: Option<Seen>,
    then: Option<Seen>,
    /// A copy of a packet that both have.
    copy: bool,
}

impl Packet {
    /// A packet of `flow`, which goes `way`, as each capture has it; `both`: some copy of it is in both.
    pub(super) fn new(
        way: Way,
        flow: Flow,
        a: Option<Seen>,
        b: Option<Seen>,
        both: bool,
    ) -> Packet {
        let (first, then) = if way.a_first { (a, b) } else { (b, a) };
        Packet {
            flow,
            first,
            then,
            copy: both && first.is_none(),
        }
    }
}

/// Everything of one direction or flow while it is measured.
struct Tally {
    metrics: Metrics,
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

    /// Counts a packet; returns its number among those that the first capture has while the other one was running, else 0.
    fn count(&mut self, fate: Fate) -> u64 {
        match fate {
            Fate::Lost => self.found.lost += 1,
            Fate::Duplicated => self.found.duplicated += 1,
            Fate::Appeared => self.found.appeared += 1,
            Fate::Outside => self.found.outside += 1,
            Fate::InOrder | Fate::Late => {}
        }
        match fate {
            Fate::InOrder | Fate::Late | Fate::Lost => {
                self.found.sent += 1;
                self.found.sent
            }
            Fate::Duplicated | Fate::Appeared | Fate::Outside => 0,
        }
    }

    /// A packet that both captures have arrived.
    fn arrived(&mut self, number: u64, first: Seen, then: Seen) -> Arrival {
        self.differences_ns
            .push(then.ts_ns.saturating_sub(first.ts_ns));
        self.metrics.update(number, then.ts_ns, then.bytes)
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
pub(super) fn one_way(
    packets: &mut [Packet],
    a_first: bool,
    name: &str,
    ways: &BTreeMap<Flow, Way>,
    found: &mut Difference,
) {
    packets.sort_by_key(|p| (place(p.first).unwrap_or((u64::MAX, 0)), place(p.then)));
    let mut direction = Direction {
        packets,
        a_first,
        all: Tally::new(name.to_owned(), a_first, basis(packets, ways)),
        of_flows: BTreeMap::new(),
    };
    let mut fates = direction.depart(ways);
    direction.arrive(&mut fates);
    direction.rows(&fates, &mut found.packets);
    found.directions.push(direction.all.finish());
    let flows = direction.of_flows.into_values();
    found.flows.extend(flows.map(Tally::finish));
}

/// Where a packet stands in its capture.
fn place(seen: Option<Seen>) -> Option<(u64, u32)> {
    seen.map(|seen| (seen.frame, seen.place))
}

/// Why a direction is what it is: what its flows have in common, or the weakest reason.
fn basis(packets: &[Packet], ways: &BTreeMap<Flow, Way>) -> Basis {
    let mut bases = packets.iter().map(|p| way_of(ways, &p.flow).basis);
    let Some(first) = bases.next() else {
        return Basis::Assumed;
    };
    bases.fold(first, |one, other| match (one, other) {
        _ if one == other => one,
        (Basis::Assumed, _) | (_, Basis::Assumed) => Basis::Assumed,
        _ => Basis::BothDirections,
    })
}

/// What is known of a packet of the direction.
#[derive(Clone, Copy)]
struct Told {
    fate: Fate,
    late: Option<Reordered>,
    /// Its number in the order of the first capture, among all and in its flow; 0 if that does not have it, or while the other was not
    /// running.
    number: u64,
    in_flow: u64,
}

/// The packets of a direction in the order of the first capture, and the counts of all and of each flow.
struct Direction<'p> {
    packets: &'p [Packet],
    a_first: bool,
    all: Tally,
    of_flows: BTreeMap<Flow, Tally>,
}

impl Direction<'_> {
    /// Numbers what the first capture has, and says what became of it.
    fn depart(&mut self, ways: &BTreeMap<Flow, Way>) -> Vec<Told> {
        let both = |p: &Packet| p.first.is_some() && p.then.is_some();
        // The other capture was running between the first and the last packet of this one that both have.
        let begun = self.packets.iter().position(both);
        let ended = self.packets.iter().rposition(both);
        let running = begun.zip(ended).map(|(first, last)| first..=last);
        let mut all = Vec::with_capacity(self.packets.len());
        for (i, packet) in self.packets.iter().enumerate() {
            let within = running.as_ref().is_some_and(|running| running.contains(&i));
            let fate = match (packet.first, packet.then) {
                (Some(_), Some(_)) => Fate::InOrder,
                (Some(_), None) if within => Fate::Lost,
                (Some(_), None) => Fate::Outside,
                _ if packet.copy => Fate::Duplicated,
                _ => Fate::Appeared,
            };
            let of_flow = self.of_flows.entry(packet.flow).or_insert_with(|| {
                let basis = way_of(ways, &packet.flow).basis;
                Tally::new(packet.flow.to_string(), self.a_first, basis)
            });
            all.push(Told {
                fate,
                late: None,
                number: self.all.count(fate),
                in_flow: of_flow.count(fate),
            });
        }
        all
    }

    /// Measures the order of arrival at the other capture.
    fn arrive(&mut self, told: &mut [Told]) {
        let mut arrivals: Vec<(&Packet, &mut Told)> = self.packets.iter().zip(told).collect();
        arrivals.sort_by_key(|(packet, _)| place(packet.then));
        for (packet, told) in arrivals {
            let (Some(first), Some(then)) = (packet.first, packet.then) else {
                continue;
            };
            if let Arrival::Reordered(how) = self.all.arrived(told.number, first, then) {
                (told.fate, told.late) = (Fate::Late, Some(how));
            }
            if let Some(of_flow) = self.of_flows.get_mut(&packet.flow) {
                of_flow.arrived(told.in_flow, first, then);
            }
        }
    }

    /// Appends a row for each packet.
    fn rows(&self, all: &[Told], out: &mut Vec<PacketRow>) {
        let names: BTreeMap<Flow, Arc<str>> = self
            .of_flows
            .iter()
            .map(|(flow, tally)| (*flow, tally.found.name.as_str().into()))
            .collect();
        out.extend(self.packets.iter().zip(all).map(|(packet, told)| {
            let (a, b) = match self.a_first {
                true => (packet.first, packet.then),
                false => (packet.then, packet.first),
            };
            PacketRow {
                name: names.get(&packet.flow).cloned().unwrap_or_default(),
                a_first: self.a_first,
                fate: told.fate,
                frame_a: a.map(|seen| seen.frame),
                frame_b: b.map(|seen| seen.frame),
                a_ns: a.map(|seen| seen.ts_ns),
                b_ns: b.map(|seen| seen.ts_ns),
                bytes: a.or(b).map_or(0, |seen| seen.bytes),
                extent: told.late.map(|how| how.extent),
                late_ns: told.late.map(|how| how.late_ns),
            }
        }));
    }
}
