//! Prints a net in the text format.

use crate::net::{Arc, ArcKind, Net, Observation, Place, Servers, Timing, Transition};
use std::borrow::Cow;
use std::fmt::Write;

/// The net in the text format; reading it gives the same net.
pub fn print(net: &Net) -> String {
    let mut text = String::new();
    if !net.name.is_empty() {
        line(&mut text, format_args!("net {}\n", word(&net.name)));
    }
    for place in &net.places {
        line(&mut text, format_args!("{}", place_line(place)));
    }
    for t in &net.transitions {
        let (timing, servers) = (timing(&t.timing), servers(t));
        line(
            &mut text,
            format_args!("\ntransition {} {timing}{servers}", word(&t.name)),
        );
        for arc in &t.arcs {
            line(&mut text, format_args!("  {}", arc_line(net, arc)));
        }
    }
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn place_line(place: &Place) -> String {
    let mut line = format!("place {} {}", word(&place.name), place.tokens);
    if let Some(capacity) = place.capacity {
        line += &format!(" capacity {capacity}");
    }
    line
}

fn arc_line(net: &Net, arc: &Arc) -> String {
    let keyword = match arc.kind {
        ArcKind::Input => "in",
        ArcKind::Output => "out",
        ArcKind::Inhibitor => "inhibit",
        ArcKind::Read => "read",
        ArcKind::Reset => "reset",
    };
    let place = net.places.get(arc.place.0).map_or("", |p| &p.name);
    match (arc.kind, arc.multiplicity) {
        (ArcKind::Reset, _) | (_, 1) => format!("{keyword} {}", word(place)),
        (_, n) => format!("{keyword} {} {n}", word(place)),
    }
}

/// The timing in the notation of the format.
pub(crate) fn timing(timing: &Timing) -> String {
    match timing {
        Timing::Immediate { priority, weight } => {
            format!("immediate priority {priority} weight {weight}")
        }
        Timing::Exponential { rate } => format!("exponential rate {rate}"),
        Timing::Deterministic { delay } => format!("deterministic {delay}"),
        Timing::Uniform { low, high } => format!("uniform {low} {high}"),
        Timing::Erlang { stages, rate } => format!("erlang {stages} rate {rate}"),
        Timing::Drawn(drawn) => {
            let parameter = |(name, value)| format!(" {name} {value}");
            let parameters: String = drawn.parameters().map(parameter).collect();
            format!("{}{parameters}", drawn.family().name)
        }
        Timing::Empirical { values } => {
            let value = |v: &Observation| format!(" {}:{}", v.delay, v.weight);
            format!("empirical{}", values.iter().map(value).collect::<String>())
        }
    }
}

fn servers(t: &Transition) -> Cow<'static, str> {
    match t.servers {
        Servers::Single => "".into(),
        Servers::Multiple(n) => format!(" servers {n}").into(),
        Servers::Infinite => " servers infinite".into(),
    }
}

/// A name as a word, quoted if necessary.
fn word(name: &str) -> Cow<'_, str> {
    let is_bare = !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '#' | '\\'));
    if is_bare {
        return name.into();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted.into()
}
