//! Timing of transitions, in this crate's notation and in PIPE's.

use super::tree::{Element, own, parsed};
use crate::net::family;
use crate::net::{Drawn, Observation, Servers, Timing};
use crate::text::{Mistake, ReadError};

/// The timing of a transition; exponential with rate 1 if none is given.
pub(super) fn timing(transition: &Element) -> Result<Timing, ReadError> {
    match own(transition).and_then(|own| own.child("timing")) {
        Some(timing) => own_timing(timing),
        None => pipe_timing(transition),
    }
}

fn own_timing(element: &Element) -> Result<Timing, ReadError> {
    match element.attribute("kind").unwrap_or_default() {
        "immediate" => Ok(Timing::Immediate {
            priority: whole(element, "priority", Some("1"))?,
            weight: real(element, "weight", Some("1"))?,
        }),
        "exponential" => Ok(Timing::Exponential {
            rate: real(element, "rate", None)?,
        }),
        "deterministic" => Ok(Timing::Deterministic {
            delay: real(element, "delay", None)?,
        }),
        "uniform" => Ok(Timing::Uniform {
            low: real(element, "low", None)?,
            high: real(element, "high", None)?,
        }),
        "erlang" => Ok(Timing::Erlang {
            stages: whole(element, "stages", None)?,
            rate: real(element, "rate", None)?,
        }),
        "empirical" => empirical(element),
        name => match family::named(name) {
            Some(family) => {
                let parameters = family.parameters.iter();
                let parameters = parameters.map(|name| real(element, name, None));
                let parameters = parameters.collect::<Result<_, _>>()?;
                Ok(Timing::Drawn(Drawn::new(family, parameters)))
            }
            None => {
                let expected = format!("a kind, {}", family::one_of_timings());
                Err(element.wrong(Mistake::unknown(expected, name, family::timings())))
            }
        },
    }
}

fn real(element: &Element, name: &str, default: Option<&str>) -> Result<f64, ReadError> {
    let text = element.attribute(name).or(default).unwrap_or("none");
    parsed(element, text, &format!("a number as {name}"))
}

fn whole(element: &Element, name: &str, default: Option<&str>) -> Result<u32, ReadError> {
    let text = element.attribute(name).or(default).unwrap_or("none");
    parsed(element, text, &format!("a whole number as {name}"))
}

fn empirical(element: &Element) -> Result<Timing, ReadError> {
    let words = element
        .attribute("values")
        .unwrap_or_default()
        .split_ascii_whitespace();
    let value = |word: &str| {
        let (delay, weight) = word.split_once(':').unwrap_or((word, "1"));
        Ok(Observation {
            delay: parsed(element, delay, "a number as delay")?,
            weight: parsed(element, weight, "a number as weight")?,
        })
    };
    let values = words.map(value).collect::<Result<_, _>>()?;
    Ok(Timing::Empirical { values })
}

/// In PIPE `timed` distinguishes timed from immediate transitions, and `rate` is the rate or the weight.
fn pipe_timing(transition: &Element) -> Result<Timing, ReadError> {
    let rate = match transition.child("rate") {
        Some(rate) => parsed(rate, rate.content(), "a number as rate")?,
        None => 1.0,
    };
    let timed = transition
        .child("timed")
        .map(|timed| (timed, timed.content()));
    match timed {
        Some((_, "false")) => {
            let priority = match transition.child("priority") {
                Some(element) => parsed(element, element.content(), "a whole number as priority")?,
                None => 1,
            };
            Ok(Timing::weighted(priority, rate))
        }
        None | Some((_, "true")) => Ok(Timing::exponential(rate)),
        Some((element, found)) => Err(element.wrong(Mistake::unexpected("true or false", found))),
    }
}

/// The servers of a transition; one if none are given.
pub(super) fn servers(transition: &Element) -> Result<Servers, ReadError> {
    if let Some(element) = own(transition).and_then(|own| own.child("servers")) {
        return match element.content() {
            "infinite" => Ok(Servers::Infinite),
            text => match parsed(element, text, "a number of servers, or infinite")? {
                1 => Ok(Servers::Single),
                n => Ok(Servers::Multiple(n)),
            },
        };
    }
    let is_timed = transition
        .child("timed")
        .is_none_or(|timed| timed.content() != "false");
    let is_infinite = transition
        .child("infiniteServer")
        .is_some_and(|e| e.content() == "true");
    Ok(if is_timed && is_infinite {
        Servers::Infinite
    } else {
        Servers::Single
    })
}
