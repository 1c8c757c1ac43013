//! Parses lines into a net.

use super::line::{Word, Words};
use super::{Mistake, ReadError};
use crate::arithmetic;
use crate::net::family::{self, Family};
use crate::net::{
    Arc, ArcKind, Drawn, Line, Net, Observation, Place, PlaceId, Servers, Timing, Transition,
};
use crate::parameters::Parameters;
use std::collections::BTreeMap;

/// The net parsed so far, and arcs whose places are not known yet.
pub(super) struct Parser<'p> {
    net: Net,
    arcs: Vec<PendingArc>,
    parameters: &'p mut Parameters,
}

struct PendingArc {
    transition: usize,
    kind: ArcKind,
    place: String,
    multiplicity: u32,
    line: Line,
}

const LINES: [&str; 9] = [
    "net",
    "parameter",
    "place",
    "transition",
    "in",
    "out",
    "inhibit",
    "read",
    "reset",
];

impl<'p> Parser<'p> {
    pub(super) fn new(parameters: &'p mut Parameters) -> Self {
        Self {
            net: Net::default(),
            arcs: Vec::new(),
            parameters,
        }
    }

    pub(super) fn net(mut self, text: &str) -> Result<Net, ReadError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in text.lines().enumerate() {
            let number = Line::try_from(number + 1).unwrap_or(Line::MAX);
            let read = self.line(line, number);
            read.map_err(|mistake| ReadError::at(number, mistake))?;
        }
        self.connect()?;
        Ok(self.net)
    }

    fn line(&mut self, line: &str, number: Line) -> Result<(), Mistake> {
        let mut words = Words::of(line, self.parameters.values())?;
        let Some(first) = words.next() else {
            return Ok(());
        };
        let kind = match first.text.as_str() {
            _ if first.is_quoted => None,
            "net" => return self.name(&mut words),
            "parameter" => return self.parameter(&mut words),
            "place" => return self.place(&mut words, number),
            "transition" => return self.transition(&mut words, number),
            "in" => Some(ArcKind::Input),
            "out" => Some(ArcKind::Output),
            "inhibit" => Some(ArcKind::Inhibitor),
            "read" => Some(ArcKind::Read),
            "reset" => Some(ArcKind::Reset),
            _ => None,
        };
        match kind {
            Some(kind) => self.arc(kind, &mut words, number),
            None => {
                let expected = format!("one of {}", LINES.join(", "));
                Err(Mistake::unknown(expected, &first.text, LINES.into_iter()))
            }
        }
    }

    fn name(&mut self, words: &mut Words) -> Result<(), Mistake> {
        self.net.name = words.expect("the name of the net")?.text;
        words.end("the end of the line")
    }

    fn parameter(&mut self, words: &mut Words) -> Result<(), Mistake> {
        const EXPECTED: &str = "the name of a parameter: letters, digits and _";
        let name = words.expect(EXPECTED)?.text;
        let is_name = name.chars().all(arithmetic::is_part)
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name {
            return Err(Mistake::unexpected(EXPECTED, name));
        }
        let value = words.expect("its value")?.text;
        words.end("the end of the line")?;
        let declared = self.parameters.declare(&name, Some(&value));
        declared.map_err(|wrong| Mistake::unexpected(wrong.expected, wrong.found))
    }

    fn place(&mut self, words: &mut Words, line: Line) -> Result<(), Mistake> {
        let name = words.expect("the name of a place")?.text;
        let mut place = Place::new(name, words.number_or(0, "a number of tokens")?);
        if words.take("capacity") {
            place.capacity = Some(words.number("a capacity in tokens")?);
        }
        words.end("capacity or the end of the line")?;
        place.line = line;
        self.net.add_place(place);
        Ok(())
    }

    fn transition(&mut self, words: &mut Words, line: Line) -> Result<(), Mistake> {
        let name = words.expect("the name of a transition")?.text;
        let timing = timing(words)?;
        let mut transition = Transition::new(name, timing);
        if words.take("servers") {
            transition.servers = servers(words)?;
        }
        words.end("servers or the end of the line")?;
        transition.line = line;
        self.net.add_transition(transition);
        Ok(())
    }

    fn arc(&mut self, kind: ArcKind, words: &mut Words, line: Line) -> Result<(), Mistake> {
        let Some(transition) = self.net.transitions.len().checked_sub(1) else {
            let found = format!("an {} arc", kind.name());
            return Err(Mistake::unexpected("a transition before its arcs", found));
        };
        let place = words.expect("the name of a place")?.text;
        let multiplicity = match kind {
            ArcKind::Reset => 1,
            _ => words.number_or(1, "a number of tokens")?,
        };
        words.end("a number of tokens or the end of the line")?;
        self.arcs.push(PendingArc {
            transition,
            kind,
            place,
            multiplicity,
            line,
        });
        Ok(())
    }

    /// Resolves the places of the arcs, when all places are known.
    fn connect(&mut self) -> Result<(), ReadError> {
        let names = self.net.places.iter().enumerate().rev();
        let places: BTreeMap<String, usize> = names.map(|(i, p)| (p.name.clone(), i)).collect();
        for arc in std::mem::take(&mut self.arcs) {
            let Some(&place) = places.get(&arc.place) else {
                let valid = self.net.places.iter().map(|p| p.name.as_str());
                let mistake = Mistake::unknown("a place", &arc.place, valid);
                return Err(ReadError::at(arc.line, mistake));
            };
            self.net.transitions[arc.transition].arcs.push(Arc {
                kind: arc.kind,
                place: PlaceId(place),
                multiplicity: arc.multiplicity,
                line: arc.line,
            });
        }
        Ok(())
    }
}

