//! The checks of [`Net::validate`].

use super::zero_time::zero_time_loop;
use super::{Arc, ArcKind, Line, Net, NetError, Problem, Servers, Timing, Transition, written};
use std::collections::BTreeMap;

impl Net {
    /// All errors in the net, in the order of the file.
    pub fn problems(&self) -> Vec<NetError> {
        let mut found = Vec::new();
        self.check_names(&mut found);
        self.check_places(&mut found);
        for t in &self.transitions {
            check_timing(t, &mut found);
            check_servers(t, &mut found);
            self.check_arcs(t, &mut found);
        }
        if found.is_empty() {
            for t in &self.transitions {
                self.check_contradictions(t, &mut found);
            }
            found.extend(zero_time_loop(self));
        }
        found.sort_by_key(|error| error.line);
        found
    }

    fn check_names(&self, found: &mut Vec<NetError>) {
        if self.name.contains(char::is_control) {
            let (what, index, name) = ("net", 0, self.name.clone());
            refuse(found, 0, Problem::BadName { what, index, name });
        }
        let places = self.places.iter().enumerate();
        let places = places.map(|(i, p)| ("place", i, &p.name, p.line));
        let transitions = self.transitions.iter().enumerate();
        let transitions = transitions.map(|(i, t)| ("transition", i, &t.name, t.line));
        let mut seen: BTreeMap<&str, (&str, Line)> = BTreeMap::new();
        for (what, index, name, line) in places.chain(transitions) {
            if name.is_empty() || name.chars().any(char::is_control) {
                let name = name.clone();
                refuse(found, line, Problem::BadName { what, index, name });
            } else if let Some(&(first, at)) = seen.get(name.as_str()) {
                let (first, name) = (described(first, at), name.clone());
                refuse(found, line, Problem::DuplicateName { name, first });
            } else {
                seen.insert(name, (what, line));
            }
        }
    }

    fn check_places(&self, found: &mut Vec<NetError>) {
        for p in &self.places {
            let Some(capacity) = p.capacity.filter(|&most| p.tokens > most) else {
                continue;
            };
            let problem = Problem::AboveCapacity {
                place: p.name.clone(),
                tokens: p.tokens,
                capacity,
            };
            refuse(found, p.line, problem);
        }
    }

    fn check_arcs(&self, t: &Transition, found: &mut Vec<NetError>) {
        for (i, arc) in t.arcs.iter().enumerate() {
            let (transition, kind) = (t.name.clone(), arc.kind.name());
            let Some(place) = self.places.get(arc.place.0).map(|p| p.name.clone()) else {
                let (index, places) = (arc.place.0, self.places.len());
                let problem = Problem::NoSuchPlace {
                    transition,
                    kind,
                    index,
                    places,
                };
                refuse(found, arc.line, problem);
                continue;
            };
            if arc.multiplicity == 0 {
                let problem = Problem::ZeroMultiplicity {
                    transition,
                    kind,
                    place,
                };
                refuse(found, arc.line, problem);
            } else if t.arcs[..i].iter().any(|other| same_ends(other, arc)) {
                let problem = Problem::DuplicateArc {
                    transition,
                    kind,
                    place,
                };
                refuse(found, arc.line, problem);
            }
        }
    }

    /// Conditions of one transition on one place that contradict each other.
    fn check_contradictions(&self, t: &Transition, found: &mut Vec<NetError>) {
        for arc in &t.arcs {
            let place = &self.places[arc.place.0];
            let why = match arc.kind {
                ArcKind::Inhibitor => {
                    let [input, read] =
                        [ArcKind::Input, ArcKind::Read].map(|kind| t.multiplicity(kind, arc.place));
                    let needed = input.max(read);
                    (needed >= arc.multiplicity).then(|| {
                        let most = arc.multiplicity - 1;
                        format!(
                            "it needs {needed} tokens in {} and forbids more than {most}",
                            place.name
                        )
                    })
                }
                ArcKind::Input | ArcKind::Read => above(arc, place.capacity).map(|most| {
                    format!(
                        "it needs {} tokens in {}, which holds at most {most}",
                        arc.multiplicity, place.name
                    )
                }),
                ArcKind::Output => above(arc, place.capacity).map(|most| {
                    format!(
                        "it gives {} tokens to {}, which holds at most {most}",
                        arc.multiplicity, place.name
                    )
                }),
                ArcKind::Reset => None,
            };
            if let Some(why) = why {
                let (transition, place) = (t.name.clone(), place.name.clone());
                let problem = Problem::NeverEnabled {
                    transition,
                    place,
                    why,
                };
                refuse(found, arc.line, problem);
            }
        }
    }
}

