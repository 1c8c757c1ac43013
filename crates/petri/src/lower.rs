//! Converts plain data to a form that can be run: the time base, distributions in ticks, and a [`Net`] as a coloured
//! model.

use crate::coloured::{Counter, CounterSpec, Delay, Model};
use crate::net::{Arc, ArcKind, Net, Observation, Servers, Timing, Transition};

/// Minimum number of ticks in the shortest mean delay: rounding to whole ticks then causes errors of about a
/// millionth.
const FINENESS: f64 = 1e6;

/// Ticks per unit of the net's time: a power of ten, so that decimal delays are exact.
///
/// The clock counts up to 2^64 ticks, about 10^13 of the shortest mean delays.
pub fn ticks_per_unit(net: &Net) -> f64 {
    let timed = net.transitions.iter().filter(|t| !t.timing.is_immediate());
    let means = timed
        .map(|t| t.timing.mean())
        .filter(|&mean| mean > 0.0 && mean.is_finite());
    let shortest = means.fold(f64::INFINITY, f64::min);
    if shortest.is_finite() {
        libm::pow(10.0, libm::ceil(libm::log10(FINENESS / shortest)))
    } else {
        FINENESS
    }
}

/// The distribution in ticks; `None` for an immediate transition.
pub fn delay(timing: &Timing, ticks_per_unit: f64) -> Option<Delay> {
    let ticks = |units: f64| (units * ticks_per_unit + 0.5) as u64;
    Some(match timing {
        Timing::Immediate { .. } => return None,
        Timing::Exponential { rate } => Delay::exponential(ticks_per_unit / rate),
        Timing::Deterministic { delay } => Delay::Deterministic(ticks(*delay)),
        Timing::Uniform { low, high } => Delay::Uniform {
            low: ticks(*low),
            high: ticks(*high),
        },
        Timing::Erlang { stages, rate } => Delay::Erlang {
            stages: *stages,
            mean: f64::from(*stages) / rate * ticks_per_unit,
        },
        Timing::Drawn(drawn) => Delay::drawn(drawn.clone(), ticks_per_unit),
        Timing::Empirical { values } => {
            let value = |value: &Observation| (ticks(value.delay), value.weight);
            Delay::empirical(values.iter().map(value))
        }
    })
}

/// The net with reservation: a timed transition takes its input tokens when it starts and deposits its outputs when
/// it ends.
///
/// Places and transitions keep their order. The time base is [`ticks_per_unit`].
pub fn to_model(net: &Net) -> Model<()> {
    let mut model = Model::new();
    let places: Vec<Counter> = net
        .places
        .iter()
        .map(|place| {
            let spec = CounterSpec::new(place.tokens);
            let spec = place.capacity.into_iter().fold(spec, CounterSpec::capacity);
            model.counter(&place.name, spec)
        })
        .collect();
    let ticks = ticks_per_unit(net);
    for transition in &net.transitions {
        add_transition(&mut model, &places, transition, ticks);
    }
    model
}

fn add_transition(model: &mut Model<()>, places: &[Counter], t: &Transition, ticks: f64) {
    let mut builder = model.transition(&t.name);
    builder = match (&t.timing, delay(&t.timing, ticks)) {
        (Timing::Immediate { priority, weight }, _) => {
            // Timed transitions start at priority 0, after every immediate one.
            builder.priority(priority.saturating_add(1)).weight(*weight)
        }
        (_, Some(delay)) => builder.delay(delay),
        (_, None) => builder,
    };
    builder = match t.servers {
        Servers::Infinite => builder,
        Servers::Single => builder.servers(1),
        Servers::Multiple(servers) => builder.servers(servers),
    };
    for Arc {
        kind,
        place,
        multiplicity,
        ..
    } in &t.arcs
    {
        let Some(&counter) = places.get(place.0) else {
            continue;
        };
        builder = match kind {
            ArcKind::Input => builder.spend(counter, *multiplicity),
            ArcKind::Output => builder.give(counter, *multiplicity),
            ArcKind::Read => builder.test(counter, *multiplicity),
            ArcKind::Inhibitor => builder.inhibit(counter, *multiplicity),
            ArcKind::Reset => builder.reset(counter),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_base_keeps_decimal_delays_exact() {
        let mut net = Net::new("clock");
        net.add_transition(Transition::new("fast", Timing::exponential(250.0)));
        net.add_transition(Transition::new(
            "slow",
            Timing::Deterministic { delay: 0.3 },
        ));
        let ticks = ticks_per_unit(&net);
        assert_eq!(ticks, 1e9);
        let slow = delay(&net.transitions[1].timing, ticks);
        assert_eq!(slow, Some(Delay::Deterministic(300_000_000)));
    }
}
