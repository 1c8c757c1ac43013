//! DOT, the language of Graphviz.

use crate::net::{Arc, ArcKind, Net, Place, Timing, Transition};
use std::fmt::Write;

/// The net in DOT.
pub fn dot(net: &Net) -> String {
    let mut out = format!("digraph {} {{\n  rankdir=LR;\n", quoted(&net.name));
    for (i, place) in net.places.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  p{i} [{}];", place_attributes(place));
    }
    for (i, t) in net.transitions.iter().enumerate() {
        let _ = writeln!(out, "  t{i} [{}];", transition_attributes(t));
    }
    for (i, t) in net.transitions.iter().enumerate() {
        for arc in &t.arcs {
            let _ = writeln!(out, "  {};", edge(i, arc));
        }
    }
    out + "}\n"
}

fn place_attributes(place: &Place) -> String {
    let tokens = match (place.tokens, place.capacity) {
        (0, None) => String::new(),
        (n, None) => n.to_string(),
        (n, Some(most)) => format!("{n} of {most}"),
    };
    format!(
        "shape=circle, label={}, xlabel={}",
        quoted(&tokens),
        quoted(&place.name)
    )
}

fn transition_attributes(t: &Transition) -> String {
    let look = match t.timing {
        Timing::Immediate { .. } => "width=0.06, style=filled, fillcolor=black",
        Timing::Exponential { .. } => "width=0.2",
        Timing::Deterministic { .. } => "width=0.2, style=filled, fillcolor=black",
        _ => "width=0.2, style=filled, fillcolor=gray",
    };
    let label = format!("{}\n{}", t.name, super::words::timing(t));
    format!(
        "shape=box, height=0.5, label=\"\", {look}, xlabel={}",
        quoted(&label)
    )
}

fn edge(transition: usize, arc: &Arc) -> String {
    let (p, t) = (format!("p{}", arc.place.0), format!("t{transition}"));
    let (from, to) = if arc.kind == ArcKind::Output {
        (t, p)
    } else {
        (p, t)
    };
    let mut attributes = match arc.kind {
        ArcKind::Input | ArcKind::Output => Vec::new(),
        ArcKind::Inhibitor => vec!["arrowhead=odot".to_owned()],
        ArcKind::Read => vec!["arrowhead=none".to_owned(), "style=dashed".to_owned()],
        ArcKind::Reset => vec!["arrowhead=normalnormal".to_owned()],
    };
    if arc.multiplicity != 1 {
        attributes.push(format!("label=\"{}\"", arc.multiplicity));
    }
    match attributes.is_empty() {
        true => format!("{from} -> {to}"),
        false => format!("{from} -> {to} [{}]", attributes.join(", ")),
    }
}

/// A string of DOT.
pub(crate) fn quoted(text: &str) -> String {
    let text = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{text}\"")
}