fn timing(words: &mut Words) -> Result<Timing, Mistake> {
    let expected = family::one_of_timings();
    let word = words.expect(&expected)?;
    match word.text.as_str() {
        "immediate" => immediate(words),
        "exponential" => exponential(words),
        "deterministic" => Ok(Timing::Deterministic {
            delay: words.number("a delay")?,
        }),
        "uniform" => Ok(Timing::Uniform {
            low: words.number("a least delay")?,
            high: words.number("a largest delay")?,
        }),
        "erlang" => {
            let stages = words.number("a number of stages")?;
            words.expect_keyword("rate")?;
            let rate = words.number("a rate")?;
            Ok(Timing::Erlang { stages, rate })
        }
        "empirical" => empirical(words),
        name => match family::named(name) {
            Some(family) => drawn(words, family),
            None => Err(Mistake::unknown(expected, name, family::timings())),
        },
    }
}

/// The parameters of a family, each behind its name.
fn drawn(words: &mut Words, family: &'static Family) -> Result<Timing, Mistake> {
    let parameter = |name: &&str| {
        words.expect_keyword(name)?;
        words.number("a number")
    };
    let parameters = family.parameters.iter().map(parameter);
    let parameters = parameters.collect::<Result<_, _>>()?;
    Ok(Timing::Drawn(Drawn::new(family, parameters)))
}

fn immediate(words: &mut Words) -> Result<Timing, Mistake> {
    let (mut priority, mut weight) = (1, 1.0);
    loop {
        if words.take("priority") {
            priority = words.number("a whole number")?;
        } else if words.take("weight") {
            weight = words.number("a weight")?;
        } else {
            return Ok(Timing::Immediate { priority, weight });
        }
    }
}

fn exponential(words: &mut Words) -> Result<Timing, Mistake> {
    let word = words.expect("rate or mean")?;
    let rate = if word.is("rate") {
        words.number("a rate")?
    } else if word.is("mean") {
        let mean: f64 = words.number("a mean delay")?;
        if !(mean > 0.0 && mean.is_finite()) {
            return Err(Mistake::unexpected(
                "a finite mean delay above 0",
                mean.to_string(),
            ));
        }
        1.0 / mean
    } else {
        return Err(Mistake::unknown(
            "rate or mean",
            &word.text,
            ["rate", "mean"].into_iter(),
        ));
    };
    Ok(Timing::Exponential { rate })
}

fn empirical(words: &mut Words) -> Result<Timing, Mistake> {
    const EXPECTED: &str = "a delay, or delay:weight";
    let mut values = Vec::new();
    while values.is_empty() || !(words.is_empty() || words.next_is("servers")) {
        let Word { text, .. } = words.expect(EXPECTED)?;
        let (delay, weight) = text.split_once(':').unwrap_or((&text, "1"));
        values.push(Observation {
            delay: words.number_in(delay, EXPECTED)?,
            weight: words.number_in(weight, EXPECTED)?,
        });
    }
    Ok(Timing::Empirical { values })
}

fn servers(words: &mut Words) -> Result<Servers, Mistake> {
    let word = words.expect("a number of servers, or infinite")?;
    if word.is("infinite") {
        return Ok(Servers::Infinite);
    }
    Ok(
        match words.number_in(&word.text, "a number of servers, or infinite")? {
            1 => Servers::Single,
            n => Servers::Multiple(n),
        },
    )
}
