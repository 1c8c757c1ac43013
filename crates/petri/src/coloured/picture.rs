//! A coloured net as a net of plain tokens: what it looks like, and to what its states and moves refer.

use super::delay::Delay;
use super::engine::Engine;
use super::handle::Token;
use super::rule::Rule;
use super::spec::{Count, Product, Timing};
use crate::net::{Net, Place, PlaceId, Servers, Timing as Plain, Transition};

/// The number of places and transitions of a coloured net that come first in its picture of states.
pub(super) struct Split {
    pub(super) net: Net,
    /// For every transition: its place for firings under way, and the transition by which they start.
    pub(super) timed: Vec<Option<(PlaceId, u32)>>,
}

impl<T: Token> Engine<T> {
    /// The net with its places, transitions and arcs, as a drawing shows it. `unit` is the number of ticks in a unit of
    /// time. It says nothing of tokens, guards and expressions: a number of tokens that is computed is shown as 1.
    pub fn picture(&self, name: &str, unit: f64) -> Net {
        let mut net = self.plain_places(name, |index| self.state.places[index].capacity);
        for (name, rule) in self.in_order() {
            let mut transition = Transition::new(name, timing(rule, unit)).servers(servers(rule));
            inputs(rule, &mut transition);
            outputs(rule, &mut transition);
            net.add_transition(transition);
        }
        net
    }

    /// The net in which a timed transition T is two: `T.starts` takes the tokens, as an immediate transition, and T
    /// deposits its outputs; in between there is a token in `T.busy`.
    pub(super) fn split(&self, name: &str, unit: f64) -> Split {
        let mut net = self.plain_places(name, |_| u32::MAX);
        let (mut timed, mut starts) = (Vec::new(), Vec::new());
        let count = self.rules.len() as u32;
        for (name, rule) in self.in_order() {
            let mut begins = Transition::new(name, Plain::weighted(rule.priority, rule.weight));
            inputs(rule, &mut begins);
            if rule.limit().is_none() {
                outputs(rule, &mut begins);
                net.add_transition(begins);
                timed.push(None);
                continue;
            }
            let busy = net.add_place(Place::new(format!("{name}.busy"), 0));
            let ends = Transition::new(name, timing(rule, unit)).servers(Servers::Infinite);
            let mut ends = ends.input(busy, 1);
            outputs(rule, &mut ends);
            net.add_transition(ends);
            timed.push(Some((busy, count + starts.len() as u32)));
            begins.name = format!("{name}.starts");
            starts.push(begins.output(busy, 1));
        }
        starts.into_iter().for_each(|start| {
            net.add_transition(start);
        });
        Split { net, timed }
    }

    fn plain_places(&self, name: &str, capacity: impl Fn(usize) -> u32) -> Net {
        let mut net = Net::new(name);
        for (index, name) in self.names.places.iter().enumerate() {
            let place = Place::new(name, self.state.places[index].len);
            net.add_place(match capacity(index) {
                u32::MAX => place,
                most => place.capacity(most),
            });
        }
        net
    }
}

fn servers<T>(rule: &Rule<T>) -> Servers {
    match rule.limit() {
        None | Some(Some(1)) => Servers::Single,
        Some(Some(servers)) => Servers::Multiple(servers),
        Some(None) => Servers::Infinite,
    }
}

fn timing<T>(rule: &Rule<T>, unit: f64) -> Plain {
    let computed = Plain::Empirical { values: Vec::new() };
    let units = |ticks: u64| ticks as f64 / unit;
    match &rule.timing {
        Timing::Immediate => Plain::weighted(rule.priority, rule.weight),
        Timing::Delay(delay) => match delay {
            Delay::Exponential { mean } => Plain::exponential(unit / mean),
            Delay::Deterministic(ticks) => Plain::Deterministic {
                delay: units(*ticks),
            },
            Delay::Uniform { low, high } => Plain::Uniform {
                low: units(*low),
                high: units(*high),
            },
            Delay::Erlang { stages, mean } => Plain::Erlang {
                stages: *stages,
                rate: f64::from(*stages) * unit / mean,
            },
            Delay::Drawn { .. } | Delay::Empirical(_) => computed,
        },
        Timing::By(_) | Timing::Stages(_) => computed,
    }
}

/// Adds an arc, or tokens to the one there is.
fn add(transition: &mut Transition, kind: crate::net::ArcKind, place: u32, count: u32) {
    let place = PlaceId(place as usize);
    let same = |arc: &&mut crate::net::Arc| arc.kind == kind && arc.place == place;
    match transition.arcs.iter_mut().find(same) {
        Some(arc) => arc.multiplicity = arc.multiplicity.saturating_add(count),
        None if count > 0 => transition.arcs.push(crate::net::Arc {
            kind,
            place,
            multiplicity: count,
            line: 0,
        }),
        None => {}
    }
}

fn inputs<T>(rule: &Rule<T>, to: &mut Transition) {
    use crate::net::ArcKind::{Inhibitor, Input, Read, Reset};
    let kind = |keep: bool| if keep { Read } else { Input };
    for arc in &rule.takes {
        add(to, kind(arc.keep), arc.place, arc.count);
    }
    for arc in &rule.spends {
        add(to, kind(arc.keep), arc.place, number(&arc.count));
    }
    let inhibitors = rule.conditions.inhibitors.iter();
    for inhibitor in inhibitors.chain(&rule.colour_inhibitors) {
        add(to, Inhibitor, inhibitor.place, inhibitor.count);
    }
    for &place in &rule.resets {
        add(to, Reset, place, 1);
    }
}

fn outputs<T>(rule: &Rule<T>, to: &mut Transition) {
    let returned = rule.cancels.iter().filter_map(|cancel| cancel.to);
    for place in returned {
        add(to, crate::net::ArcKind::Output, place, 1);
    }
    for output in &rule.outputs {
        let count = match &output.product {
            Product::Plain(count, _) => number(count),
            _ => 1,
        };
        for place in output.product.places(output.place) {
            add(to, crate::net::ArcKind::Output, place, count);
        }
    }
}

fn number<T>(count: &Count<T>) -> u32 {
    match count {
        Count::Fixed(count) => *count,
        Count::By(_) => 1,
    }
}