fn above(arc: &Arc, capacity: Option<u32>) -> Option<u32> {
    capacity.filter(|&most| arc.multiplicity > most)
}

fn same_ends(a: &Arc, b: &Arc) -> bool {
    a.kind == b.kind && a.place == b.place
}

fn described(what: &str, line: Line) -> String {
    if line == 0 {
        format!("by a {what}")
    } else {
        format!("by the {what} of line {line}")
    }
}

fn refuse(found: &mut Vec<NetError>, line: Line, problem: Problem) {
    found.push(NetError { line, problem });
}

const POSITIVE: &str = "a finite number above 0";
const IN_RANGE: &str = "a number from 1e-300 to 1e300; another unit of time may help";
const NOT_NEGATIVE: &str = "a finite number, 0 or above";

/// Checks the numbers of a transition and returns the first error.
struct Numbers<'a> {
    transition: &'a Transition,
    found: &'a mut Vec<NetError>,
}

impl Numbers<'_> {
    fn expect(&mut self, fine: bool, parameter: &'static str, value: f64, expected: &'static str) {
        if fine {
            return;
        }
        let problem = Problem::BadParameter {
            transition: self.transition.name.clone(),
            parameter,
            found: written(value),
            expected,
        };
        refuse(self.found, self.transition.line, problem);
    }

    fn positive(&mut self, parameter: &'static str, value: f64) {
        let is_positive = value.is_finite() && value > 0.0;
        self.expect(is_positive, parameter, value, POSITIVE);
        // Sums and products of some such numbers can be represented.
        let is_in_range = !is_positive || (1e-300..=1e300).contains(&value);
        self.expect(is_in_range, parameter, value, IN_RANGE);
    }

    fn not_negative(&mut self, parameter: &'static str, value: f64) {
        let fine = value.is_finite() && value >= 0.0;
        self.expect(fine, parameter, value, NOT_NEGATIVE);
    }
}

fn check_timing(transition: &Transition, found: &mut Vec<NetError>) {
    let mut numbers = Numbers { transition, found };
    match &transition.timing {
        Timing::Immediate { weight, .. } => numbers.positive("weight", *weight),
        Timing::Exponential { rate } => numbers.positive("rate", *rate),
        Timing::Deterministic { delay } => numbers.positive("delay", *delay),
        Timing::Uniform { low, high } => {
            numbers.not_negative("lower bound", *low);
            numbers.positive("upper bound", *high);
            let ordered = low.partial_cmp(high) != Some(std::cmp::Ordering::Greater);
            numbers.expect(
                ordered,
                "upper bound",
                *high,
                "a number not below the lower bound",
            );
        }
        Timing::Erlang { stages, rate } => {
            numbers.positive("number of stages", f64::from(*stages));
            numbers.positive("rate", *rate);
        }
        Timing::Drawn(drawn) => {
            if let Some((parameter, value, expected)) = drawn.fault() {
                numbers.expect(false, parameter, value, expected);
            }
        }
        Timing::Empirical { values } => {
            for value in values {
                numbers.not_negative("observed delay", value.delay);
                numbers.not_negative("weight", value.weight);
            }
            let total: f64 = values.iter().map(|v| v.weight).sum();
            numbers.expect(total > 0.0, "sum of weights", total, "a sum above 0");
            let sum: f64 = values.iter().map(|v| v.weight * v.delay).sum();
            numbers.expect(
                total <= 0.0 || sum > 0.0,
                "mean delay",
                sum,
                "a mean above 0",
            );
        }
    }
}

fn check_servers(t: &Transition, found: &mut Vec<NetError>) {
    let refused = match t.servers {
        Servers::Multiple(0) => Some(("0", "1 or more")),
        Servers::Infinite if t.arcs_of(ArcKind::Input).next().is_none() => {
            Some(("infinite", "an input arc, or a number of servers"))
        }
        servers if servers != Servers::Single && t.timing.is_immediate() => {
            Some(("more than one", "one: immediate firings take no time"))
        }
        _ => None,
    };
    if let Some((value, expected)) = refused {
        let problem = Problem::BadParameter {
            transition: t.name.clone(),
            parameter: "servers",
            found: value.to_owned(),
            expected,
        };
        refuse(found, t.line, problem);
    }
}
