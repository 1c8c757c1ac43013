//! Conditions nobody chose: a path and a sender drawn at random by the run's seed.

use std::fmt::Write;

use inorder_base::random::Random;
use serde::Deserialize;

use super::compare::Condition;
use super::grid::{Choice, Common};
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting};

/// Settings of the reduction. (Unknown keys pass: serde cannot refuse them beside what is flattened.)
#[derive(Deserialize)]
struct Unseen {
    #[serde(flatten)]
    common: Common,
    /// How many conditions are drawn.
    conditions: u32,
    quick_conditions: u32,
}

pub(super) fn unseen(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let unseen: Unseen = setting.read()?;
    let choices = unseen.common.choices()?;
    let context = setting.context;
    let count = if context.quick {
        unseen.quick_conditions
    } else {
        unseen.conditions
    };
    let conditions = drawn(count, context.seed, &choices.sender);
    unseen.common.run(context, &choices, &conditions)
}

/// `count` conditions, determined by the seed.
fn drawn(count: u32, seed: u64, senders: &[Choice]) -> Vec<Condition> {
    let mut random = Random::new(seed, "unseen conditions");
    (1..=count)
        .map(|number| draw(number, &mut random, senders))
        .collect()
}

/// A value between two bounds, uniform in its logarithm, with two digits.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    let value = low * libm::pow(high / low, random.unit());
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// Rate, round trip, loss, and one of the ways to be late.
fn draw(number: u32, random: &mut Random, senders: &[Choice]) -> Condition {
    let mbits = between(random, 10.0, 1000.0);
    let rtt_ms = between(random, 2.0, 100.0);
    let one_way_us = libm::round(rtt_ms * 500.0);
    // The queue takes what the receive buffer allows in flight: two bandwidth-delay products and some.
    let bdp = mbits * rtt_ms * 125.0;
    let buffer = (2.0 * bdp).max(200_000.0);
    let queue = if random.unit() < 0.3 {
        bdp / 2.0
    } else {
        2.0 * buffer
    };
    let queue = libm::ceil(queue / 1500.0).max(20.0);
    let mut stages = format!(
        "{{ kind = \"link\", rate = \"{mbits} Mbit/s\", queue = \"{queue} packets\" }}, \
         {{ kind = \"delay\", delay = \"{one_way_us} us\" }}"
    );
    let mut name = format!("{number}: {mbits} Mbit/s, RTT {rtt_ms} ms, queue {queue}");
    let late = late(random, rtt_ms, &mut name);
    // Writing to a string cannot fail.
    let _ = write!(stages, ", {late}");
    if random.unit() < 0.4 {
        let percent = between(random, 0.01, 1.0);
        let _ = write!(
            stages,
            ", {{ kind = \"loss\", probability = \"{percent} %\" }}"
        );
        let _ = write!(name, ", loss {percent} %");
    }
    let chosen = random.below(senders.len() as u64) as usize;
    let sender = senders.get(chosen);
    let _ = write!(name, "; {}", sender.map_or("", |sender| &sender.name));
    // As many packets as fit into the time, but a few seconds and a hundred round trips at least.
    let seconds = (rtt_ms / 10.0).max(2.0);
    let mut set = vec![
        format!("forward = [{stages}]"),
        format!("reverse.back.delay={one_way_us} us"),
        format!("flow.sender.receive_buffer={} B", libm::ceil(buffer)),
        format!("run.duration={seconds} s"),
    ];
    set.extend(sender.into_iter().flat_map(|sender| sender.set.clone()));
    Condition {
        name,
        keeps_order: false,
        set,
    }
}

/// A stage that makes packets late, on a scale from 20 us to 3/4 of the round trip.
fn late(random: &mut Random, rtt_ms: f64, name: &mut String) -> String {
    let late_us = libm::round(between(random, 20.0, rtt_ms * 750.0));
    match random.below(4) {
        0 => {
            let percent = between(random, 0.1, 10.0);
            let _ = write!(name, ", {percent} % late by {late_us} us");
            format!(
                "{{ kind = \"late\", probability = \"{percent} %\", delay = \"{late_us} us\" }}"
            )
        }
        1 => {
            let jitter_us = libm::ceil(late_us / 3.0);
            let _ = write!(name, ", normal jitter {jitter_us} us");
            format!("{{ kind = \"delay\", delay = \"{late_us} us\", jitter = \"{jitter_us} us\" }}")
        }
        2 => {
            let jitter_us = libm::ceil(late_us / 3.0);
            let _ = write!(name, ", Pareto jitter {jitter_us} us");
            format!(
                "{{ kind = \"delay\", delay = \"{late_us} us\", jitter = \"{jitter_us} us\", distribution = \"pareto\" }}"
            )
        }
        _ => {
            let lanes = 2 + random.below(3);
            let _ = write!(name, ", {lanes} lanes {late_us} us apart");
            let lane = |at: u64| {
                let delay_us = late_us * at as f64 / (lanes - 1) as f64;
                format!(
                    "{{ rate = \"10 Gbit/s\", delay = \"{} us\" }}",
                    libm::round(delay_us)
                )
            };
            let lanes: Vec<String> = (0..lanes).map(lane).collect();
            format!("{{ kind = \"spray\", lane = [{}] }}", lanes.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign;
    use crate::setting::Context;

    #[test]
    fn whatever_is_drawn_is_a_scenario() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = Context::quick(&stop);
        let sender = Choice {
            name: "RACK".to_owned(),
            set: Vec::new(),
        };
        for condition in drawn(200, 7, &[sender]) {
            let loaded = campaign::load(&context, "resequencer/path.toml", &condition.set);
            assert!(loaded.is_ok(), "{}: {:?}", condition.name, loaded.err());
        }
    }
}
